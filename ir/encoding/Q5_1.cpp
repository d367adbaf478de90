#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Planes.h"
#include "ir/encoding/internal/RangeQuants.h"

namespace tenon::encodings {

/// ggml's `block_q5_1`: value[i] = scale · quant[i] + minimum.
///
/// | bytes  | holds                                                          |
/// |--------|----------------------------------------------------------------|
/// | 0-1    | scale, binary16                                                |
/// | 2-3    | minimum, binary16                                              |
/// | 4-7    | bit 4 of quant i in bit i of the little-endian number          |
/// | 8-23   | bits 0-3: byte i has quant i in bits 0-3 and i + 16 in 4-7     |
struct Q51Block {
  static constexpr size_t size = 32;
  BlockScale scale;
  BlockScale minimum;
  BitPlane<1, 1, size> high;
  BitPlane<4, 16, size> low;
};
static_assert(sizeof(Q51Block) == 24);

/// ggml's `quantize_row_q5_1_ref`.
static void encodeQ51(const float* values, Q51Block& block) {
  uint8_t quants[Q51Block::size];
  auto [scale, minimum] = quantizeAboveMinimum<31, Q51Block::size>(values, quants);
  block.scale.setBits(f32ToF16(scale));
  block.minimum.setBits(f32ToF16(minimum));
  block.high.pack(quants, 4);
  block.low.pack(quants);
}

extern const BlockFormat q5_1Format;
constexpr BlockFormat q5_1Format = {
    .encoding = "q5_1",
    .ggufFileType = 9,
    .scale = {offsetof(Q51Block, scale), 0.06253f},
    .minimum = {offsetof(Q51Block, minimum), -0.9693f},
    .planes = {decltype(Q51Block::low)::at(offsetof(Q51Block, low)),
               decltype(Q51Block::high)::at(offsetof(Q51Block, high), 4)},
};

extern const Encoding q5_1;
constinit const Encoding q5_1 = {
    .name = "q5_1",
    .blockSize = Q51Block::size,
    .blockBytes = sizeof(Q51Block),
    .ggufType = 7,
    .decode = decodePlanes<Q51Block, q5_1Format>,
    .encode = encodeBlocks<double, Q51Block, encodeQ51>,
    .encodeF32 = encodeBlocks<float, Q51Block, encodeQ51>,
};

} // namespace tenon::encodings
