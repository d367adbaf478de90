// Scores of attention on tensor cores: their scale, exponentials, and weights as 16-bit factors.
#pragma once
#include "types.cuh"

namespace tenon {

/// 2^x: as all exponentials here have their argument scaled by log2(e).
__device__ __forceinline__ float powerOfTwo(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

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

  __device__ __forceinline__ float score(float dot) const {
    return softcap > 0.0f ? softcap * tanhf(dot * scale / softcap) : dot;
  }
  __device__ __forceinline__ float factor() const {
    constexpr float log2e = 1.44269504f;
    return softcap > 0.0f ? log2e : scale * log2e;
  }
};

__device__ __forceinline__ float minusInfinity() { return __uint_as_float(0xff800000u); }

} // namespace tenon
