#include "codegen/cpu/math/FloatMath.h"

using namespace mlir;

namespace tenon::codegen::cpu {

/// erf x, within 2 ULP.
///
/// |x| < 0.925: x + x · P(x²), P minimax of degree 6 (Remez, error 2^-31); otherwise
/// 1 − e^(−t − t · Q(t)) with t = min(|x|, 4), the sign of x, and Q minimax of degree 7 for
/// −ln(erfc t) / t − 1 (error 2^-32 of the result). erf 4 rounds to 1.
Value buildErf(FloatMath& m, Value x) {
  Value square = m.mul(x, x);
  Value p = m.polynomial(square, {0x1.06eba8p-3f, -0x1.812744p-2f, 0x1.ce2e28p-4f, -0x1.b81112p-6f,
                                  0x1.54df6ap-8f, -0x1.ab0966p-11f, 0x1.5f61bcp-14f});
  Value small = m.fma(p, x, x);
  Value t = m.atMost(m.abs(x), m.f32(4.0f));
  Value q = m.polynomial(t, {0x1.074786p-3f, 0x1.456f16p-1f, 0x1.af4086p-4f, -0x1.73e56ep-6f,
                             0x1.820bd0p-9f, -0x1.cdc434p-15f, -0x1.7566fep-15f, 0x1.4587d4p-18f});
  Value power = buildExp(m, m.negate(m.fma(q, t, t)));
  Value large = m.copySign(m.sub(m.f32(1.0f), power), x);
  return m.select(m.isLess(m.abs(x), m.f32(0.925f)), small, large);
}

} // namespace tenon::codegen::cpu
