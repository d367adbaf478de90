#include <cmath>

#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Encodings.h"

namespace tenon::encodings {

/// ggml's `block_q4_0`: value[i] = scale · (quant[i] − 8); the low nibble of byte i is quant[i],
/// the high nibble quant[i + 16].
struct Q4Block {
  static constexpr size_t size = 32;
  BlockScale scale;
  uint8_t quants[size / 2];
};
static_assert(sizeof(Q4Block) == 18);

static void decodeQ4(const Q4Block& block, double* values) {
  double scale = f16ToF32(block.scale.bits());
  for (size_t i = 0; i < Q4Block::size / 2; ++i) {
    values[i] = scale * ((block.quants[i] & 15) - 8);
    values[i + Q4Block::size / 2] = scale * ((block.quants[i] >> 4) - 8);
  }
}

/// floor(value · inverse + 8.5), at most 15; NaN gives 0.
static uint8_t quantize(float value, float inverse) {
  float shifted = value * inverse + 8.5f;
  shifted = shifted > 0.0f ? shifted : 0.0f;
  shifted = shifted < 15.0f ? shifted : 15.0f;
  return static_cast<uint8_t>(static_cast<int>(shifted));
}

/// ggml's `quantize_row_q4_0_ref`: scale = m / −8, where m is the first value of the largest
/// magnitude, so that m itself becomes 0. Blocks that ggml leaves undefined saturate.
static void encodeQ4(const float* values, Q4Block& block) {
  float largest = 0;
  float extreme = 0;
  for (size_t i = 0; i < Q4Block::size; ++i) {
    float magnitude = std::fabs(values[i]);
    extreme = largest < magnitude ? values[i] : extreme;
    largest = largest < magnitude ? magnitude : largest;
  }
  float scale = extreme / -8;
  float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  block.scale.setBits(f32ToF16(scale));
  for (size_t i = 0; i < Q4Block::size / 2; ++i) {
    uint8_t low = quantize(values[i], inverse);
    uint8_t high = quantize(values[i + Q4Block::size / 2], inverse);
    block.quants[i] = static_cast<uint8_t>(low | high << 4);
  }
}

constinit const Encoding q4_0 = {
    .name = "q4_0",
    .blockSize = Q4Block::size,
    .blockBytes = sizeof(Q4Block),
    .ggufType = 2,
    .decode = decodeBlocks<Q4Block, decodeQ4>,
    .encode = encodeBlocks<double, Q4Block, encodeQ4>,
    .encodeF32 = encodeBlocks<float, Q4Block, encodeQ4>,
};

} // namespace tenon::encodings
