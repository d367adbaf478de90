// The choice of a mixture of experts by a warp.
#pragma once
#include "reduce.cuh"

namespace tenon {

/// The softmax of a row of `experts` scores in the registers of a warp, its largest elements, and
/// their weights. The softmax adds 128 lanes in one chunk, halved, as the kernel of softmax does.
template <int experts, int chosen> struct ExpertChoice {
  static constexpr int width = 4, vectors = (experts + 32 * width - 1) / (32 * width);

  float shares[vectors][width];
  Ranked best[chosen];

  static __device__ __forceinline__ int column(int i, int j) {
    return (i * 32 + threadIdx.x % 32) * width + j;
  }

  __device__ __forceinline__ void soften(const float* scores) {
    float largest = __uint_as_float(0xff800000u);
#pragma unroll
    for (int i = 0; i < vectors; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j)
        if (column(i, j) < experts) {
          shares[i][j] = scores[column(i, j)];
          largest = maximum(largest, shares[i][j]);
        }
    largest = combineThreads<32>(largest, Maximum(), nullptr);
    float sums[width] = {};
#pragma unroll
    for (int i = 0; i < vectors; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j)
        if (column(i, j) < experts)
          sums[j] += expf(shares[i][j] - largest);
    const float total = combineWarpLanes(sums);
#pragma unroll
    for (int i = 0; i < vectors; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j)
        if (column(i, j) < experts)
          shares[i][j] = expf(shares[i][j] - largest) / total;
  }

  /// Each search takes what comes after the one before.
  __device__ __forceinline__ void search() {
    Ranked last = {0.0f, -1};
#pragma unroll
    for (int rank = 0; rank < chosen; ++rank) {
      Ranked found = {0.0f, -1};
#pragma unroll
      for (int i = 0; i < vectors; ++i)
#pragma unroll
        for (int j = 0; j < width; ++j) {
          const Ranked candidate = {shares[i][j], column(i, j)};
          if (candidate.index < experts && (rank == 0 || ranksBefore(last, candidate)) &&
              ranksBefore(candidate, found))
            found = candidate;
        }
#pragma unroll
      for (int offset = 16; offset >= 1; offset /= 2) {
        const Ranked other = {__shfl_xor_sync(0xFFFFFFFFu, found.value, offset),
                              __shfl_xor_sync(0xFFFFFFFFu, found.index, offset)};
        if (ranksBefore(other, found))
          found = other;
      }
      best[rank] = last = found;
    }
  }

  /// The sum of the best by halving, as many lanes as there are of them, or more.
  __device__ __forceinline__ float sum() const {
    float lanes[32];
#pragma unroll
    for (int i = 0; i < 32; ++i)
      lanes[i] = i < chosen ? best[i < chosen ? i : 0].value : 0.0f;
#pragma unroll
    for (int half = 16; half >= 1; half /= 2)
#pragma unroll
      for (int i = 0; i < half; ++i)
        lanes[i] += lanes[i + half];
    return lanes[0];
  }
};

} // namespace tenon
