#ifndef TENON_IR_ENCODING_INTERNAL_GROUPINTEGERS_H
#define TENON_IR_ENCODING_INTERNAL_GROUPINTEGERS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/RangeQuants.h"

/// What families of integers in groups share.
namespace tenon::encodings {

/// What stands for zero in a group.
enum class ZeroKind {
  Middle,  ///< the quant 2^(bits - 1)
  Stored,  ///< a quant of the group's own, which may be 2^bits
  Minimum, ///< a number that is added to all values
};

constexpr std::string_view suffixOf(ZeroKind zero) {
  switch (zero) {
  case ZeroKind::Stored:
    return "_zero";
  case ZeroKind::Minimum:
    return "_min";
  case ZeroKind::Middle:
    break;
  }
  return "";
}
constexpr std::string_view suffixOf(BlockFormat::NumberType type) {
  return type == BlockFormat::NumberType::F16 ? "_f16" : "_bf16";
}

/// Little-endian.
inline void storeHalf(uint8_t* bytes, uint16_t bits) {
  bytes[0] = static_cast<uint8_t>(bits);
  bytes[1] = static_cast<uint8_t>(bits >> 8);
}

template <BlockFormat::NumberType type> uint16_t roundTo(float value) {
  return type == BlockFormat::NumberType::F16 ? f32ToF16(value) : f32ToBf16(value);
}

struct ScaleAndZero {
  float scale;
  uint16_t zero;
};

/// Quants 0 … maxQuant that stand for scale · (quant − zero): those above the minimum, or above 0,
/// moved to the nearest grid that has 0 on it.
template <int maxQuant, size_t size>
ScaleAndZero quantizeAboutStoredZero(const float* values, uint8_t* quants) {
  float minimum = 0, maximum = 0;
  for (size_t i = 0; i < size; ++i) {
    minimum = std::min(minimum, values[i]);
    maximum = std::max(maximum, values[i]);
  }
  float scale = (maximum - minimum) / maxQuant;
  float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  for (size_t i = 0; i < size; ++i)
    quants[i] = truncateToRange((values[i] - minimum) * inverse + 0.5f, maxQuant);
  return {scale, truncateToRange(-minimum * inverse + 0.5f, maxQuant)};
}

/// Of a scale, see `BlockFormat::Number::randomFactor`: 2 / √(4^bits − 1).
constexpr float randomScaleOf(size_t bits) {
  switch (bits) {
  case 2:
    return 0.5164f;
  case 3:
    return 0.2520f;
  case 4:
    return 0.1252f;
  default:
    return 0.007813f;
  }
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_GROUPINTEGERS_H
