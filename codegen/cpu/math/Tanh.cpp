#include "codegen/cpu/math/FloatMath.h"

using namespace mlir;

namespace tenon::codegen::cpu {

/// tanh x, within 2 ULP.
///
/// |x| < 0.625: x + x³ · P(x²), P minimax of degree 5 (Remez, relative error 2^-32); otherwise
/// 1 − 2 / (e^(2|x|) + 1) with the sign of x.
Value buildTanh(FloatMath& m, Value x) {
  Value square = m.mul(x, x);
  Value p = m.polynomial(square, {-0x1.555554p-2f, 0x1.11106cp-3f, -0x1.b9ef7cp-5f, 0x1.6394dap-6f,
                                  -0x1.0c2146p-7f, 0x1.197b7ap-9f});
  Value small = m.fma(m.mul(square, p), x, x);
  Value magnitude = m.abs(x);
  Value power = buildExp(m, m.add(magnitude, magnitude));
  Value rest = m.div(m.f32(2.0f), m.add(power, m.f32(1.0f)));
  Value large = m.copySign(m.sub(m.f32(1.0f), rest), x);
  return m.select(m.isLess(magnitude, m.f32(0.625f)), small, large);
}

} // namespace tenon::codegen::cpu
