#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

double SignOp::evaluateElement(llvm::ArrayRef<double> x) {
  return x[0] > 0 ? 1 : x[0] < 0 ? -1 : x[0];
}

Value SignOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value x = operands[0];
  auto splat = [&](float value) { return detail::buildSplat(builder, loc, x.getType(), value); };
  auto compare = [&](arith::CmpFPredicate predicate) {
    return arith::CmpFOp::create(builder, loc, predicate, x, splat(0));
  };
  Value negative =
      arith::SelectOp::create(builder, loc, compare(arith::CmpFPredicate::OLT), splat(-1), x);
  return arith::SelectOp::create(builder, loc, compare(arith::CmpFPredicate::OGT), splat(1),
                                 negative);
}

} // namespace tenon
