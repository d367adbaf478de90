#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Planes.h"
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

/// ggml's `quantize_row_q5_0_ref`.
static void encodeQ50(const float* values, Q50Block& block) {
  uint8_t quants[Q50Block::size];
  float scale = quantizeAboutZero<16, Q50Block::size>(values, quants);
  block.scale.setBits(f32ToF16(scale));
  block.high.pack(quants, 4);
  block.low.pack(quants);
}

extern const BlockFormat q5_0Format;
constexpr BlockFormat q5_0Format = {
    .encoding = "q5_0",
    .ggufFileType = 8,
    .scale = {offsetof(Q50Block, scale), 0.06253f},
    .planes = {decltype(Q50Block::low)::at(offsetof(Q50Block, low)),
               decltype(Q50Block::high)::at(offsetof(Q50Block, high), 4)},
    .zero = 16,
};

extern const Encoding q5_0;
constinit const Encoding q5_0 = {
    .name = "q5_0",
    .blockSize = Q50Block::size,
    .blockBytes = sizeof(Q50Block),
    .ggufType = 6,
    .decode = decodePlanes<Q50Block, q5_0Format>,
    .encode = encodeBlocks<double, Q50Block, encodeQ50>,
    .encodeF32 = encodeBlocks<float, Q50Block, encodeQ50>,
};

} // namespace tenon::encodings
