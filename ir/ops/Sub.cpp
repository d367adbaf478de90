#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

double SubOp::evaluateElement(llvm::ArrayRef<double> x) { return x[0] - x[1]; }

int64_t SubOp::evaluateInteger(llvm::ArrayRef<int64_t> x) {
  return static_cast<int64_t>(static_cast<uint64_t>(x[0]) - static_cast<uint64_t>(x[1]));
}

Value SubOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  if (getType().getElementType().isInteger())
    return arith::SubIOp::create(builder, loc, operands[0], operands[1]);
  return arith::SubFOp::create(builder, loc, operands[0], operands[1]);
}

} // namespace tenon
