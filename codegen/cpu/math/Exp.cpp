#include "codegen/cpu/math/FloatMath.h"

using namespace mlir;

namespace tenon::codegen::cpu {

/// The integer nearest to a float.
struct Nearest {
  Value whole, n; ///< as f32, and as i32
};

/// Of `x · factor`. Adding 1.5 · 2^23 leaves the nearest integer in the low bits of the sum.
static Nearest nearest(FloatMath& m, Value x, float factor) {
  constexpr float shifter = 0x1.8p23f;
  Value shifted = m.fma(x, m.f32(factor), m.f32(shifter));
  return {m.sub(shifted, m.f32(shifter)), m.isub(m.bits(shifted), m.bits(m.f32(shifter)))};
}

/// 2ⁿ · eʳ, |r| ≤ ln 2 / 2: eʳ = 1 + r + r² · P(r), P minimax of degree 4 (Remez, relative error
/// 2^-28); then two factors 2^⌊n/2⌋ · 2^(n − ⌊n/2⌋), each a normal number.
static Value buildPower(FloatMath& m, Value n, Value r) {
  Value p =
      m.polynomial(r, {0x1p-1f, 0x1.55548ep-3f, 0x1.55545ep-5f, 0x1.123b92p-7f, 0x1.6db480p-10f});
  Value power = m.add(m.fma(p, m.mul(r, r), r), m.f32(1.0f));
  auto exponent = [&](Value e) { return m.fromBits(m.shiftLeft(m.iadd(e, m.i32(127)), 23)); };
  Value half = m.shiftRight(n, 1);
  return m.mul(m.mul(power, exponent(half)), exponent(m.isub(n, half)));
}

/// eˣ, within 1.1 ULP, with denormal results, overflow to infinity and NaN: x = n · ln 2 + r.
Value buildExp(FloatMath& m, Value x) {
  // e^−104 rounds to zero and e^89 to infinity.
  Value clamped = m.atMost(m.atLeast(x, m.f32(-104.0f)), m.f32(89.0f));
  Nearest power = nearest(m, clamped, 0x1.715476p0f);
  Value r = m.fma(power.whole, m.f32(-0x1.62e430p-1f), clamped);
  r = m.fma(power.whole, m.f32(0x1.05c610p-29f), r);
  return buildPower(m, power.n, r);
}

/// 2ˣ, likewise: x = n + r / ln 2.
Value buildExp2(FloatMath& m, Value x) {
  // 2^−151 rounds to zero and 2^128 to infinity.
  Value clamped = m.atMost(m.atLeast(x, m.f32(-151.0f)), m.f32(128.0f));
  Nearest power = nearest(m, clamped, 1.0f);
  Value r = m.mul(m.sub(clamped, power.whole), m.f32(0x1.62e430p-1f));
  return buildPower(m, power.n, r);
}

} // namespace tenon::codegen::cpu
