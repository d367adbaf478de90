#ifndef TENON_IR_ENCODING_INTERNAL_RANGEQUANTS_H
#define TENON_IR_ENCODING_INTERNAL_RANGEQUANTS_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

/// Quantisers of one pass over a block of 32 values, as ggml's `quantize_row_q4_0_ref`, `q4_1`,
/// `q5_0` and `q5_1` define them. Blocks that ggml leaves undefined (not finite, or so small that
/// 1 / scale overflows) saturate.
namespace tenon::encodings {

/// floor(value), at least 0 and at most `high`; NaN gives 0.
inline uint8_t truncateToRange(float value, float high) {
  value = value > 0.0f ? value : 0.0f;
  value = value < high ? value : high;
  return static_cast<uint8_t>(static_cast<int>(value));
}

/// Quants 0 … 2 · half − 1 that stand for scale · (quant − half). Returns the scale, m / −half,
/// where m is the first value of the largest magnitude, so that m itself becomes 0.
template <int half, size_t size> float quantizeAboutZero(const float* values, uint8_t* quants) {
  float largest = 0;
  float extreme = 0;
  for (size_t i = 0; i < size; ++i) {
    float magnitude = std::fabs(values[i]);
    extreme = largest < magnitude ? values[i] : extreme;
    largest = largest < magnitude ? magnitude : largest;
  }
  float scale = extreme / -half;
  float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  for (size_t i = 0; i < size; ++i)
    quants[i] = truncateToRange(values[i] * inverse + (half + 0.5f), 2 * half - 1);
  return scale;
}

/// Quants 0 … maxQuant that stand for scale · quant + minimum.
struct ScaleAndMinimum {
  float scale;
  float minimum;
};
template <int maxQuant, size_t size>
ScaleAndMinimum quantizeAboveMinimum(const float* values, uint8_t* quants) {
  float minimum = std::numeric_limits<float>::max();
  float maximum = -minimum;
  for (size_t i = 0; i < size; ++i) {
    minimum = std::min(minimum, values[i]);
    maximum = std::max(maximum, values[i]);
  }
  float scale = (maximum - minimum) / maxQuant;
  float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  for (size_t i = 0; i < size; ++i)
    quants[i] = truncateToRange((values[i] - minimum) * inverse + 0.5f, maxQuant);
  return {scale, minimum};
}

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_RANGEQUANTS_H
