#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Encodings.h"
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

static void decodeQ41(const Q41Block& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  double minimum = f16ToF32(block.minimum.bits());
  for (size_t i = 0; i < Q41Block::size; ++i)
    values[i] = scale * block.quants.get(i) + minimum;
}

/// ggml's `quantize_row_q4_1_ref`.
static void encodeQ41(const float* values, Q41Block& block) {
  uint8_t quants[Q41Block::size];
  auto [scale, minimum] = quantizeAboveMinimum<15, Q41Block::size>(values, quants);
  block.scale.setBits(f32ToF16(scale));
  block.minimum.setBits(f32ToF16(minimum));
  block.quants.pack(quants);
}

constinit const Encoding q4_1 = {
    .name = "q4_1",
    .blockSize = Q41Block::size,
    .blockBytes = sizeof(Q41Block),
    .ggufType = 3,
    .decode = decodeBlocks<Q41Block, decodeQ41>,
    .encode = encodeBlocks<double, Q41Block, encodeQ41>,
    .encodeF32 = encodeBlocks<float, Q41Block, encodeQ41>,
};

} // namespace tenon::encodings
