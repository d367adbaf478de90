#ifndef TENON_IR_ENCODING_INTERNAL_EIGHTBITQUANTS_H
#define TENON_IR_ENCODING_INTERNAL_EIGHTBITQUANTS_H

#include <cmath>

namespace tenon::encodings {

/// `roundf` for |value| < 2^22, as an expression that vectorises without SSE4.1: half a unit, less
/// one last bit, pushes every fraction of at least one half over the next integer.
inline int roundHalfAwayFromZero(float value) {
  return static_cast<int>(value + std::copysign(0x1.fffffep-2f, value));
}

/// Quant of a scaled value: rounded, at least −127 and at most 127; NaN gives −127.
inline int roundToEightBits(float scaled) {
  // Written so that NaN takes the lower bound.
  scaled = scaled > -127.0f ? scaled : -127.0f;
  scaled = scaled < 127.0f ? scaled : 127.0f;
  return roundHalfAwayFromZero(scaled);
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_EIGHTBITQUANTS_H
