#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double SinOp::evaluateElement(llvm::ArrayRef<double> x) { return std::sin(x[0]); }

Value SinOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return math::SinOp::create(builder, loc, operands[0]);
}

} // namespace tenon
