#ifndef TENON_IR_ENCODING_INTERNAL_BITPLANE_H
#define TENON_IR_ENCODING_INTERNAL_BITPLANE_H

#include <cstddef>
#include <cstdint>

#include "ir/encoding/BlockFormat.h"

namespace tenon::encodings {

/// `count` numbers of `bits` bits each, in the one arrangement that all block formats share: runs
/// of `stride` numbers lie beside each other in the bits of the same `stride` bytes.
///
/// With n = 8 / bits numbers in a byte, number i lies in byte i / (stride · n) · stride + i %
/// stride at bit bits · (i / stride % n). For bits = 2, stride = 32:
///
/// | byte     | bits 0-1 | bits 2-3 | bits 4-5 | bits 6-7 |
/// |----------|----------|----------|----------|----------|
/// | 0 … 31   | 0 … 31   | 32 … 63  | 64 … 95  | 96 … 127 |
/// | 32 … 63  | 128 …    | 160 …    | 192 …    | 224 …    |
template <size_t bits, size_t stride, size_t count> struct BitPlane {
  static constexpr size_t perByte = 8 / bits;
  static constexpr size_t mask = (1 << bits) - 1;
  static_assert(count % (stride * perByte) == 0);

  uint8_t bytes[count / perByte];

  /// The plane as data, at `offset` of a block, with the bits of its numbers from `shift` on.
  static constexpr BlockFormat::Plane at(size_t offset, uint32_t shift = 0) {
    return {static_cast<uint32_t>(offset), bits, stride, shift};
  }

  /// Number i.
  int get(size_t i) const {
    size_t byte = i / (stride * perByte) * stride + i % stride;
    return static_cast<int>(bytes[byte] >> bits * (i / stride % perByte) & mask);
  }

  /// Stores bits `firstBit` … `firstBit` + bits − 1 of each of `count` numbers.
  void pack(const uint8_t* numbers, size_t firstBit = 0) {
    for (size_t byte = 0; byte < count / perByte; ++byte) {
      const uint8_t* first = numbers + byte / stride * stride * perByte + byte % stride;
      size_t packed = 0;
      for (size_t k = 0; k < perByte; ++k)
        packed |= (first[k * stride] >> firstBit & mask) << bits * k;
      bytes[byte] = static_cast<uint8_t>(packed);
    }
  }
};

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_BITPLANE_H
