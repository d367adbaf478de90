#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/EightBitQuants.h"
#include "ir/encoding/internal/Encodings.h"

namespace tenon::encodings {

/// Activations beside weights in blocks of 32: the quants of `q8_0`, whose scale stands here as the
/// f32 that it is, and their sum, which products with biased weights need. No file holds it.
///
/// | bytes | holds                                                     |
/// |-------|-----------------------------------------------------------|
/// | 0-3   | scale, binary32 with the value of a binary16              |
/// | 4-7   | sum of the quants, a 32-bit integer                       |
/// | 8-39  | quants, signed bytes: value[i] = scale · quants[i]        |
struct Q8SBlock {
  static constexpr size_t size = 32;
  uint8_t scale[4];
  uint8_t sum[4];
  int8_t quants[size];
};
static_assert(sizeof(Q8SBlock) == 40);

static void decodeQ8S(const Q8SBlock& block, double* values) {
  float scale;
  std::memcpy(&scale, block.scale, sizeof scale);
  for (size_t i = 0; i < Q8SBlock::size; ++i)
    values[i] = static_cast<double>(scale) * block.quants[i];
}

/// As `q8_0` is encoded: scale = max |x| / 127, quant = round(x / scale).
static void encodeQ8S(const float* values, Q8SBlock& block) {
  float largest = 0;
  for (size_t i = 0; i < Q8SBlock::size; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  float exact = largest / 127;
  float inverse = exact != 0 ? 1.0f / exact : 0.0f;
  float scale = f16ToF32(f32ToF16(exact));
  int32_t sum = 0;
  for (size_t i = 0; i < Q8SBlock::size; ++i) {
    block.quants[i] = static_cast<int8_t>(roundToEightBits(values[i] * inverse));
    sum += block.quants[i];
  }
  std::memcpy(block.scale, &scale, sizeof scale);
  std::memcpy(block.sum, &sum, sizeof sum);
}

constinit const Encoding q8_s = {
    .name = "q8_s",
    .blockSize = Q8SBlock::size,
    .blockBytes = sizeof(Q8SBlock),
    .ggufType = -1,
    .decode = decodeBlocks<Q8SBlock, decodeQ8S>,
    .encode = encodeBlocks<double, Q8SBlock, encodeQ8S>,
    .encodeF32 = encodeBlocks<float, Q8SBlock, encodeQ8S>,
};

} // namespace tenon::encodings
