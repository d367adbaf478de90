#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

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

Value CompareOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value holds =
      arith::CmpFOp::create(builder, loc, predicateOf(getPredicate()), operands[0], operands[1]);
  return arith::UIToFPOp::create(builder, loc, operands[0].getType(), holds);
}

} // namespace tenon
