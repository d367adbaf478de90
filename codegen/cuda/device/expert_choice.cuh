// The choice of a mixture of experts by a warp.
#pragma once
#include "memory.cuh"
#include "reduce.cuh"

namespace tenon {

/// The softmax of a row of `experts` scores in the registers of a warp, its largest elements, and
/// their weights. The softmax adds 128 lanes in one chunk, halved, as the kernel of softmax does.
///
/// Maxima are those of integers in the order of the numbers, which one instruction finds over a
/// warp (redux.sync), where shuffles would take five and as many comparisons.
template <int experts, int chosen> struct ExpertChoice {
  static constexpr int width = 4, vectors = (experts + 32 * width - 1) / (32 * width);
  static constexpr unsigned all = 0xFFFFFFFFu;

  float shares[vectors][width];
  float values[chosen]; ///< of the best, in every thread
  Ranked own;           ///< the best but as many as the thread's number, where that is one of them

  static __device__ __forceinline__ int column(int i, int j) {
    return (i * 32 + threadIdx.x % 32) * width + j;
  }
  static __device__ __forceinline__ bool exists(int i, int j) {
    return experts % (32 * width) == 0 || column(i, j) < experts;
  }

  /// Integers in the order of numbers, -0 below +0, NaN above all; and the number of one.
  static __device__ __forceinline__ int rankOf(float value) {
    const int bits = static_cast<int>(__float_as_uint(value));
    return value != value ? 0x7FFFFFFF : bits < 0 ? bits ^ 0x7FFFFFFF : bits;
  }
  static __device__ __forceinline__ float ofRank(int rank) {
    return __uint_as_float(static_cast<unsigned>(rank < 0 ? rank ^ 0x7FFFFFFF : rank));
  }

  static __device__ __forceinline__ float below() { return __uint_as_float(0xFF800000u); }

  /// Asks for the scores; no thread waits for them.
  __device__ __forceinline__ void load(const float* scores) {
#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      const int valid = experts - column(i, 0);
      if (experts % width != 0 || valid <= 0)
        loadPart(shares[i], scores + column(i, 0), valid, below());
      else
        loadVector(shares[i], scores + column(i, 0));
    }
  }

  __device__ __forceinline__ void soften() {
    int rank = rankOf(below());
#pragma unroll
    for (int i = 0; i < vectors; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j)
        rank = max(rank, rankOf(shares[i][j]));
    const float largest = ofRank(__reduce_max_sync(all, rank));
    float sums[width] = {};
#pragma unroll
    for (int i = 0; i < vectors; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j) {
        // Of what is not there nothing is read; its division, unlike one of 0, is short.
        shares[i][j] = exists(i, j) ? expf(shares[i][j] - largest) : 1.0f;
        if (exists(i, j))
          sums[j] += shares[i][j];
      }
    const float total = combineWarpLanes(sums);
#pragma unroll
    for (int i = 0; i < vectors; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j)
        shares[i][j] /= total;
  }

  /// Finds the best, one after the other: of equal ones the lowest index, NaN last. A share, which
  /// has no sign, counts as its bits and 2, NaN as 1, what is taken or not there as 0. Each thread
  /// has its own in order, so that what it offers next is known as soon as one is taken.
  __device__ __forceinline__ void search() {
    constexpr int count = vectors * width;
    int keys[count], columns[count];
#pragma unroll
    for (int i = 0; i < vectors; ++i)
#pragma unroll
      for (int j = 0; j < width; ++j) {
        const float share = shares[i][j];
        keys[i * width + j] = !exists(i, j) ? 0 : share != share ? 1 : rankOf(share) + 2;
        columns[i * width + j] = column(i, j);
      }
#pragma unroll
    for (int end = count - 1; end > 0; --end)
#pragma unroll
      for (int i = 0; i < end; ++i) {
        const bool swaps = keys[i + 1] > keys[i];
        const int key = keys[i], column = columns[i];
        keys[i] = max(key, keys[i + 1]), keys[i + 1] = min(key, keys[i + 1]);
        columns[i] = swaps ? columns[i + 1] : column;
        columns[i + 1] = swaps ? column : columns[i + 1];
      }
    const unsigned lowerLanes = (1u << threadIdx.x % 32) - 1;
#pragma unroll
    for (int rank = 0; rank < chosen; ++rank) {
      const int largest = __reduce_max_sync(all, keys[0]);
      const bool isOffered = keys[0] == largest;
      const int index = __reduce_min_sync(all, isOffered ? columns[0] : experts);
      const unsigned offered = __ballot_sync(all, isOffered);
      // Threads of one vector have their columns in order: none waits for the index.
      const bool isTaken =
          isOffered && (vectors == 1 ? (offered & lowerLanes) == 0 : columns[0] == index);
#pragma unroll
      for (int i = 0; i < count; ++i) {
        keys[i] = !isTaken ? keys[i] : i + 1 < count ? keys[i + 1 < count ? i + 1 : i] : 0;
        columns[i] = isTaken && i + 1 < count ? columns[i + 1 < count ? i + 1 : i] : columns[i];
      }
      values[rank] = ofRank(largest > 1 ? largest - 2 : 0x7FFFFFFF);
      if (threadIdx.x % 32 == rank)
        own = {values[rank], index};
    }
  }

  /// The sum of the best by halving, as many lanes as there are of them, or more, which adds zeros.
  __device__ __forceinline__ float sum() const {
    constexpr int lanes = chosen > 16 ? 32 : chosen > 8 ? 16 : chosen > 4 ? 8 : chosen > 2 ? 4 : 2;
    float sums[lanes];
#pragma unroll
    for (int i = 0; i < lanes; ++i)
      sums[i] = i < chosen ? values[i < chosen ? i : 0] : 0.0f;
#pragma unroll
    for (int half = lanes / 2; half >= 1; half /= 2)
#pragma unroll
      for (int i = 0; i < half; ++i)
        sums[i] += sums[i + half];
    return sums[0];
  }
};

} // namespace tenon
