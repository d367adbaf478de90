#ifndef TENON_IR_ENCODING_INTERNAL_SUPERBLOCK_H
#define TENON_IR_ENCODING_INTERNAL_SUPERBLOCK_H

#include <array>
#include <cstddef>
#include <cstdint>

/// What the K-quants share: blocks of 256 values in groups of 16 or 32, each group with a scale
/// (and in some formats a minimum) that is itself quantised against one of the block.
namespace tenon::encodings {

constexpr size_t superBlockSize = 256;

/// Below this largest magnitude ggml's searches take a group for zeros (`GROUP_MAX_EPS`).
constexpr float negligible = 1e-15f;

/// `value` to the nearest integer, ties to even, within [low, high], whose magnitudes are below
/// 2^22; NaN gives `low`. Adding 1.5 · 2^23 makes the hardware round at the last bit of the sum.
inline float roundToRange(float value, float low, float high) {
  value = value > low ? value : low;
  value = value < high ? value : high;
  return (value + 0x1.8p23f) - 0x1.8p23f;
}

/// One number for each group of a super-block. The searches treat all groups side by side, so that
/// loops over them vectorise while each group's sums keep ggml's order.
template <size_t groups> using PerGroup = std::array<float, groups>;

/// The values of a super-block as [index within the group][group].
template <size_t groups>
using GroupedValues = std::array<PerGroup<groups>, superBlockSize / groups>;

template <size_t groups> GroupedValues<groups> groupValues(const float* values) {
  constexpr size_t groupSize = superBlockSize / groups;
  GroupedValues<groups> grouped;
  for (size_t group = 0; group < groups; ++group)
    for (size_t i = 0; i < groupSize; ++i)
      grouped[i][group] = values[group * groupSize + i];
  return grouped;
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_SUPERBLOCK_H
