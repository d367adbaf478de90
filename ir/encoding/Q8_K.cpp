#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/EightBitQuants.h"
#include "ir/encoding/internal/Encodings.h"
#include "ir/encoding/internal/SuperBlock.h"

namespace tenon::encodings {

/// ggml's `block_q8_K`, activations beside weights in K formats: value[i] = scale · quants[i]. No
/// file holds it.
///
/// | bytes   | holds                                                    |
/// |---------|----------------------------------------------------------|
/// | 0-3     | scale, binary32                                          |
/// | 4-259   | quants, signed bytes                                     |
/// | 260-291 | sums of each 16 quants, integers of 16 bits              |
struct Q8KBlock {
  static constexpr size_t size = superBlockSize;
  static constexpr size_t group = 16;
  uint8_t scale[4];
  int8_t quants[size];
  uint8_t sums[size / group * 2];
};
static_assert(sizeof(Q8KBlock) == 292);

static void decodeQ8K(const Q8KBlock& block, double* values) {
  float scale;
  std::memcpy(&scale, block.scale, sizeof scale);
  for (size_t i = 0; i < Q8KBlock::size; ++i)
    values[i] = static_cast<double>(scale) * block.quants[i];
}

/// As ggml's `quantize_row_q8_K_ref`, whose scale is 1 / (127 / m), m the value of the largest
/// magnitude: here m is that magnitude, so that scale and quants both have the other sign where
/// the value was positive there; and halves go away from zero, not to even. A block so small that
/// 127 / m overflows becomes zeros.
static void encodeQ8K(const float* values, Q8KBlock& block) {
  float largest = 0;
  for (size_t i = 0; i < Q8KBlock::size; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  float inverse = 127 / largest;
  inverse = inverse <= 0x1.fffffep127f ? inverse : 0.0f;
  float scale = inverse != 0 ? 1 / inverse : 0.0f;
  std::memcpy(block.scale, &scale, sizeof scale);
  for (size_t i = 0; i < Q8KBlock::size; ++i)
    block.quants[i] = static_cast<int8_t>(roundToEightBits(values[i] * inverse));
  for (size_t group = 0; group < Q8KBlock::size / Q8KBlock::group; ++group) {
    int16_t sum = 0;
    for (size_t i = 0; i < Q8KBlock::group; ++i)
      sum = static_cast<int16_t>(sum + block.quants[group * Q8KBlock::group + i]);
    std::memcpy(block.sums + 2 * group, &sum, sizeof sum);
  }
}

constinit const Encoding q8_k = {
    .name = "q8_k",
    .blockSize = Q8KBlock::size,
    .blockBytes = sizeof(Q8KBlock),
    .ggufType = -1,
    .decode = decodeBlocks<Q8KBlock, decodeQ8K>,
    .encode = encodeBlocks<double, Q8KBlock, encodeQ8K>,
    .encodeF32 = encodeBlocks<float, Q8KBlock, encodeQ8K>,
};

} // namespace tenon::encodings
