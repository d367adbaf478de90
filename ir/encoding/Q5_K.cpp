#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/AffineSearch.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/SixBitScales.h"

namespace tenon::encodings {

/// ggml's `block_q5_K`, 8 groups of 32 values: element i of group g = i / 32 is
/// scale · scales[g] · quant[i] − minimum · minimums[g].
///
/// | bytes  | holds                                                                  |
/// |--------|------------------------------------------------------------------------|
/// | 0-1    | scale, binary16                                                        |
/// | 2-3    | minimum, binary16                                                      |
/// | 4-15   | scales and minimums of 6 bits, as `SixBitScales` says                  |
/// | 16-47  | bit 4 of the quants: byte j has 32 · g + j in bit g                    |
/// | 48-175 | bits 0-3: byte 32 · h + j has 64 · h + j in bits 0-3, + 32 in 4-7      |
struct Q5KBlock {
  static constexpr size_t size = superBlockSize;
  static constexpr AffineFormat format = {.groups = 8,
                                          .maxQuant = 31,
                                          .maxScale = 63,
                                          .firstStretch = -0.5f,
                                          .lastTrial = 15,
                                          .absoluteError = false};
  BlockScale scale;
  BlockScale minimum;
  SixBitScales scales;
  BitPlane<1, 32, size> high;
  BitPlane<4, 32, size> low;
};
static_assert(sizeof(Q5KBlock) == 176);

static void decodeQ5K(const Q5KBlock& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  double minimum = f16ToF32(block.minimum.bits());
  for (size_t i = 0; i < Q5KBlock::size; ++i)
    values[i] = scale * block.scales.scale(i / 32) * (block.low.get(i) | block.high.get(i) << 4) -
                minimum * block.scales.minimum(i / 32);
}

static void encodeQ5K(const float* values, Q5KBlock& block) {
  auto found = AffineSearch<Q5KBlock::format>::quantize(values);
  block.scale.setBits(found.scale);
  block.minimum.setBits(found.minimum);
  block.scales.pack(found.scales, found.minimums);
  block.high.pack(found.quants, 4);
  block.low.pack(found.quants);
}

extern const BlockFormat q5_kFormat;
constexpr BlockFormat q5_kFormat = {
    .encoding = "q5_k",
    .ggufFileType = 16,
    .scale = {offsetof(Q5KBlock, scale), 0.001096f},
    .minimum = {offsetof(Q5KBlock, minimum), 0.01699f},
    .groupScales = {{.bits = 6, .size = 32}},
};

extern const Encoding q5_k;
constinit const Encoding q5_k = {
    .name = "q5_k",
    .blockSize = Q5KBlock::size,
    .blockBytes = sizeof(Q5KBlock),
    .ggufType = 13,
    .decode = decodeBlocks<Q5KBlock, decodeQ5K>,
    .encode = encodeBlocks<double, Q5KBlock, encodeQ5K>,
    .encodeF32 = encodeBlocks<float, Q5KBlock, encodeQ5K>,
};

} // namespace tenon::encodings
