#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/AffineSearch.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/SixBitScales.h"

namespace tenon::encodings {

/// ggml's `block_q4_K`, 8 groups of 32 values: element i of group g = i / 32 is
/// scale · scales[g] · quant[i] − minimum · minimums[g].
///
/// | bytes  | holds                                                                  |
/// |--------|------------------------------------------------------------------------|
/// | 0-1    | scale, binary16                                                        |
/// | 2-3    | minimum, binary16                                                      |
/// | 4-15   | scales and minimums of 6 bits, as `SixBitScales` says                  |
/// | 16-143 | quants: byte 32 · h + j has 64 · h + j in bits 0-3, + 32 in 4-7        |
struct Q4KBlock {
  static constexpr size_t size = superBlockSize;
  static constexpr AffineFormat format = {.groups = 8,
                                          .maxQuant = 15,
                                          .maxScale = 63,
                                          .firstStretch = -1.0f,
                                          .lastTrial = 20,
                                          .absoluteError = false};
  BlockScale scale;
  BlockScale minimum;
  SixBitScales scales;
  BitPlane<4, 32, size> quants;
};
static_assert(sizeof(Q4KBlock) == 144);

static void decodeQ4K(const Q4KBlock& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  double minimum = f16ToF32(block.minimum.bits());
  for (size_t i = 0; i < Q4KBlock::size; ++i)
    values[i] = scale * block.scales.scale(i / 32) * block.quants.get(i) -
                minimum * block.scales.minimum(i / 32);
}

static void encodeQ4K(const float* values, Q4KBlock& block) {
  auto found = AffineSearch<Q4KBlock::format>::quantize(values);
  block.scale.setBits(found.scale);
  block.minimum.setBits(found.minimum);
  block.scales.pack(found.scales, found.minimums);
  block.quants.pack(found.quants);
}

extern const BlockFormat q4_kFormat;
constexpr BlockFormat q4_kFormat = {
    .encoding = "q4_k",
    .ggufFileType = 14,
    .scale = {offsetof(Q4KBlock, scale), 0.002236f},
    .minimum = {offsetof(Q4KBlock, minimum), 0.01677f},
    .groupScales = {{.bits = 6, .size = 32}},
};

extern const Encoding q4_k;
constinit const Encoding q4_k = {
    .name = "q4_k",
    .blockSize = Q4KBlock::size,
    .blockBytes = sizeof(Q4KBlock),
    .ggufType = 12,
    .decode = decodeBlocks<Q4KBlock, decodeQ4K>,
    .encode = encodeBlocks<double, Q4KBlock, encodeQ4K>,
    .encodeF32 = encodeBlocks<float, Q4KBlock, encodeQ4K>,
};

} // namespace tenon::encodings
