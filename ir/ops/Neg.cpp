#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

double NegOp::evaluateElement(llvm::ArrayRef<double> x) { return -x[0]; }

Value NegOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return arith::NegFOp::create(builder, loc, operands[0]);
}

} // namespace tenon
