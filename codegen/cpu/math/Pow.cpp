#include <limits>

#include "codegen/cpu/math/FloatMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::codegen::cpu {

/// Σ coefficients[i] · xⁱ in f64, by Horner's rule.
static Value polynomial(FloatMath& m, Value x, llvm::ArrayRef<double> coefficients) {
  Value sum = m.f64(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = m.fma(sum, x, m.f64(coefficient));
  return sum;
}

/// log₂ x for x > 0 in f64, within 2^-43 of itself: x = 2^k · v, √½ ≤ v < √2; with
/// s = (v − 1) / (v + 1), ln v = 2 s · (1 + s²/3 + s⁴/5 + …). −∞ for 0 and +∞ for +∞.
static Value buildLog2(FloatMath& m, Value x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value bits = arith::BitcastOp::create(m.b, m.with(m.b.getI64Type()), x);
  // Subtracting the bits of √½ makes the exponent field count from √½.
  Value offset = m.isub(bits, m.i64(0x3fe6a09e667f3bcd));
  Value exponent = arith::ShRSIOp::create(m.b, offset, m.i64(52));
  Value mantissa = m.isub(bits, arith::ShLIOp::create(m.b, exponent, m.i64(52)));
  Value v = arith::BitcastOp::create(m.b, m.with(m.b.getF64Type()), mantissa);
  Value k = arith::SIToFPOp::create(m.b, m.with(m.b.getF64Type()), exponent);
  Value s = m.div(m.sub(v, m.f64(1)), m.add(v, m.f64(1)));
  Value series = polynomial(m, m.mul(s, s),
                            {1, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15});
  constexpr double twoOverLn2 = 0x1.71547652b82fep1;
  Value result = m.fma(m.mul(s, m.f64(twoOverLn2)), series, k);
  result = m.select(m.isLess(m.f64(0), x), result, m.f64(-infinity));
  return m.select(m.isLess(x, m.f64(infinity)), result, x);
}

/// 2^z in f64 for z of −160 to 160, within 2^-36 of itself; NaN stays: z = n + r, |r| ≤ ½, and the
/// series of e^(r · ln 2).
static Value buildWidePower(FloatMath& m, Value z) {
  // Adding 1.5 · 2^52 leaves the nearest integer in the low bits of the sum.
  constexpr double shifter = 0x1.8p52;
  Value shifted = m.add(z, m.f64(shifter));
  auto bits = [&](Value x) -> Value {
    return arith::BitcastOp::create(m.b, m.with(m.b.getI64Type()), x);
  };
  Value n = m.isub(bits(shifted), bits(m.f64(shifter)));
  Value t = m.mul(m.sub(z, m.sub(shifted, m.f64(shifter))), m.f64(0x1.62e42fefa39efp-1));
  Value power = polynomial(m, t,
                           {1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040,
                            1.0 / 40320, 1.0 / 362880});
  Value exponent = arith::ShLIOp::create(m.b, m.iadd(n, m.i64(1023)), m.i64(52));
  return m.mul(power, arith::BitcastOp::create(m.b, m.with(m.b.getF64Type()), exponent));
}

/// xʸ as C's pow, special values included, within 0.51 ULP of f32: 2^(y · log₂ |x|) in f64, with
/// the sign of x where y is an odd integer.
Value buildPow(FloatMath& m, Value x, Value y) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto isEqual = [&](Value a, Value b) -> Value {
    return arith::CmpFOp::create(m.b, arith::CmpFPredicate::OEQ, a, b);
  };
  auto both = [&](Value a, Value b) -> Value { return arith::AndIOp::create(m.b, a, b); };
  auto widen = [&](Value value) -> Value {
    return arith::ExtFOp::create(m.b, m.with(m.b.getF64Type()), value);
  };
  Value one = m.f32(1), magnitude = m.abs(x);
  Value z = m.mul(widen(y), buildLog2(m, widen(magnitude)));
  // 2^−160 rounds to zero and 2^160 to infinity.
  Value power = buildWidePower(m, m.atMost(m.atLeast(z, m.f64(-160)), m.f64(160)));
  Value result = arith::TruncFOp::create(m.b, m.with(m.b.getF32Type()), power);
  // 1 to any power, infinite ones included, for which z is NaN.
  result = m.select(both(isEqual(magnitude, one), isEqual(y, y)), one, result);
  Value half = m.mul(y, m.f32(0.5f));
  Value isInteger = isEqual(m.floor(y), y), isEven = isEqual(m.floor(half), half);
  Value isNegative = m.isLess(m.copySign(one, x), m.f32(0));
  Value flipped = m.select(isEven, result, m.negate(result));
  // A root of a negative number; of −∞ there is one.
  Value hasRoot = isEqual(magnitude, m.f32(infinity));
  hasRoot = arith::OrIOp::create(m.b, hasRoot, isEqual(magnitude, m.f32(0)));
  Value root = m.select(hasRoot, result, m.f32(std::numeric_limits<float>::quiet_NaN()));
  result = m.select(isNegative, m.select(isInteger, flipped, root), result);
  // NaN stays, but for 1 to the power of NaN and NaN to the power of 0.
  result = m.select(m.isNan(x), x, m.select(m.isNan(y), y, result));
  Value isOne = arith::OrIOp::create(m.b, isEqual(x, one), isEqual(y, m.f32(0)));
  return m.select(isOne, one, result);
}

} // namespace tenon::codegen::cpu
