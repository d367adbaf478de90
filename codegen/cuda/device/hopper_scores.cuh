// What warpgroups of hopper_attention make of the scores of their rows: weights of values.
#pragma once
#include "scores.cuh"

namespace tenon {

/// Scores of a thread of a warpgroup, those of two rows and a block of `keys` keys as wgmma leaves
/// them, and what the thread keeps of its rows. Weights are rounded to Element, their sum is not.
template <typename Element, int keys, int valueSize> struct WarpgroupScores {
  /// Weights may be so many powers of two above 1 before a row's sums are rescaled.
  static constexpr float slack = 8.0f;
  static constexpr int scoreCount = keys / 2, sumCount = valueSize / 2; ///< of a thread

  /// What a warpgroup keeps of its tile: sums of weighted values, and of two rows each the largest
  /// score and this thread's part of the total of weights.
  struct State {
    float sums[sumCount];
    float largest[2], total[2];
  };
  /// The keys that the two rows see.
  struct Row {
    int begin[2], end[2];
  };

  /// The tangent that caps a score, about 2^-21 off: the C library's takes longer than all else.
  static __device__ __forceinline__ float capped(float dot, ScoreScale scale) {
    constexpr float twiceLog2e = 2.0f * 1.44269504f;
    const float power = powerOfTwo(dot * (twiceLog2e * scale.scale / scale.softcap));
    return __fmaf_rn(-2.0f, reciprocal(power + 1.0f), 1.0f);
  }

  /// Leaves out the keys that a row does not see; the block starts at key `first`.
  static __device__ __forceinline__ void mask(float (&scores)[scoreCount], const Row& row,
                                              int first) {
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int begin = row.begin[half] - first - 2 * t, end = row.end[half] - first - 2 * t;
#pragma unroll
      for (int i = 0; i < scoreCount; i += 4)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int key = i / 4 * 8 + c;
          if (key < begin || key >= end)
            scores[i + 2 * half + c] = minusInfinity();
        }
    }
  }

  /// Scores to weights. A weight of 1 is the largest score of the row so far, or one that `slack`
  /// powers of two are enough for. Returns by what the sums so far are to be multiplied.
  static __device__ __forceinline__ float2 weigh(float (&scores)[scoreCount], State& state,
                                                 float factor) {
    float corrections[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = minusInfinity();
#pragma unroll
      for (int i = 2 * half; i < scoreCount; i += 4)
        most = fmaxf(most, fmaxf(scores[i], scores[i + 1]));
#pragma unroll
      for (int offset = 1; offset <= 2; offset *= 2)
        most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, offset));
      if (!(most * factor > __fmaf_rn(state.largest[half], factor, slack)))
        most = state.largest[half];
      // A row that has seen no key yet.
      const float base = most == minusInfinity() ? 0.0f : -most * factor;
      corrections[half] = most == state.largest[half]
                              ? 1.0f
                              : powerOfTwo(__fmaf_rn(state.largest[half], factor, base));
      state.largest[half] = most;
      float sum = 0.0f;
#pragma unroll
      for (int i = 2 * half; i < scoreCount; i += 4)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const float weight = powerOfTwo(__fmaf_rn(scores[i + c], factor, base));
          scores[i + c] = weight;
          sum += weight;
        }
      state.total[half] = __fmaf_rn(state.total[half], corrections[half], sum);
    }
    return {corrections[0], corrections[1]};
  }
  static __device__ __forceinline__ void correct(float (&sums)[sumCount], float2 corrections) {
    if (__all_sync(0xFFFFFFFFu, corrections.x == 1.0f && corrections.y == 1.0f))
      return;
#pragma unroll
    for (int i = 0; i < sumCount; i += 4) {
      sums[i] *= corrections.x;
      sums[i + 1] *= corrections.x;
      sums[i + 2] *= corrections.y;
      sums[i + 3] *= corrections.y;
    }
  }
  static __device__ __forceinline__ void pack(unsigned (&weights)[keys / 4],
                                              const float (&scores)[scoreCount]) {
#pragma unroll
    for (int i = 0; i < keys / 4; ++i)
      weights[i] = pairFromFloat<Element>(scores[2 * i], scores[2 * i + 1]);
  }
};

} // namespace tenon
