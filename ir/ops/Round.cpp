#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double RoundOp::evaluateElement(llvm::ArrayRef<double> x) {
  double below = std::floor(x[0]), fraction = x[0] - below;
  bool goesDown = fraction < 0.5 || (fraction == 0.5 && std::fmod(below, 2) == 0);
  return std::isfinite(x[0]) ? std::copysign(goesDown ? below : below + 1, x[0]) : x[0];
}

Value RoundOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::RoundEvenOp::create(builder, loc, operands[0]);
}

} // namespace tenon
