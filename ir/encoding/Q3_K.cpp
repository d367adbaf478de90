#include <algorithm>
#include <cmath>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/SuperBlock.h"

namespace tenon::encodings {

/// ggml's `block_q3_K`, 16 groups of 16 values: element i of group g = i / 16 is
/// scale · (scales[g] − 32) · (quant[i] − 4).
///
/// | bytes   | holds                                                                     |
/// |---------|---------------------------------------------------------------------------|
/// | 0-31    | bit 2 of the quants: byte j has 32 · k + j in bit k                       |
/// | 32-95   | bits 0-1: byte 32 · h + j has 128 · h + j, + 32, + 64, + 96               |
/// | 96-103  | bits 0-3 of the scales: byte j has scale j in bits 0-3, j + 8 in 4-7      |
/// | 104-107 | bits 4-5 of the scales: byte j has scales j, j + 4, j + 8, j + 12         |
/// | 108-109 | scale, binary16                                                           |
struct Q3KBlock {
  static constexpr size_t size = superBlockSize;
  static constexpr size_t groupSize = 16;
  static constexpr size_t groups = size / groupSize;
  BitPlane<1, 32, size> high;
  BitPlane<2, 32, size> low;
  BitPlane<4, 8, groups> lowScales;
  BitPlane<2, 4, groups> highScales;
  BlockScale scale;
};
static_assert(sizeof(Q3KBlock) == 110);

static void decodeQ3K(const Q3KBlock& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  for (size_t i = 0; i < Q3KBlock::size; ++i) {
    size_t group = i / Q3KBlock::groupSize;
    int groupScale = (block.lowScales.get(group) | block.highScales.get(group) << 4) - 32;
    values[i] = scale * groupScale * ((block.low.get(i) | block.high.get(i) << 2) - 4);
  }
}

/// The search for one group's scale, ggml's `make_q3_quants`: the sum of squared errors, weighted
/// by x², of the best scale for quants l is least where (Σ w x l)² / Σ w l² is greatest. Begins
/// with quants in −4 … 3 that take the extreme value to −4, then moves one quant at a time to
/// where the scale of all others puts it, if that makes the quotient greater.
class Q3GroupSearch {
public:
  explicit Q3GroupSearch(const float* values) : x(values) {
    float extreme = 0;
    for (size_t i = 0; i < size; ++i)
      extreme = std::fabs(x[i]) > std::fabs(extreme) ? x[i] : extreme;
    if (std::fabs(extreme) < negligible)
      return;
    float inverse = -4 / extreme;
    for (size_t i = 0; i < size; ++i) {
      quants[i] = roundToRange(inverse * x[i], -4, 3);
      float weight = x[i] * x[i];
      sumXL += weight * x[i] * quants[i];
      sumL2 += weight * quants[i] * quants[i];
    }
    for (int pass = 0; pass < 5 && moveQuants(); ++pass)
      ;
  }

  float scale() const { return sumL2 > 0 ? sumXL / sumL2 : 0; }
  /// The quants plus 4; 0 for a group of zeros.
  void writeQuants(uint8_t* shifted) const {
    for (size_t i = 0; i < size; ++i)
      shifted[i] = static_cast<uint8_t>(quants[i] + 4);
  }

private:
  static constexpr size_t size = Q3KBlock::groupSize;

  /// One pass over all quants; whether any moved.
  bool moveQuants() {
    bool moved = false;
    for (size_t i = 0; i < size; ++i) {
      float weight = x[i] * x[i];
      float otherXL = sumXL - weight * x[i] * quants[i];
      if (!(otherXL > 0))
        continue;
      float otherL2 = sumL2 - weight * quants[i] * quants[i];
      float quant = roundToRange(x[i] * otherL2 / otherXL, -4, 3);
      if (quant == quants[i])
        continue;
      float newXL = otherXL + weight * x[i] * quant;
      float newL2 = otherL2 + weight * quant * quant;
      if (!(newL2 > 0 && newXL * newXL * sumL2 > sumXL * sumXL * newL2))
        continue;
      quants[i] = quant;
      sumXL = newXL;
      sumL2 = newL2;
      moved = true;
    }
    return moved;
  }

  const float* x;
  float quants[size] = {-4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4};
  float sumXL = 0;
  float sumL2 = 0;
};

/// ggml's `quantize_row_q3_K_ref`: searches each group's scale, quantises the scales to
/// −32 … 31 so that the one of the largest magnitude becomes −32, and rounds the quants anew
/// against what is then stored.
static void encodeQ3K(const float* values, Q3KBlock& block) {
  constexpr size_t groupSize = Q3KBlock::groupSize;
  float scales[Q3KBlock::groups];
  uint8_t quants[Q3KBlock::size];
  float extreme = 0;
  for (size_t g = 0; g < Q3KBlock::groups; ++g) {
    Q3GroupSearch search(values + g * groupSize);
    search.writeQuants(quants + g * groupSize);
    scales[g] = search.scale();
    extreme = std::fabs(scales[g]) > std::fabs(extreme) ? scales[g] : extreme;
  }
  float inverse = extreme != 0 ? -32 / extreme : 0;
  block.scale.setBits(f32ToF16(extreme != 0 ? 1 / inverse : 0));
  uint8_t storedScales[Q3KBlock::groups] = {};
  for (size_t g = 0; extreme != 0 && g < Q3KBlock::groups; ++g) {
    float quantised = roundToRange(inverse * scales[g], -32, 31);
    storedScales[g] = static_cast<uint8_t>(quantised + 32);
    float stored = f16ToF32(block.scale.bits()) * quantised;
    for (size_t i = g * groupSize; stored != 0 && i < (g + 1) * groupSize; ++i)
      quants[i] = static_cast<uint8_t>(roundToRange(values[i] / stored, -4, 3) + 4);
  }
  block.lowScales.pack(storedScales);
  block.highScales.pack(storedScales, 4);
  block.low.pack(quants);
  block.high.pack(quants, 2);
}

extern const BlockFormat q3_kFormat;
constexpr BlockFormat q3_kFormat = {
    .encoding = "q3_k",
    .ggufFileType = 11,
    .scale = {offsetof(Q3KBlock, scale), 0.01333f},
    .groupScales = {{.bits = 6, .size = 16}},
};

extern const Encoding q3_k;
constinit const Encoding q3_k = {
    .name = "q3_k",
    .blockSize = Q3KBlock::size,
    .blockBytes = sizeof(Q3KBlock),
    .ggufType = 11,
    .decode = decodeBlocks<Q3KBlock, decodeQ3K>,
    .encode = encodeBlocks<double, Q3KBlock, encodeQ3K>,
    .encodeF32 = encodeBlocks<float, Q3KBlock, encodeQ3K>,
};

} // namespace tenon::encodings
