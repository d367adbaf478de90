#include <algorithm>
#include <cmath>
#include <cstddef>

#include "ir/encoding/internal/BitPlane.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Planes.h"

namespace tenon::encodings {

/// ggml's `block_mxfp4`: value[i] = 2^(scale − 127) · the E2M1 number quant[i] (Open Compute
/// Project, "Microscaling formats", 2023).
///
/// | bytes | holds                                              |
/// |-------|----------------------------------------------------|
/// | 0     | scale, the exponent of a power of two (E8M0)       |
/// | 1-16  | quants: byte i has i in bits 0-3 and i + 16 in 4-7 |
struct Mxfp4Block {
  static constexpr size_t size = 32;
  uint8_t scale;
  BitPlane<4, 16, size> quants;
};
static_assert(sizeof(Mxfp4Block) == 17);

/// ggml's `quantize_row_mxfp4_ref`: the largest magnitude lies in [4, 8) of the scale.
static void encodeMxfp4(const float* values, Mxfp4Block& block) {
  float largest = 0;
  for (size_t i = 0; i < Mxfp4Block::size; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  int exponent = 0;
  if (largest > 0)
    exponent = static_cast<int>(std::clamp(std::floor(std::log2(largest)) - 2 + 127, 0.0f, 254.0f));
  uint8_t quants[Mxfp4Block::size];
  findNearestE2M1<Mxfp4Block::size>(values, std::ldexp(1.0f, exponent - 127), quants);
  block.scale = static_cast<uint8_t>(exponent);
  block.quants.pack(quants);
}

extern const BlockFormat mxfp4Format;
constexpr BlockFormat mxfp4Format = {
    .encoding = "mxfp4",
    .ggufFileType = 38,
    .scale = {offsetof(Mxfp4Block, scale), 0.1973f, BlockFormat::NumberType::E8M0},
    .planes = {decltype(Mxfp4Block::quants)::at(offsetof(Mxfp4Block, quants))},
    .kind = BlockFormat::QuantKind::E2M1,
};

extern const Encoding mxfp4;
constinit const Encoding mxfp4 = {
    .name = "mxfp4",
    .blockSize = Mxfp4Block::size,
    .blockBytes = sizeof(Mxfp4Block),
    .ggufType = 39,
    .decode = decodePlanes<Mxfp4Block, mxfp4Format>,
    .encode = encodeBlocks<double, Mxfp4Block, encodeMxfp4>,
    .encodeF32 = encodeBlocks<float, Mxfp4Block, encodeMxfp4>,
};

} // namespace tenon::encodings
