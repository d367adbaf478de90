#include <algorithm>
#include <cmath>

#include "ir/encoding/BlockFormat.h"
#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/EightBitQuants.h"

namespace tenon::encodings {

/// ggml's `block_q8_0`: value[i] = scale · quants[i].
struct Q8Block {
  static constexpr size_t size = 32;
  BlockScale scale;
  int8_t quants[size];
};
static_assert(sizeof(Q8Block) == 34);

static void decodeQ8(const Q8Block& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  for (size_t i = 0; i < Q8Block::size; ++i)
    values[i] = scale * block.quants[i];
}

/// ggml's `quantize_row_q8_0_ref`: scale = max |x| / 127, quant = round(x / scale). Blocks that
/// ggml leaves undefined (not finite, or so small that 1 / scale overflows) saturate.
static void encodeQ8(const float* values, Q8Block& block) {
  float largest = 0;
  for (size_t i = 0; i < Q8Block::size; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  float scale = largest / 127;
  float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  block.scale.setBits(f32ToF16(scale));
  for (size_t i = 0; i < Q8Block::size; ++i)
    block.quants[i] = static_cast<int8_t>(roundToEightBits(values[i] * inverse));
}

extern const BlockFormat q8_0Format;
constexpr BlockFormat q8_0Format = {
    .encoding = "q8_0",
    .ggufFileType = 7,
    .scale = {offsetof(Q8Block, scale), 0.00781f},
};

extern const Encoding q8_0;
constinit const Encoding q8_0 = {
    .name = "q8_0",
    .blockSize = Q8Block::size,
    .blockBytes = sizeof(Q8Block),
    .ggufType = 8,
    .decode = decodeBlocks<Q8Block, decodeQ8>,
    .encode = encodeBlocks<double, Q8Block, encodeQ8>,
    .encodeF32 = encodeBlocks<float, Q8Block, encodeQ8>,
};

} // namespace tenon::encodings
