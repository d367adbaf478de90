#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/AffineSearch.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"

namespace tenon::encodings {

/// ggml's `block_q2_K`, 16 groups of 16 values: element i of group g = i / 16 is
/// scale · scales[g] · quant[i] − minimum · minimums[g].
///
/// | bytes  | holds                                                                  |
/// |--------|------------------------------------------------------------------------|
/// | 0-15   | byte g: scales[g] in bits 0-3, minimums[g] in bits 4-7                 |
/// | 16-79  | quants of 2 bits: byte 32 · h + j has 128 · h + j, + 32, + 64, + 96    |
/// | 80-81  | scale, binary16                                                        |
/// | 82-83  | minimum, binary16                                                      |
struct Q2KBlock {
  static constexpr size_t size = superBlockSize;
  static constexpr AffineFormat format = {.groups = 16,
                                          .maxQuant = 3,
                                          .maxScale = 15,
                                          .firstStretch = -0.5f,
                                          .lastTrial = 15,
                                          .absoluteError = true};
  uint8_t scalesAndMinimums[format.groups];
  BitPlane<2, 32, size> quants;
  BlockScale scale;
  BlockScale minimum;
};
static_assert(sizeof(Q2KBlock) == 84);

static void decodeQ2K(const Q2KBlock& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  double minimum = f16ToF32(block.minimum.bits());
  for (size_t i = 0; i < Q2KBlock::size; ++i) {
    uint8_t group = block.scalesAndMinimums[i / 16];
    values[i] = scale * (group & 15) * block.quants.get(i) - minimum * (group >> 4);
  }
}

static void encodeQ2K(const float* values, Q2KBlock& block) {
  auto found = AffineSearch<Q2KBlock::format>::quantize(values);
  for (size_t g = 0; g < Q2KBlock::format.groups; ++g)
    block.scalesAndMinimums[g] = static_cast<uint8_t>(found.scales[g] | found.minimums[g] << 4);
  block.quants.pack(found.quants);
  block.scale.setBits(found.scale);
  block.minimum.setBits(found.minimum);
}

extern const BlockFormat q2_kFormat;
constexpr BlockFormat q2_kFormat = {
    .encoding = "q2_k",
    .ggufFileType = 10,
    .scale = {offsetof(Q2KBlock, scale), 0.0416f},
    .minimum = {offsetof(Q2KBlock, minimum), 0.0624f},
    .groupScales = {{.bits = 4, .size = 16}},
};

extern const Encoding q2_k;
constinit const Encoding q2_k = {
    .name = "q2_k",
    .blockSize = Q2KBlock::size,
    .blockBytes = sizeof(Q2KBlock),
    .ggufType = 10,
    .decode = decodeBlocks<Q2KBlock, decodeQ2K>,
    .encode = encodeBlocks<double, Q2KBlock, encodeQ2K>,
    .encodeF32 = encodeBlocks<float, Q2KBlock, encodeQ2K>,
};

} // namespace tenon::encodings
