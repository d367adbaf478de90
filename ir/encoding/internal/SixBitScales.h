#ifndef TENON_IR_ENCODING_INTERNAL_SIXBITSCALES_H
#define TENON_IR_ENCODING_INTERNAL_SIXBITSCALES_H

#include <cstddef>
#include <cstdint>

namespace tenon::encodings {

/// Eight scales and eight minimums of 6 bits in 12 bytes, as Q4_K and Q5_K store them:
///
/// | byte   | bits 0-3              | bits 4-5              | bits 6-7                    |
/// |--------|-----------------------|-----------------------|-----------------------------|
/// | 0 … 3  | scale 0 … 3, bits 0-3 | scale 0 … 3, bits 4-5 | scale 4 … 7, bits 4-5       |
/// | 4 … 7  | min 0 … 3, bits 0-3   | min 0 … 3, bits 4-5   | min 4 … 7, bits 4-5         |
/// | 8 … 11 | scale 4 … 7, bits 0-3 | min 4 … 7, bits 0-1   | min 4 … 7, bits 2-3         |
struct SixBitScales {
  uint8_t bytes[12];

  int scale(size_t i) const {
    return i < 4 ? bytes[i] & 63 : (bytes[i + 4] & 15) | (bytes[i - 4] >> 6) << 4;
  }
  int minimum(size_t i) const {
    return i < 4 ? bytes[i + 4] & 63 : bytes[i + 4] >> 4 | (bytes[i] >> 6) << 4;
  }
  /// Stores eight scales and eight minimums, each below 64.
  void pack(const uint8_t* scales, const uint8_t* minimums) {
    for (size_t i = 0; i < 4; ++i) {
      bytes[i] = static_cast<uint8_t>(scales[i] | (scales[i + 4] >> 4) << 6);
      bytes[i + 4] = static_cast<uint8_t>(minimums[i] | (minimums[i + 4] >> 4) << 6);
      bytes[i + 8] = static_cast<uint8_t>((scales[i + 4] & 15) | (minimums[i + 4] & 15) << 4);
    }
  }
};

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_SIXBITSCALES_H
