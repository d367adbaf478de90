#ifndef TENON_IR_ENCODING_INTERNAL_ONESCALE_H
#define TENON_IR_ENCODING_INTERNAL_ONESCALE_H

#include <bit>
#include <cstddef>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Float8.h"

namespace tenon::encodings {

/// The number of `Plane::bits` bits of quant i.
inline int bitsOfQuant(const BlockFormat::Plane& plane, const uint8_t* block, size_t i) {
  size_t perByte = 8 / plane.bits;
  size_t byte = i / (plane.stride * perByte) * plane.stride + i % plane.stride;
  int stored = block[plane.offset + byte] >> plane.bits * (i / plane.stride % perByte);
  return (stored & ((1 << plane.bits) - 1)) << plane.shift;
}

/// The 16-bit integer stored at `bytes`, little-endian.
inline uint16_t halfWordAt(const uint8_t* bytes) {
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

inline double numberOf(const BlockFormat::Number& number, const uint8_t* block) {
  const uint8_t* bytes = block + number.offset;
  switch (number.type) {
  case BlockFormat::NumberType::F16:
    return f16ToF32(halfWordAt(bytes));
  case BlockFormat::NumberType::Bf16:
    return bf16ToF32(halfWordAt(bytes));
  case BlockFormat::NumberType::F32:
    break;
  }
  uint32_t bits = halfWordAt(bytes) | static_cast<uint32_t>(halfWordAt(bytes + 2)) << 16;
  return std::bit_cast<float>(bits);
}

/// What the scale of a block multiplies for a quant.
inline double factorOf(const BlockFormat& format, int quant, int zero) {
  if (format.areE4M3)
    return e4m3ToF32(static_cast<uint8_t>(quant));
  return format.levels.empty() ? quant - zero : format.levels[quant];
}

/// Decodes a block as `format`, one of one scale, says.
template <typename Block, const BlockFormat& format>
void decodeOneScaleBlock(const Block& block, double* values) {
  static_assert(sizeof(Block) % 2 == 0);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&block);
  double scale = numberOf(format.scale, bytes);
  double minimum = format.hasMinimum() ? numberOf(format.minimum, bytes) : 0;
  int zero = format.zeroOffset ? halfWordAt(bytes + *format.zeroOffset) : format.zero;
  for (size_t i = 0; i < Block::size; ++i) {
    int quant = 0;
    for (const BlockFormat::Plane& plane : format.planes)
      if (plane.bits != 0)
        quant |= bitsOfQuant(plane, bytes, i);
    double factor = factorOf(format, quant, zero);
    values[i] = format.hasMinimum() ? scale * factor + minimum : scale * factor;
  }
}

/// `Encoding::decode` of a format of one scale.
template <typename Block, const BlockFormat& format>
void decodeOneScale(std::span<const std::byte> encoded, std::span<double> values) {
  decodeBlocks<Block, decodeOneScaleBlock<Block, format>>(encoded, values);
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_ONESCALE_H
