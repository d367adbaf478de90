#include <cmath>

#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon {

double ModOp::evaluateElement(llvm::ArrayRef<double> x) {
  return x[0] - std::floor(x[0] / x[1]) * x[1];
}

int64_t ModOp::evaluateInteger(llvm::ArrayRef<int64_t> x) {
  if (x[1] == 0 || x[1] == -1)
    return 0;
  int64_t rest = x[0] % x[1];
  return rest != 0 && (rest < 0) != (x[1] < 0) ? rest + x[1] : rest;
}

/// The remainder of a division that truncates is of lhs's sign. Division by −1 may overflow, and
/// leaves none, as that by 1.
static Value buildIntegerMod(OpBuilder& builder, Location loc, Value x, Value y) {
  auto splat = [&](int64_t value) {
    return detail::buildIntegerSplat(builder, loc, x.getType(), value);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  Value zero = splat(0), one = splat(1);
  Value isWhole = compare(arith::CmpIPredicate::ult, arith::AddIOp::create(builder, loc, y, one),
                          splat(2)); // −1 and 0
  Value divisor = arith::SelectOp::create(builder, loc, isWhole, one, y);
  Value rest = arith::RemSIOp::create(builder, loc, x, divisor);
  // Of other signs: their bits differ in the first one.
  Value signs = arith::XOrIOp::create(builder, loc, rest, divisor);
  Value next = arith::AddIOp::create(builder, loc, rest, divisor);
  Value ofSign = arith::SelectOp::create(
      builder, loc, compare(arith::CmpIPredicate::slt, signs, zero), next, rest);
  return arith::SelectOp::create(builder, loc, compare(arith::CmpIPredicate::eq, rest, zero), zero,
                                 ofSign);
}

/// The quotient's rounding may reach the next integer, but never pass one: the remainder, which a
/// fused multiply-add gives in one rounding, then has the other sign and is short of one rhs. Exact
/// to that rounding while |lhs / rhs| is below 2²⁴.
Value ModOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Value x = operands[0], y = operands[1];
  if (getType().getElementType().isInteger())
    return buildIntegerMod(builder, loc, x, y);
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
