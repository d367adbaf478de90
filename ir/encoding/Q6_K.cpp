#include <cmath>
#include <cstring>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/SuperBlock.h"

namespace tenon::encodings {

/// ggml's `block_q6_K`, 16 groups of 16 values: element i of group g = i / 16 is
/// scale · scales[g] · (quant[i] − 32).
///
/// | bytes   | holds                                                                     |
/// |---------|---------------------------------------------------------------------------|
/// | 0-127   | bits 0-3: byte 64 · h + j has 128 · h + j in bits 0-3, + 64 in 4-7        |
/// | 128-191 | bits 4-5: byte 32 · h + j has 128 · h + j, + 32, + 64, + 96               |
/// | 192-207 | scales, signed bytes                                                      |
/// | 208-209 | scale, binary16                                                           |
struct Q6KBlock {
  static constexpr size_t size = superBlockSize;
  static constexpr size_t groupSize = 16;
  static constexpr size_t groups = size / groupSize;
  BitPlane<4, 64, size> low;
  BitPlane<2, 32, size> high;
  int8_t scales[groups];
  BlockScale scale;
};
static_assert(sizeof(Q6KBlock) == 210);

static void decodeQ6K(const Q6KBlock& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  for (size_t i = 0; i < Q6KBlock::size; ++i) {
    size_t group = i / Q6KBlock::groupSize;
    values[i] = scale * block.scales[group] * ((block.low.get(i) | block.high.get(i) << 4) - 32);
  }
}

/// The search for each group's scale, ggml's `make_qx_quants`: the sum of squared errors, weighted
/// by x², of the best scale for quants l is least where (Σ w x l)² / Σ w l² is greatest. Trials
/// take the extreme value of the group to −32 − 0.1 · trial, trial = 0, −9 … 9; the first of the
/// greatest quotient wins.
class Q6Search {
public:
  explicit Q6Search(const float* values) : x(groupValues<groups>(values)) {
    for (size_t i = 0; i < Q6KBlock::groupSize; ++i)
      for (size_t g = 0; g < groups; ++g)
        extreme[g] = std::fabs(x[i][g]) > std::fabs(extreme[g]) ? x[i][g] : extreme[g];
    for (size_t g = 0; g < groups; ++g)
      if (std::fabs(extreme[g]) < negligible)
        clearGroup(g);
    tryStretch(0);
    for (int trial = -9; trial <= 9; ++trial)
      if (trial != 0)
        tryStretch(0.1f * static_cast<float>(trial));
  }

  const PerGroup<Q6KBlock::groups>& scales() const { return scale; }
  /// The quant, 0 … 63, of element i of group g under the group's own scale.
  float quant(size_t g, size_t i) const { return quantOf(x[i][g], bestInverse[g]) + 32; }

private:
  static constexpr size_t groups = Q6KBlock::groups;
  using Numbers = PerGroup<groups>;

  void clearGroup(size_t g) {
    extreme[g] = 0;
    for (Numbers& row : x)
      row[g] = 0;
  }

  static float quantOf(float value, float inverse) {
    return roundToRange(inverse * value, -32, 31);
  }

  void tryStretch(float stretch) {
    Numbers inverse;
    for (size_t g = 0; g < groups; ++g)
      inverse[g] = -(32 + stretch) / extreme[g];
    Numbers sumXL = {};
    Numbers sumL2 = {};
    for (size_t i = 0; i < Q6KBlock::groupSize; ++i)
      for (size_t g = 0; g < groups; ++g) {
        float value = x[i][g];
        float l = quantOf(value, inverse[g]);
        float weight = value * value;
        sumXL[g] += weight * value * l;
        sumL2[g] += weight * l * l;
      }
    for (size_t g = 0; g < groups; ++g) {
      bool isFirst = stretch == 0;
      bool isBetter = sumL2[g] > 0 && sumXL[g] * sumXL[g] > best[g] * sumL2[g];
      if (!isFirst && !isBetter)
        continue;
      scale[g] = sumL2[g] != 0 ? sumXL[g] / sumL2[g] : 0;
      best[g] = scale[g] * sumXL[g];
      bestInverse[g] = inverse[g];
    }
  }

  GroupedValues<groups> x;
  /// Each group's first value of the largest magnitude.
  Numbers extreme = {};
  Numbers scale;
  Numbers best;
  Numbers bestInverse;
};

/// ggml's `quantize_row_q6_K_ref`: searches each group's scale, quantises the scales to
/// −128 … 127 so that the one of the largest magnitude becomes −128, and rounds the quants anew
/// against what is then stored. A block of zeros is 210 zero bytes.
static void encodeQ6K(const float* values, Q6KBlock& block) {
  std::memset(&block, 0, sizeof(block));
  Q6Search search(values);
  float extreme = 0;
  for (float scale : search.scales())
    extreme = std::fabs(scale) > std::fabs(extreme) ? scale : extreme;
  if (std::fabs(extreme) < negligible)
    return;
  float inverse = -128 / extreme;
  block.scale.setBits(f32ToF16(1 / inverse));
  uint8_t quants[Q6KBlock::size];
  for (size_t g = 0; g < Q6KBlock::groups; ++g) {
    float quantised = roundToRange(inverse * search.scales()[g], -128, 127);
    block.scales[g] = static_cast<int8_t>(quantised);
    float stored = f16ToF32(block.scale.bits()) * quantised;
    for (size_t i = 0; i < Q6KBlock::groupSize; ++i) {
      size_t at = g * Q6KBlock::groupSize + i;
      float quant =
          stored != 0 ? roundToRange(values[at] / stored, -32, 31) + 32 : search.quant(g, i);
      quants[at] = static_cast<uint8_t>(quant);
    }
  }
  block.low.pack(quants);
  block.high.pack(quants, 4);
}

extern const BlockFormat q6_kFormat;
constexpr BlockFormat q6_kFormat = {
    .encoding = "q6_k",
    .ggufFileType = 18,
    .scale = {offsetof(Q6KBlock, scale), 0.000423f},
    .groupScales = {{.bits = 8, .size = 16}},
};

extern const Encoding q6_k;
constinit const Encoding q6_k = {
    .name = "q6_k",
    .blockSize = Q6KBlock::size,
    .blockBytes = sizeof(Q6KBlock),
    .ggufType = 14,
    .decode = decodeBlocks<Q6KBlock, decodeQ6K>,
    .encode = encodeBlocks<double, Q6KBlock, encodeQ6K>,
    .encodeF32 = encodeBlocks<float, Q6KBlock, encodeQ6K>,
};

} // namespace tenon::encodings
