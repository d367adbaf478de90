#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double ModOp::evaluateElement(llvm::ArrayRef<double> x) {
  return x[0] - std::floor(x[0] / x[1]) * x[1];
}

/// The quotient's rounding may reach the next integer, but never pass one: the remainder, which a
/// fused multiply-add gives in one rounding, then has the other sign and is short of one rhs. Exact
/// to that rounding while |lhs / rhs| is below 2²⁴.
Value ModOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value x = operands[0], y = operands[1];
  Value zero = detail::buildSplat(builder, loc, x.getType(), 0);
  auto compare = [&](arith::CmpFPredicate predicate, Value value) {
    return arith::CmpFOp::create(builder, loc, predicate, value, zero);
  };
  Value quotient = arith::DivFOp::create(builder, loc, x, y);
  Value whole = math::FloorOp::create(builder, loc, quotient);
  Value rest = math::FmaOp::create(builder, loc, arith::NegFOp::create(builder, loc, whole), y, x);
  Value next = arith::AddFOp::create(builder, loc, rest, y);
  Value ofPositive =
      arith::SelectOp::create(builder, loc, compare(arith::CmpFPredicate::OLT, rest), next, rest);
  Value ofNegative =
      arith::SelectOp::create(builder, loc, compare(arith::CmpFPredicate::OGT, rest), next, rest);
  return arith::SelectOp::create(builder, loc, compare(arith::CmpFPredicate::OGT, y), ofPositive,
                                 ofNegative);
}

} // namespace tenon
