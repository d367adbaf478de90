#ifndef TENON_IR_ENCODING_INTERNAL_AFFINESEARCH_H
#define TENON_IR_ENCODING_INTERNAL_AFFINESEARCH_H

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/encoding/Float16.h"
#include "ir/encoding/internal/SuperBlock.h"

namespace tenon::encodings {

/// The parameters in which the K-quants with minimums (Q2_K, Q4_K, Q5_K) differ.
struct AffineFormat {
  /// Groups of a super-block.
  size_t groups;
  /// Largest quant.
  int maxQuant;
  /// Largest quantised scale and minimum.
  int maxScale;
  /// Trials 0 … lastTrial fit as if there were firstStretch + 0.1 · trial more quants than there
  /// are.
  float firstStretch;
  int lastTrial;
  /// Whether errors count by magnitude, weighted by |x|; otherwise by their squares, weighted by
  /// |x| + the group's root mean square.
  bool absoluteError;
};

/// A super-block in which element i of group g stands for
/// scale · scales[g] · quant − minimum · minimums[g].
template <size_t groups> struct AffineSuperBlock {
  /// binary16.
  uint16_t scale;
  uint16_t minimum;
  uint8_t scales[groups];
  uint8_t minimums[groups];
  uint8_t quants[superBlockSize];
};

/// ggml's quantiser of the K-quants with minimums (`quantize_row_q2_K_ref`, `q4_K`, `q5_K` with
/// `make_qkx2_quants`).
///
/// 1. For each group and trial, quants are the values' places in the range [minimum, maximum] of
///    the group, the minimum at most 0, and scale and minimum the weighted least-squares fit to
///    them; the minimum is 0 where the fit says more. The trial of least weighted error wins, and
///    its minimum is where later trials begin.
/// 2. The scales of all groups are quantised against the largest, so are the minimums.
/// 3. The quants are rounded anew against what is then stored.
template <AffineFormat format> class AffineSearch {
public:
  static constexpr size_t groups = format.groups;
  static constexpr size_t groupSize = superBlockSize / groups;

  static AffineSuperBlock<groups> quantize(const float* values) {
    AffineSearch search(values);
    for (int trial = 0; trial <= format.lastTrial; ++trial)
      search.tryStretch(format.firstStretch + 0.1f * static_cast<float>(trial));
    return search.finish(values);
  }

private:
  using Numbers = PerGroup<groups>;

  explicit AffineSearch(const float* values) : x(groupValues<groups>(values)) {
    computeWeights();
    Numbers maximum;
    maximum.fill(-std::numeric_limits<float>::infinity());
    for (size_t i = 0; i < groupSize; ++i)
      for (size_t g = 0; g < groups; ++g) {
        minimum[g] = std::min(minimum[g], x[i][g]);
        maximum[g] = std::max(maximum[g], x[i][g]);
        sumWeights[g] += weights[i][g];
        sumX[g] += weights[i][g] * x[i][g];
      }
    top = maximum;
    for (size_t g = 0; g < groups; ++g)
      bestInverse[g] = format.maxQuant / (top[g] - minimum[g]);
    bestOrigin = minimum;
    for (size_t g = 0; g < groups; ++g)
      scale[g] = 1 / bestInverse[g];
    leastError = errorOf(bestInverse, minimum, scale, minimum);
  }

  void computeWeights() {
    Numbers meanMagnitude = {};
    if (!format.absoluteError) {
      for (size_t i = 0; i < groupSize; ++i)
        for (size_t g = 0; g < groups; ++g)
          meanMagnitude[g] += x[i][g] * x[i][g];
      for (float& mean : meanMagnitude)
        mean = std::sqrt(mean / groupSize);
    }
    for (size_t i = 0; i < groupSize; ++i)
      for (size_t g = 0; g < groups; ++g)
        weights[i][g] = meanMagnitude[g] + std::fabs(x[i][g]);
  }

  /// The quant of `value` in the range that begins at `origin`.
  static float quant(float value, float origin, float inverse) {
    return roundToRange(inverse * (value - origin), 0, format.maxQuant);
  }

  /// The weighted error of each group if the quants of (inverse, origin) stand for
  /// scale · quant + offset.
  Numbers errorOf(const Numbers& inverse, const Numbers& origin, const Numbers& scale,
                  const Numbers& offset) const {
    Numbers error = {};
    for (size_t i = 0; i < groupSize; ++i)
      for (size_t g = 0; g < groups; ++g) {
        float difference = scale[g] * quant(x[i][g], origin[g], inverse[g]) + offset[g] - x[i][g];
        difference = format.absoluteError ? std::fabs(difference) : difference * difference;
        error[g] += weights[i][g] * difference;
      }
    return error;
  }

  void tryStretch(float stretch) {
    Numbers inverse;
    for (size_t g = 0; g < groups; ++g)
      inverse[g] = (stretch + format.maxQuant) / (top[g] - minimum[g]);
    Numbers sumL = {};
    Numbers sumL2 = {};
    Numbers sumXL = {};
    for (size_t i = 0; i < groupSize; ++i)
      for (size_t g = 0; g < groups; ++g) {
        float l = quant(x[i][g], minimum[g], inverse[g]);
        float weighted = weights[i][g] * l;
        sumL[g] += weighted;
        sumL2[g] += weighted * l;
        sumXL[g] += weighted * x[i][g];
      }
    Numbers determinant;
    Numbers fitScale;
    Numbers fitMinimum;
    for (size_t g = 0; g < groups; ++g) {
      determinant[g] = sumWeights[g] * sumL2[g] - sumL[g] * sumL[g];
      fitScale[g] = (sumWeights[g] * sumXL[g] - sumX[g] * sumL[g]) / determinant[g];
      fitMinimum[g] = (sumL2[g] * sumX[g] - sumL[g] * sumXL[g]) / determinant[g];
      fitScale[g] = fitMinimum[g] > 0 ? sumXL[g] / sumL2[g] : fitScale[g];
      fitMinimum[g] = fitMinimum[g] > 0 ? 0 : fitMinimum[g];
    }
    Numbers error = errorOf(inverse, minimum, fitScale, fitMinimum);
    for (size_t g = 0; g < groups; ++g) {
      if (!(determinant[g] > 0 && error[g] < leastError[g]))
        continue;
      leastError[g] = error[g];
      bestInverse[g] = inverse[g];
      bestOrigin[g] = minimum[g];
      scale[g] = fitScale[g];
      minimum[g] = fitMinimum[g];
    }
  }

  /// Quantises numbers of at least 0 to 0 … maxScale; returns the largest number / maxScale.
  static uint16_t quantizeScales(const Numbers& numbers, uint8_t* quantized) {
    float largest = 0;
    for (float number : numbers)
      largest = std::max(largest, number);
    float inverse = largest > 0 ? format.maxScale / largest : 0;
    for (size_t g = 0; g < groups; ++g)
      quantized[g] = static_cast<uint8_t>(roundToRange(inverse * numbers[g], 0, format.maxScale));
    return f32ToF16(largest / format.maxScale);
  }

  AffineSuperBlock<groups> finish(const float* values) const {
    AffineSuperBlock<groups> block;
    Numbers depth;
    for (size_t g = 0; g < groups; ++g)
      depth[g] = -minimum[g];
    block.scale = quantizeScales(scale, block.scales);
    block.minimum = quantizeScales(depth, block.minimums);
    for (size_t g = 0; g < groups; ++g) {
      float stored = f16ToF32(block.scale) * block.scales[g];
      float storedDepth = f16ToF32(block.minimum) * block.minimums[g];
      for (size_t i = g * groupSize; i < (g + 1) * groupSize; ++i) {
        float l = stored != 0 ? roundToRange((values[i] + storedDepth) / stored, 0, format.maxQuant)
                              : quant(values[i], bestOrigin[g], bestInverse[g]);
        block.quants[i] = static_cast<uint8_t>(l);
      }
    }
    return block;
  }

  GroupedValues<groups> x;
  GroupedValues<groups> weights;
  Numbers sumWeights = {};
  Numbers sumX = {};
  /// Each group's largest value.
  Numbers top;
  /// The best trial of each group: scale · quant + minimum, where quants are places above
  /// `bestOrigin` in units of 1 / `bestInverse`.
  Numbers scale;
  Numbers minimum = {};
  Numbers bestInverse;
  Numbers bestOrigin;
  Numbers leastError;
};

} // namespace tenon::encodings

#endif // TENON_IR_ENCODING_INTERNAL_AFFINESEARCH_H
