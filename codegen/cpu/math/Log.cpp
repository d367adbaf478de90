#include <limits>

#include "codegen/cpu/math/FloatMath.h"

using namespace mlir;

namespace tenon::codegen::cpu {

/// ln x, within 1.5 ULP; −∞ for 0, NaN below, +∞ for +∞.
///
/// x = 2^e · (1 + f), √½ ≤ 1 + f < √2; ln(1 + f) = f − f²/2 + f³ · P(f), P minimax of degree 8
/// (Remez, relative error 2^-30); e · ln 2 is added in two parts.
Value buildLog(FloatMath& m, Value x) {
  Value isTiny = m.isLess(x, m.f32(std::numeric_limits<float>::min()));
  Value normal = m.select(isTiny, m.mul(x, m.f32(0x1p23f)), x);
  // Subtracting the bits of √½ makes the exponent field count from √½.
  constexpr int32_t rootHalf = 0x3f3504f3;
  Value offset = m.isub(m.bits(normal), m.i32(rootHalf));
  Value exponent = m.shiftRight(offset, 23);
  Value mantissa = m.fromBits(m.isub(m.bits(normal), m.shiftLeft(exponent, 23)));
  Value e = m.toFloat(m.select(isTiny, m.isub(exponent, m.i32(23)), exponent));
  Value f = m.sub(mantissa, m.f32(1.0f));
  Value p = m.polynomial(f, {0x1.555546p-2f, -0x1.ffffeep-3f, 0x1.99a546p-3f, -0x1.5562e4p-3f,
                             0x1.2332c0p-3f, -0x1.fb432ap-4f, 0x1.e650a0p-4f, -0x1.e2e9b2p-4f,
                             0x1.1b42c2p-4f});
  Value square = m.mul(f, f);
  Value tail = m.fma(m.mul(f, square), p, m.mul(e, m.f32(-0x1.05c610p-29f)));
  tail = m.fma(square, m.f32(-0.5f), tail);
  // ln 2 = 0x1.62e430p-1 − 0x1.05c610p-29
  Value result = m.fma(e, m.f32(0x1.62e430p-1f), m.add(f, tail));
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Value isFinite = m.isLess(x, m.f32(infinity));
  result = m.select(isFinite, result, x);
  result = m.select(m.isLess(m.f32(0.0f), x), result,
                    m.select(m.isLess(x, m.f32(0.0f)),
                             m.f32(std::numeric_limits<float>::quiet_NaN()), m.f32(-infinity)));
  return m.select(m.isNan(x), x, result);
}

} // namespace tenon::codegen::cpu
