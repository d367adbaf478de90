// Scores of attention: their scale and what is added to them, their exponentials, and what weights
// are divided by.
#pragma once
#include "types.cuh"

namespace tenon {

/// 1 / x, at most one unit in the last place off, for a total of weights: 1 or more.
__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// How dot products become scores, and scores exponents of two: capped where `softcap` > 0, times
/// `factor`, which is positive.
struct ScoreScale {
  float scale, softcap;

  static constexpr bool mayHide = false; ///< whether a score may be -inf

  /// Of a key and one of a thread's items, rows or heads.
  __device__ __forceinline__ float score(float dot, int, int) const {
    return softcap > 0.0f ? softcap * tanhf(dot * scale / softcap) : dot;
  }
  __device__ __forceinline__ float factor() const {
    constexpr float log2e = 1.44269504f;
    return softcap > 0.0f ? log2e : scale * log2e;
  }
};

__device__ __forceinline__ float minusInfinity() { return __uint_as_float(0xff800000u); }

/// Relative to this or more a score of -inf has no weight: the largest score where all are hidden.
__device__ __forceinline__ float leastLargest() { return -3.40282347e38f; }

/// Exponents of two of scores with `added(item, key)`. They are no less than -1e38, so that their
/// differences are exact, but for -inf.
template <typename Added> struct AddedScores {
  ScoreScale scale;
  Added added;
  static constexpr bool mayHide = true;

  __device__ __forceinline__ float score(float dot, int item, int key) const {
    constexpr float log2e = 1.44269504f, least = -1e38f;
    const float capped = scale.softcap > 0.0f ? scale.score(dot, item, key) : dot * scale.scale;
    const float sum = capped + added(item, key);
    return sum == minusInfinity() ? sum : fmaxf(sum * log2e, least);
  }
  __device__ __forceinline__ float factor() const { return 1.0f; }
};
template <typename Added>
__device__ __forceinline__ AddedScores<Added> addScores(ScoreScale scale, Added added) {
  return {scale, added};
}

/// What is added to scores that nothing is added to.
struct NothingAdded {
  __device__ __forceinline__ float operator()(int, int) const { return 0.0f; }
};
template <typename Added> constexpr bool addsScores = true;
template <> inline constexpr bool addsScores<NothingAdded> = false;

/// What sums of weighted values are divided by, of a total and the largest score or exponent of an
/// item: the total.
struct TotalAlone {
  __device__ __forceinline__ float operator()(float total, float, int) const { return total; }
};

} // namespace tenon
