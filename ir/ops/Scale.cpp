#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

/// The factor as the operation multiplies by it.
static float roundedFactor(ScaleOp op) {
  return static_cast<float>(op.getFactor().convertToDouble());
}

double ScaleOp::evaluateElement(llvm::ArrayRef<double> x) { return x[0] * roundedFactor(*this); }

Value ScaleOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value factor = detail::buildSplat(builder, loc, operands[0].getType(), roundedFactor(*this));
  return arith::MulFOp::create(builder, loc, operands[0], factor);
}

} // namespace tenon
