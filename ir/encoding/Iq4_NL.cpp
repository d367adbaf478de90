#include <array>
#include <cmath>

#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Planes.h"
#include "ir/encoding/internal/SuperBlock.h"

namespace tenon::encodings {

/// ggml's `block_iq4_nl`: value[i] = scale · levels[quant[i]], with levels that lie closer about
/// zero, where weights are dense.
///
/// | bytes  | holds                                                |
/// |--------|------------------------------------------------------|
/// | 0-1    | scale, binary16                                      |
/// | 2-17   | quants: byte i has i in bits 0-3 and i + 16 in 4-7   |
struct Iq4NlBlock {
  static constexpr size_t size = 32;
  /// ggml's `kvalues_iq4nl`, part of the format.
  static constexpr int8_t levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                        1,    13,   25,  38,  53,  69,  89,  113};
  BlockScale scale;
  BitPlane<4, 16, size> quants;
};
static_assert(sizeof(Iq4NlBlock) == 18);

/// The number of the level nearest to each value · inverse, the upper one half-way: as many as
/// there are midpoints of two neighbours up to it. 0 for NaN.
static void findNearestLevels(const float* values, float inverse, uint8_t* quants) {
  constexpr size_t size = Iq4NlBlock::size;
  std::array<int, size> counts = {};
  for (size_t level = 0; level + 1 < std::size(Iq4NlBlock::levels); ++level) {
    int sum = Iq4NlBlock::levels[level] + Iq4NlBlock::levels[level + 1];
    float midpoint = 0.5f * static_cast<float>(sum);
    for (size_t i = 0; i < size; ++i)
      counts[i] += inverse * values[i] >= midpoint;
  }
  for (size_t i = 0; i < size; ++i)
    quants[i] = static_cast<uint8_t>(counts[i]);
}

/// The sums over a block of w x l and w l², w = x², where l is the level nearest to x · inverse.
struct LevelSums {
  float xl = 0;
  float l2 = 0;

  LevelSums(const float* values, float inverse) {
    uint8_t quants[Iq4NlBlock::size];
    findNearestLevels(values, inverse, quants);
    for (size_t i = 0; i < Iq4NlBlock::size; ++i) {
      float level = Iq4NlBlock::levels[quants[i]];
      float weight = values[i] * values[i];
      xl += weight * level * values[i];
      l2 += weight * level * level;
    }
  }
};

/// The scale of a block with the first value of the largest magnitude `extreme`: trials take that
/// value to 127 and to −127 + trial, trial = −7 … 7; the first of the greatest (Σ w x l)² / Σ w l²
/// wins, which leaves the least sum of squared errors, weighted by x².
static float searchScale(const float* values, float extreme) {
  constexpr float lowest = Iq4NlBlock::levels[0];
  LevelSums first(values, 1 / (-extreme / lowest));
  float scale = first.l2 > 0 ? first.xl / first.l2 : 0;
  float best = scale * first.xl;
  for (int trial = -7; trial <= 7; ++trial) {
    LevelSums sums(values, (static_cast<float>(trial) + lowest) / extreme);
    if (!(sums.l2 > 0 && sums.xl * sums.xl > best * sums.l2))
      continue;
    scale = sums.xl / sums.l2;
    best = scale * sums.xl;
  }
  return scale;
}

/// ggml's `quantize_iq4_nl` without an importance matrix, which is what makes files; its
/// `quantize_row_iq4_nl_ref` searches less.
static void encodeIq4Nl(const float* values, Iq4NlBlock& block) {
  float extreme = 0;
  for (size_t i = 0; i < Iq4NlBlock::size; ++i)
    extreme = std::fabs(values[i]) > std::fabs(extreme) ? values[i] : extreme;
  float scale = std::fabs(extreme) < negligible ? 0 : searchScale(values, extreme);
  float inverse = scale != 0 ? 1 / scale : 0;
  uint8_t quants[Iq4NlBlock::size];
  findNearestLevels(values, inverse, quants);
  block.scale.setBits(f32ToF16(scale));
  block.quants.pack(quants);
}

extern const BlockFormat iq4_nlFormat;
constexpr BlockFormat iq4_nlFormat = {
    .encoding = "iq4_nl",
    .ggufFileType = 25,
    .scale = {offsetof(Iq4NlBlock, scale), 0.00858f},
    .planes = {decltype(Iq4NlBlock::quants)::at(offsetof(Iq4NlBlock, quants))},
    .levels = Iq4NlBlock::levels,
};

extern const Encoding iq4_nl;
constinit const Encoding iq4_nl = {
    .name = "iq4_nl",
    .blockSize = Iq4NlBlock::size,
    .blockBytes = sizeof(Iq4NlBlock),
    .ggufType = 20,
    .decode = decodePlanes<Iq4NlBlock, iq4_nlFormat>,
    .encode = encodeBlocks<double, Iq4NlBlock, encodeIq4Nl>,
    .encodeF32 = encodeBlocks<float, Iq4NlBlock, encodeIq4Nl>,
};

} // namespace tenon::encodings
