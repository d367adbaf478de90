#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double PowOp::evaluateElement(llvm::ArrayRef<double> x) { return std::pow(x[0], x[1]); }

Value PowOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::PowFOp::create(builder, loc, operands[0], operands[1]);
}

} // namespace tenon
