#ifndef TENON_IR_ENCODING_INTERNAL_FLOAT8_H
#define TENON_IR_ENCODING_INTERNAL_FLOAT8_H

#include <bit>
#include <cstdint>

/// E4M3 numbers: a sign, four bits of exponent with a bias of 7, three of mantissa (Micikevicius et
/// al., "FP8 formats for deep learning", 2022). The code that is a NaN there, 0x7F, is 480 here, as
/// if it were any other; whoever reads a file refuses it.
namespace tenon::encodings {

/// Exactly. The seven bits in the place of a binary32's upper ones are a number 2^120 times too
/// small, subnormals too.
inline float e4m3ToF32(uint8_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x80) << 24;
  float magnitude = std::bit_cast<float>(static_cast<uint32_t>(bits & 0x7F) << 20) * 0x1p120f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

/// Rounds to nearest, ties to even; magnitudes above 448 and NaN give 448, the largest of the
/// format.
inline uint8_t f32ToE4M3(float value) {
  uint32_t sign = std::bit_cast<uint32_t>(value) >> 24 & 0x80;
  float magnitude = value < 0 ? -value : value;
  magnitude = magnitude < 448.0f ? magnitude : 448.0f;
  uint32_t scaled = std::bit_cast<uint32_t>(magnitude * 0x1p-120f);
  uint32_t rounded = (scaled + 0x7FFFF + (scaled >> 20 & 1)) >> 20;
  return static_cast<uint8_t>(sign | (rounded & 0x7F));
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_FLOAT8_H
