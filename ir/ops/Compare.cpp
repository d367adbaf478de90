#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

LogicalResult CompareOp::verify() { return detail::verifyOneKind(*this, getOperandTypes()); }

double CompareOp::evaluateElement(llvm::ArrayRef<double> x) {
  switch (getPredicate()) {
  case Predicate::Eq:
    return x[0] == x[1];
  case Predicate::Ne:
    return x[0] != x[1];
  case Predicate::Lt:
    return x[0] < x[1];
  case Predicate::Le:
    return x[0] <= x[1];
  case Predicate::Gt:
    return x[0] > x[1];
  case Predicate::Ge:
    return x[0] >= x[1];
  }
  llvm_unreachable("every predicate is listed");
}

static arith::CmpFPredicate predicateOf(Predicate predicate) {
  switch (predicate) {
  case Predicate::Eq:
    return arith::CmpFPredicate::OEQ;
  case Predicate::Ne:
    return arith::CmpFPredicate::UNE;
  case Predicate::Lt:
    return arith::CmpFPredicate::OLT;
  case Predicate::Le:
    return arith::CmpFPredicate::OLE;
  case Predicate::Gt:
    return arith::CmpFPredicate::OGT;
  case Predicate::Ge:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("every predicate is listed");
}

static arith::CmpIPredicate integerPredicateOf(Predicate predicate) {
  switch (predicate) {
  case Predicate::Eq:
    return arith::CmpIPredicate::eq;
  case Predicate::Ne:
    return arith::CmpIPredicate::ne;
  case Predicate::Lt:
    return arith::CmpIPredicate::slt;
  case Predicate::Le:
    return arith::CmpIPredicate::sle;
  case Predicate::Gt:
    return arith::CmpIPredicate::sgt;
  case Predicate::Ge:
    return arith::CmpIPredicate::sge;
  }
  llvm_unreachable("every predicate is listed");
}

Value CompareOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value holds;
  if (getLhs().getType().getElementType().isInteger())
    holds = arith::CmpIOp::create(builder, loc, integerPredicateOf(getPredicate()), operands[0],
                                  operands[1]);
  else
    holds =
        arith::CmpFOp::create(builder, loc, predicateOf(getPredicate()), operands[0], operands[1]);
  Type computed = detail::computedType(getType().getElementType());
  Type type = detail::withElement(operands[0].getType(), computed);
  if (computed.isInteger())
    return arith::ExtUIOp::create(builder, loc, type, holds);
  return arith::UIToFPOp::create(builder, loc, type, holds);
}

} // namespace tenon
