#include "codegen/cpu/math/FloatMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::codegen::cpu {

namespace {

/// x = k · π/2 + r.
struct Reduced {
  Value quadrant; ///< k mod 4, i32
  Value r;        ///< |r| ≤ π/4 and a little
};

/// Cody and Waite's reduction in f64, with π/2 in three parts of 53 bits: exact to f32 for |x| up
/// to 2^45; beyond that r is only kept in range.
Reduced reduce(FloatMath& m, Value x) {
  Value wide = arith::ExtFOp::create(m.b, m.with(m.b.getF64Type()), x);
  Value k = math::RoundEvenOp::create(m.b, m.mul(wide, m.f64(0x1.45f306dc9c883p-1)));
  Value r = m.fma(k, m.f64(-0x1.921fb54442d18p0), wide);
  r = m.fma(k, m.f64(-0x1.1a62633145c07p-54), r);
  r = m.fma(k, m.f64(0x1.f1976b7ed8fbcp-110), r);
  r = m.atMost(m.atLeast(r, m.f64(-0.8)), m.f64(0.8));
  // k − 4 · ⌊k / 4⌋ is 0 to 3 for every finite k; infinity and NaN become NaN above, and 0 here.
  Value rest = m.fma(m.floor(m.mul(k, m.f64(0.25))), m.f64(-4.0), k);
  rest = m.select(m.isLess(rest, m.f64(3.5)), m.atLeast(rest, m.f64(0.0)), m.f64(0.0));
  Value quadrant = arith::FPToSIOp::create(m.b, m.with(m.b.getI32Type()), rest);
  return {quadrant, arith::TruncFOp::create(m.b, m.with(m.b.getF32Type()), r)};
}

/// sin(k · π/2 + r) within 1.5 ULP: ± sin r for even k, ± cos r for odd. Minimax polynomials
/// (Remez): r + r³ · P(r²), error 2^-37; 1 − r²/2 + r⁴ · Q(r²), error 2^-33.
Value sineOf(FloatMath& m, Value quadrant, Value r) {
  Value square = m.mul(r, r);
  Value p =
      m.polynomial(square, {-0x1.555556p-3f, 0x1.111108p-7f, -0x1.a00f32p-13f, 0x1.6cbecep-19f});
  Value sine = m.fma(m.mul(square, p), r, r);
  Value q = m.polynomial(square, {0x1.55554ap-5f, -0x1.6c0c22p-10f, 0x1.99e33ap-16f});
  Value cosine = m.add(m.fma(square, m.f32(-0.5f), m.mul(m.mul(square, square), q)), m.f32(1.0f));
  Value isEven = m.iequal(m.iand(quadrant, m.i32(1)), m.i32(0));
  Value isPositive = m.iequal(m.iand(quadrant, m.i32(2)), m.i32(0));
  Value chosen = m.select(isEven, sine, cosine);
  return m.select(isPositive, chosen, m.negate(chosen));
}

} // namespace

Value buildSin(FloatMath& m, Value x) {
  Reduced reduced = reduce(m, x);
  return sineOf(m, reduced.quadrant, reduced.r);
}

Value buildCos(FloatMath& m, Value x) {
  Reduced reduced = reduce(m, x);
  return sineOf(m, m.iadd(reduced.quadrant, m.i32(1)), reduced.r);
}

} // namespace tenon::codegen::cpu
