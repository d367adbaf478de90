#ifndef TENON_IR_ENCODING_FLOAT16_H
#define TENON_IR_ENCODING_FLOAT16_H

#include <bit>
#include <cstdint>

/// Conversions between the two 16-bit floating-point formats, as their bits, and the native types.
/// All round to nearest, ties to even, keep infinities, signed zeros and subnormals, and turn every
/// NaN into a quiet one of the same sign. Without branches on the value: loops over them vectorise.
namespace tenon {

/// The f32 that is nearest to `value` in the direction of zero, with its last bit set where it is
/// not `value` itself. Rounding that once more, to nearest and at least two bits shorter, gives
/// what rounding `value` directly would (round to odd: Boldo and Melquiond, "Emulation of FMA and
/// correctly rounded sums", 2008).
inline float roundToOdd(double value) {
  float nearest = static_cast<float>(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  double back = nearest;
  double magnitude = value < 0 ? -value : value;
  double backMagnitude = back < 0 ? -back : back;
  bits -= backMagnitude > magnitude;
  bits |= back != value && value == value;
  return std::bit_cast<float>(bits);
}

/// IEEE binary16 to f32, exactly.
inline float f16ToF32(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t magnitude = bits & 0x7FFF;
  // A binary16 exponent read as a binary32 one is 112 too small; the product repairs it and
  // normalises subnormals.
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  uint32_t finite = std::bit_cast<uint32_t>(scaled);
  uint32_t special = magnitude << 13 | 0x7F800000u | (magnitude > 0x7C00 ? 0x400000u : 0u);
  return std::bit_cast<float>(sign | (magnitude < 0x7C00 ? finite : special));
}

/// f32 to IEEE binary16; magnitudes from 65520 become infinite.
///
/// Adding a power of two whose last mantissa bit weighs as much as the result's makes the hardware
/// round there (Maratyszcza's FP16 library describes the method).
inline uint16_t f32ToF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  // Normal results: add half a unit less one, plus the unit's own last bit, and cut.
  uint32_t normal = (magnitude - 0x38000000u + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  // Below 2^-14: a unit is 2^-24, as in [0.5, 1) in f32.
  float shifted = std::bit_cast<float>(magnitude < 0x38800000u ? magnitude : 0u) + 0.5f;
  uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3F000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477FF000u ? 0x7C00u : result;
  result = magnitude > 0x7F800000u ? 0x7E00u : result;
  return static_cast<uint16_t>(sign | result);
}

/// f64 to IEEE binary16, rounded once.
inline uint16_t f64ToF16(double value) { return f32ToF16(roundToOdd(value)); }

/// bfloat16 to f32, exactly.
inline float bf16ToF32(uint16_t bits) {
  uint32_t quiet = (bits & 0x7FFF) > 0x7F80 ? 0x400000u : 0u;
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16 | quiet);
}

/// f32 to bfloat16.
inline uint16_t f32ToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  uint32_t quiet = bits >> 16 | 0x40;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000u ? quiet : rounded);
}

/// f64 to bfloat16, rounded once.
inline uint16_t f64ToBf16(double value) { return f32ToBf16(roundToOdd(value)); }

} // namespace tenon

#endif // TENON_IR_ENCODING_FLOAT16_H
