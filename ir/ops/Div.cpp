#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

double DivOp::evaluateElement(llvm::ArrayRef<double> x) { return x[0] / x[1]; }

Value DivOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return arith::DivFOp::create(builder, loc, operands[0], operands[1]);
}

} // namespace tenon
