#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Planes.h"
#include "ir/encoding/internal/RangeQuants.h"

namespace tenon::encodings {

/// ggml's `block_q4_0`: value[i] = scale · (quant[i] − 8).
///
/// | bytes  | holds                                                |
/// |--------|------------------------------------------------------|
/// | 0-1    | scale, binary16                                      |
/// | 2-17   | quants: byte i has i in bits 0-3 and i + 16 in 4-7   |
struct Q4Block {
  static constexpr size_t size = 32;
  BlockScale scale;
  BitPlane<4, 16, size> quants;
};
static_assert(sizeof(Q4Block) == 18);

/// ggml's `quantize_row_q4_0_ref`.
static void encodeQ4(const float* values, Q4Block& block) {
  uint8_t quants[Q4Block::size];
  float scale = quantizeAboutZero<8, Q4Block::size>(values, quants);
  block.scale.setBits(f32ToF16(scale));
  block.quants.pack(quants);
}

extern const BlockFormat q4_0Format;
constexpr BlockFormat q4_0Format = {
    .encoding = "q4_0",
    .ggufFileType = 2,
    .scale = {offsetof(Q4Block, scale), 0.1252f},
    .planes = {decltype(Q4Block::quants)::at(offsetof(Q4Block, quants))},
    .zero = 8,
};

extern const Encoding q4_0;
constinit const Encoding q4_0 = {
    .name = "q4_0",
    .blockSize = Q4Block::size,
    .blockBytes = sizeof(Q4Block),
    .ggufType = 2,
    .decode = decodePlanes<Q4Block, q4_0Format>,
    .encode = encodeBlocks<double, Q4Block, encodeQ4>,
    .encodeF32 = encodeBlocks<float, Q4Block, encodeQ4>,
};

} // namespace tenon::encodings
