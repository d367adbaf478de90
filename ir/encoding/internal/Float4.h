#ifndef TENON_IR_ENCODING_INTERNAL_FLOAT4_H
#define TENON_IR_ENCODING_INTERNAL_FLOAT4_H

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "ir/encoding/Float16.h"

/// E2M1 numbers, of 4 bits: a sign, two bits of exponent with a bias of 1, one of mantissa: 0, 0.5,
/// 1, 1.5, 2, 3, 4, 6 (Open Compute Project, "Microscaling formats", 2023).
namespace tenon::encodings {

inline constexpr float e2m1Magnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

/// Exactly; 8, which is −0, as 0.
inline float e2m1ToF32(uint8_t bits) {
  float magnitude = e2m1Magnitudes[bits & 7];
  return bits & 8 && magnitude != 0 ? -magnitude : magnitude;
}

/// The number whose product with `scale` is nearest to each value; half-way the one that comes
/// first in the order 0, 0.5, … 6, −0.5, … −6, as in ggml's `best_index_mxfp4`; 0 for NaN.
template <size_t size> void findNearestE2M1(const float* values, float scale, uint8_t* quants) {
  for (size_t i = 0; i < size; ++i) {
    uint8_t best = 0;
    float least = std::fabs(values[i]);
    for (uint8_t bits = 1; bits < 16; ++bits) {
      float error = std::fabs(e2m1ToF32(bits) * scale - values[i]);
      best = error < least ? bits : best;
      least = error < least ? error : least;
    }
    quants[i] = best;
  }
}

/// The lower seven bits of an E4M3 number, rounded from above 0 to nearest, half-way up; 0x7E, 448,
/// from 256 on: ggml's `ggml_fp32_to_ue4m3`. 0 for NaN and below.
inline uint8_t f32ToUE4M3(float value) {
  constexpr float leastNormal = 0x1p-6f, top = 256;
  if (!(value > 0))
    return 0;
  if (value >= top)
    return 0x7E;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value < leastNormal) {
    int mantissa = static_cast<int>(std::floor(value * 512.0f + 0.5f));
    return static_cast<uint8_t>(mantissa < 7 ? mantissa : 7);
  }
  // The exponent's bias is 120 less; a mantissa that overflows goes on into the exponent.
  uint32_t rounded = (bits >> 20) + (bits >> 19 & 1) - (120 << 3);
  return static_cast<uint8_t>(rounded < 0x78 ? rounded : 0x7E);
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_FLOAT4_H
