#ifndef TENON_IR_ENCODING_INTERNAL_PLANES_H
#define TENON_IR_ENCODING_INTERNAL_PLANES_H

#include <bit>
#include <cmath>
#include <cstddef>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Float4.h"
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

/// The number of group `group`.
inline double numberOf(const BlockFormat& format, const BlockFormat::Number& number,
                       const uint8_t* block, size_t group = 0) {
  const uint8_t* bytes = block + number.offset + group * format.groupStride;
  switch (number.type) {
  case BlockFormat::NumberType::F16:
    return f16ToF32(halfWordAt(bytes));
  case BlockFormat::NumberType::Bf16:
    return bf16ToF32(halfWordAt(bytes));
  case BlockFormat::NumberType::E8M0:
    return std::ldexp(1.0, *bytes - 127);
  case BlockFormat::NumberType::UE4M3:
    return *bytes == 0x7F ? 0 : e4m3ToF32(*bytes & 0x7F);
  case BlockFormat::NumberType::F32:
    break;
  }
  uint32_t bits = halfWordAt(bytes) | static_cast<uint32_t>(halfWordAt(bytes + 2)) << 16;
  return std::bit_cast<float>(bits);
}

/// What the scale of a group multiplies for a quant.
inline double factorOf(const BlockFormat& format, int quant, int zero) {
  switch (format.kind) {
  case BlockFormat::QuantKind::E4M3:
    return e4m3ToF32(static_cast<uint8_t>(quant));
  case BlockFormat::QuantKind::E2M1:
    return e2m1ToF32(static_cast<uint8_t>(quant));
  case BlockFormat::QuantKind::Integer:
    break;
  }
  return format.levels.empty() ? quant - zero : format.levels[quant];
}

/// Decodes a block as `format`, one of planes, says.
template <typename Block, const BlockFormat& format>
void decodePlanesOfBlock(const Block& block, double* values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&block);
  double ofAll = format.blockScale ? numberOf(format, *format.blockScale, bytes) : 1;
  double minimum = format.hasMinimum() ? numberOf(format, format.minimum, bytes) : 0;
  constexpr size_t groupSize = format.groupSize == 0 ? Block::size : format.groupSize;
  for (size_t group = 0; group < Block::size / groupSize; ++group) {
    double scale = ofAll * numberOf(format, format.scale, bytes, group);
    int zero = format.zero;
    if (format.zeroOffset)
      zero = halfWordAt(bytes + *format.zeroOffset + group * format.groupStride);
    for (size_t i = group * groupSize; i < (group + 1) * groupSize; ++i) {
      int quant = 0;
      for (const BlockFormat::Plane& plane : format.planes)
        if (plane.bits != 0)
          quant |= bitsOfQuant(plane, bytes, i);
      double factor = factorOf(format, quant, zero);
      values[i] = format.hasMinimum() ? scale * factor + minimum : scale * factor;
    }
  }
}

/// `Encoding::decode` of a format of planes.
template <typename Block, const BlockFormat& format>
void decodePlanes(std::span<const std::byte> encoded, std::span<double> values) {
  decodeBlocks<Block, decodePlanesOfBlock<Block, format>>(encoded, values);
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_PLANES_H
