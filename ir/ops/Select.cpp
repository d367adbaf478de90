#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

LogicalResult SelectOp::verify() {
  return detail::verifyOneKind(*this, {getLhs().getType(), getRhs().getType(), getType()});
}

double SelectOp::evaluateElement(llvm::ArrayRef<double> x) { return x[0] != 0 ? x[1] : x[2]; }

Value SelectOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Type type = operands[0].getType();
  Value holds;
  if (getCondition().getType().getElementType().isInteger())
    holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, operands[0],
                                  detail::buildIntegerSplat(builder, loc, type, 0));
  else
    holds = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, operands[0],
                                  detail::buildSplat(builder, loc, type, 0));
  return arith::SelectOp::create(builder, loc, holds, operands[1], operands[2]);
}

} // namespace tenon
