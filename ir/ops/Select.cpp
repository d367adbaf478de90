#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

double SelectOp::evaluateElement(llvm::ArrayRef<double> x) { return x[0] != 0 ? x[1] : x[2]; }

Value SelectOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value zero = detail::buildSplat(builder, loc, operands[0].getType(), 0);
  Value holds = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, operands[0], zero);
  return arith::SelectOp::create(builder, loc, holds, operands[1], operands[2]);
}

} // namespace tenon
