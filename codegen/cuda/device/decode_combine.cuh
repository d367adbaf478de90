// How warps and blocks combine their parts of a row's attention (online softmax).
#pragma once
#include "key_range.cuh"
#include "memory.cuh"
#include "scores.cuh"

namespace tenon {

/// Four sums of several sources, warps or blocks, each relative to its own largest exponent.
struct CombinedSums {
  float largest, total = 0.0f;
  float4 sums = {0.0f, 0.0f, 0.0f, 0.0f};

  /// Of sources whose largest exponents are `least` and the `sources` numbers `largestOf[i *
  /// stride]`.
  __device__ __forceinline__ CombinedSums(float least, int sources, const float* largestOf,
                                          int stride)
      : largest(least) {
#pragma unroll 1
    for (int first = 0; first < sources; first += batch)
#pragma unroll
      for (int i = 0; i < batch; ++i)
        largest = fmaxf(largest, largestOf[min(first + i, sources - 1) * stride]);
  }
  /// Adds a source's.
  __device__ __forceinline__ void add(float exponent, float weights, const float4& part) {
    const float weight = powerOfTwo(exponent - largest);
    total = __fmaf_rn(weight, weights, total);
    sums.x = __fmaf_rn(weight, part.x, sums.x);
    sums.y = __fmaf_rn(weight, part.y, sums.y);
    sums.z = __fmaf_rn(weight, part.z, sums.z);
    sums.w = __fmaf_rn(weight, part.w, sums.w);
  }
  /// Adds those of all sources in turn: source i has `totalOf[i * stride]` and the sums
  /// `sumsOf(i)`. What a batch has after the last source weighs nothing.
  template <typename Sums>
  __device__ __forceinline__ void addAll(int sources, const float* largestOf, const float* totalOf,
                                         int stride, Sums sumsOf) {
#pragma unroll 1
    for (int first = 0; first < sources; first += batch)
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const int source = min(first + i, sources - 1);
        add(first + i < sources ? largestOf[source * stride] : minusInfinity(),
            totalOf[source * stride], sumsOf(source));
      }
  }
  template <typename Denominator>
  __device__ __forceinline__ float4 quotient(int h, Denominator denominator) const {
    const float factor = reciprocal(denominator(total, largest, h));
    return {sums.x * factor, sums.y * factor, sums.z * factor, sums.w * factor};
  }

private:
  static constexpr int batch = 4; ///< of sources, loaded together
};

/// Combines the warps' sums and stores them where the row has one part; else leaves them with
/// `exchange`, and stores the vectors that fall to this block, of all parts in ascending order.
/// `store(h, d, sums)` takes four results of head h from element d on.
template <int heads, int valueSize, int warps, typename Attention, typename Exchange,
          typename Store, typename Denominator = TotalAlone>
__device__ __forceinline__ void finishDecode(const Attention& attention, Exchange& exchange,
                                             int part, int parts, Store store,
                                             Denominator denominator = {}) {
  constexpr int headVectors = valueSize / 4, vectors = heads * headVectors;
#pragma unroll 1
  for (int i = threadIdx.x; i < vectors; i += 32 * warps) {
    const int h = i / headVectors, d = i % headVectors * 4;
    const CombinedSums own = attention.partSums(h, d);
    if (parts == 1)
      store(h, d, own.quotient(h, denominator));
    else
      exchange.leave(part, parts, i, own);
  }
  if (parts == 1 || !exchange.collect(part, parts))
    return;
#pragma unroll 1
  for (int i = exchange.first(part, parts) + threadIdx.x; i < exchange.behind(part, parts);
       i += 32 * warps) {
    const int h = i / headVectors, d = i % headVectors * 4;
    CombinedSums all(minusInfinity(), parts, exchange.largestOf(h), exchange.stride);
    all.addAll(parts, exchange.largestOf(h), exchange.totalOf(h), exchange.stride,
               [&](int p) { return exchange.sumsOf(p, parts, i); });
    store(h, d, all.quotient(h, denominator));
  }
}

/// Parts that blocks exchange through memory of the kernel; the one that comes last has all of
/// them.
template <int heads, int valueSize, int splits, int threads> struct MemoryExchange {
  static constexpr int headVectors = valueSize / 4, vectors = heads * headVectors;
  static constexpr int stride = heads;

  struct alignas(16) Scratch { ///< of a unit
    float4 sums[splits][vectors];
    float largest[splits * heads], total[splits * heads];
  };
  struct Shared {
    float largest[splits * heads], total[splits * heads];
  };

  Scratch* scratch;
  unsigned* arrivals; ///< zero before and after
  Shared& shared;

  __device__ __forceinline__ void leave(int part, int, int i, const CombinedSums& own) {
    __stcg(&scratch->sums[part][i], own.sums);
    if (i % headVectors == 0) {
      __stcg(&scratch->largest[part * heads + i / headVectors], own.largest);
      __stcg(&scratch->total[part * heads + i / headVectors], own.total);
    }
  }
  /// True in the block that is to store the results.
  __device__ __forceinline__ bool collect(int, int parts) {
    if (!arrivesLast(arrivals, parts))
      return false;
    for (int i = threadIdx.x; i < parts * heads; i += threads) {
      shared.largest[i] = __ldcg(&scratch->largest[i]);
      shared.total[i] = __ldcg(&scratch->total[i]);
    }
    __syncthreads();
    return true;
  }
  __device__ __forceinline__ int first(int, int) const { return 0; }
  __device__ __forceinline__ int behind(int, int) const { return vectors; }
  __device__ __forceinline__ const float* largestOf(int h) const { return shared.largest + h; }
  __device__ __forceinline__ const float* totalOf(int h) const { return shared.total + h; }
  __device__ __forceinline__ float4 sumsOf(int part, int, int i) const {
    return __ldcg(&scratch->sums[part][i]);
  }
};

} // namespace tenon
