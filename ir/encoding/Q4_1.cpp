#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Planes.h"
#include "ir/encoding/internal/RangeQuants.h"

namespace tenon::encodings {

/// ggml's `block_q4_1`: value[i] = scale · quant[i] + minimum.
///
/// | bytes  | holds                                                |
/// |--------|------------------------------------------------------|
/// | 0-1    | scale, binary16                                      |
/// | 2-3    | minimum, binary16                                    |
/// | 4-19   | quants: byte i has i in bits 0-3 and i + 16 in 4-7   |
struct Q41Block {
  static constexpr size_t size = 32;
  BlockScale scale;
  BlockScale minimum;
  BitPlane<4, 16, size> quants;
};
static_assert(sizeof(Q41Block) == 20);

/// ggml's `quantize_row_q4_1_ref`.
static void encodeQ41(const float* values, Q41Block& block) {
  uint8_t quants[Q41Block::size];
  auto [scale, minimum] = quantizeAboveMinimum<15, Q41Block::size>(values, quants);
  block.scale.setBits(f32ToF16(scale));
  block.minimum.setBits(f32ToF16(minimum));
  block.quants.pack(quants);
}

extern const BlockFormat q4_1Format;
constexpr BlockFormat q4_1Format = {
    .encoding = "q4_1",
    .ggufFileType = 3,
    .scale = {offsetof(Q41Block, scale), 0.1252f},
    .minimum = {offsetof(Q41Block, minimum), -0.9393f},
    .planes = {decltype(Q41Block::quants)::at(offsetof(Q41Block, quants))},
};

extern const Encoding q4_1;
constinit const Encoding q4_1 = {
    .name = "q4_1",
    .blockSize = Q41Block::size,
    .blockBytes = sizeof(Q41Block),
    .ggufType = 3,
    .decode = decodePlanes<Q41Block, q4_1Format>,
    .encode = encodeBlocks<double, Q41Block, encodeQ41>,
    .encodeF32 = encodeBlocks<float, Q41Block, encodeQ41>,
};

} // namespace tenon::encodings
