#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon {

/// Numbers from here on are no i64.
static constexpr double integerEnd = 0x1p63;

/// The ends of a range of integers, as numbers that are compared with.
static std::pair<int64_t, int64_t> rangeOf(Type integer) {
  if (integer.isInteger(32))
    return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
}

double CastOp::evaluateElement(llvm::ArrayRef<double> x) {
  Type from = getInput().getType().getElementType(), to = getType().getElementType();
  if (llvm::isa<FloatType>(to))
    return x[0];
  if (to.isInteger(1))
    return x[0] != 0;
  if (from.isInteger())
    return static_cast<double>(detail::wrapInteger(static_cast<int64_t>(x[0]), to));
  auto [least, most] = rangeOf(to);
  if (std::isnan(x[0]))
    return 0;
  return std::clamp(std::trunc(x[0]), static_cast<double>(least), static_cast<double>(most));
}

/// `x`, f32, as i64: without its fraction, saturated, NaN as 0. What is converted is in range.
static Value buildToInteger(OpBuilder& builder, Location loc, Value x, Type integer) {
  Type wide = detail::withElement(x.getType(), builder.getI64Type());
  auto [least, most] = rangeOf(integer);
  auto compare = [&](arith::CmpFPredicate predicate, double bound) {
    Value splat = detail::buildSplat(builder, loc, x.getType(), static_cast<float>(bound));
    return arith::CmpFOp::create(builder, loc, predicate, x, splat);
  };
  auto splat = [&](int64_t value) { return detail::buildIntegerSplat(builder, loc, wide, value); };
  Value isBelow = compare(arith::CmpFPredicate::OLT, -integerEnd);
  Value isAbove = compare(arith::CmpFPredicate::OGE, integerEnd);
  Value isNumber = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x, x);
  Value zero = detail::buildSplat(builder, loc, x.getType(), 0);
  Value inRange = arith::SelectOp::create(builder, loc, isNumber, x, zero);
  inRange = arith::SelectOp::create(builder, loc, isBelow, zero, inRange);
  inRange = arith::SelectOp::create(builder, loc, isAbove, zero, inRange);
  Value converted = arith::FPToSIOp::create(builder, loc, wide, inRange);
  converted = arith::SelectOp::create(builder, loc, isBelow, splat(least), converted);
  converted = arith::SelectOp::create(builder, loc, isAbove, splat(most), converted);
  if (integer.isInteger(64))
    return converted;
  converted = arith::MaxSIOp::create(builder, loc, converted, splat(least));
  return arith::MinSIOp::create(builder, loc, converted, splat(most));
}

/// The caller widens and rounds.
Value CastOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  Type from = getInput().getType().getElementType(), to = getType().getElementType();
  Value x = operands[0];
  Type wide = detail::withElement(x.getType(), builder.getI64Type());
  if (llvm::isa<FloatType>(to)) {
    if (llvm::isa<FloatType>(from))
      return x;
    return arith::SIToFPOp::create(builder, loc,
                                   detail::withElement(x.getType(), builder.getF32Type()), x);
  }
  if (!to.isInteger(1))
    return from.isInteger() ? x : buildToInteger(builder, loc, x, to);
  Value holds;
  if (from.isInteger())
    holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, x,
                                  detail::buildIntegerSplat(builder, loc, wide, 0));
  else
    holds = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, x,
                                  detail::buildSplat(builder, loc, x.getType(), 0));
  return arith::ExtUIOp::create(builder, loc, wide, holds);
}

/// True where every value of `from` is a value of `to`.
static bool isExact(Type from, Type to) {
  return llvm::isa<FloatType>(from) && llvm::isa<FloatType>(to) && (from == to || to.isF32());
}

/// cast(x) to x's own type → x; cast(cast(x)) → cast(x) where the inner one is exact; a constant
/// of floats is rounded.
OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<CastOp>())
    if (isExact(inner.getInput().getType().getElementType(), inner.getType().getElementType())) {
      getInputMutable().assign(inner.getInput());
      return getResult();
    }
  auto resultElement = llvm::dyn_cast<FloatType>(getType().getElementType());
  auto constant = llvm::dyn_cast_or_null<DenseFPElementsAttr>(adaptor.getInput());
  if (!constant || !resultElement)
    return {};
  const llvm::fltSemantics& semantics = resultElement.getFloatSemantics();
  return constant.mapValues(resultElement, [&](const APFloat& value) {
    APFloat rounded = value;
    bool losesInfo;
    rounded.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    return rounded.bitcastToAPInt();
  });
}

} // namespace tenon
