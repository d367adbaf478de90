#ifndef TENON_IR_ENCODING_INTERNAL_NVFP4_H
#define TENON_IR_ENCODING_INTERNAL_NVFP4_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Float4.h"
#include "ir/encoding/internal/Float8.h"

/// What the encodings of NVIDIA's NVFP4 share: groups of 16 E2M1 numbers with a scale in E4M3.
namespace tenon::encodings {

/// 1 / (√3 · 2.926), see `BlockFormat::Number::randomFactor`.
inline constexpr float nvfp4RandomFactor = 0.1973f;

template <size_t size> struct Nvfp4Groups {
  static constexpr size_t groupSize = 16;

  uint8_t scales[size / groupSize];
  BitPlane<4, groupSize / 2, size> quants;

  /// The largest magnitude of each group, divided by 6, is its scale, `ofAll` times as large.
  void encode(const float* values, float ofAll) {
    uint8_t numbers[size];
    for (size_t group = 0; group < size / groupSize; ++group) {
      const float* first = values + group * groupSize;
      float largest = 0;
      for (size_t i = 0; i < groupSize; ++i)
        largest = std::max(largest, std::fabs(first[i]));
      scales[group] = f32ToUE4M3(ofAll > 0 ? largest / 6 / ofAll : 0);
      findNearestE2M1<groupSize>(first, ofAll * e4m3ToF32(scales[group]),
                                 numbers + group * groupSize);
    }
    quants.pack(numbers);
  }
};

/// Describes a `Block` that ends in such groups.
template <typename Block>
constexpr BlockFormat describeNvfp4(std::string_view name, BlockFormat::Number scale) {
  using Groups = decltype(Block::groups);
  uint32_t quantsAt = static_cast<uint32_t>(scale.offset + std::size(Groups().scales));
  return {.encoding = name,
          .ggufFileType = {},
          .scale = scale,
          .planes = {decltype(Groups::quants)::at(quantsAt)},
          .kind = BlockFormat::QuantKind::E2M1,
          .groupSize = Groups::groupSize,
          .groupStride = 1};
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_NVFP4_H
