#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Encodings.h"
#include "ir/encoding/internal/RangeQuants.h"

namespace tenon::encodings {

/// ggml's `block_q5_0`: value[i] = scale · (quant[i] − 16).
///
/// | bytes  | holds                                                          |
/// |--------|----------------------------------------------------------------|
/// | 0-1    | scale, binary16                                                |
/// | 2-5    | bit 4 of quant i in bit i of the little-endian number          |
/// | 6-21   | bits 0-3: byte i has quant i in bits 0-3 and i + 16 in 4-7     |
struct Q50Block {
  static constexpr size_t size = 32;
  BlockScale scale;
  BitPlane<1, 1, size> high;
  BitPlane<4, 16, size> low;
};
static_assert(sizeof(Q50Block) == 22);

static void decodeQ50(const Q50Block& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  for (size_t i = 0; i < Q50Block::size; ++i)
    values[i] = scale * ((block.low.get(i) | block.high.get(i) << 4) - 16);
}

/// ggml's `quantize_row_q5_0_ref`.
static void encodeQ50(const float* values, Q50Block& block) {
  uint8_t quants[Q50Block::size];
  float scale = quantizeAboutZero<16, Q50Block::size>(values, quants);
  block.scale.setBits(f32ToF16(scale));
  block.high.pack(quants, 4);
  block.low.pack(quants);
}

constinit const Encoding q5_0 = {
    .name = "q5_0",
    .blockSize = Q50Block::size,
    .blockBytes = sizeof(Q50Block),
    .ggufType = 6,
    .decode = decodeBlocks<Q50Block, decodeQ50>,
    .encode = encodeBlocks<double, Q50Block, encodeQ50>,
    .encodeF32 = encodeBlocks<float, Q50Block, encodeQ50>,
};

} // namespace tenon::encodings
