// Reductions over the threads that share a row: a warp, or a block of a power of two of warps.
#pragma once
#include "types.cuh"

namespace tenon {

/// The sums over the threads of a warp of `count` values each, a power of two, by halving: thread t
/// gets that of value t / (32 / count), in the same order for any count. While a thread holds
/// several values, it hands half of them to its partner and takes the partner's other half.
template <int count> __device__ __forceinline__ float sumOverWarp(float (&values)[count]) {
  const int lane = threadIdx.x % 32;
  int offset = 16;
#pragma unroll
  for (int half = count / 2; half >= 1; half /= 2, offset /= 2) {
    const bool upper = lane & offset;
#pragma unroll
    for (int e = 0; e < half; ++e) {
      const float given = upper ? values[e] : values[e + half];
      const float kept = upper ? values[e + half] : values[e];
      values[e] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, offset);
    }
  }
  float sum = values[0];
#pragma unroll
  for (; offset >= 1; offset /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
  return sum;
}

/// The sum of the lanes of a warp by halving, thread t holding lanes width * t ...; every thread
/// gets it, for width + 4 shuffles instead of 5 * width.
template <int width> __device__ __forceinline__ float combineWarpLanes(float (&sums)[width]) {
  float sum = sumOverWarp(sums);
  // Now over the sums that a thread began with, which lie in threads 16, 8, ... apart.
  int apart = 16;
#pragma unroll
  for (int half = width / 2; half >= 1; half /= 2, apart /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, apart);
  return sum;
}

/// Combines lane sums by halving (#tenon.order, tree = halving): thread t of `group` holds lanes
/// width * t ... width * t + width - 1; the tree adds lane i + n/2 to lane i. Every thread gets the
/// sum. `shared` holds group * width floats for a block, nothing for a warp; one buffer may serve
/// again only after a barrier.
template <int group, int width>
__device__ __forceinline__ float combineLanes(float (&sums)[width], float* shared) {
  constexpr int warps = group / 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warps > 1) {
#pragma unroll
    for (int e = 0; e < width; ++e)
      shared[(warp * width + e) * 32 + lane] = sums[e];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < width; ++e) {
      float parts[warps];
#pragma unroll
      for (int w = 0; w < warps; ++w)
        parts[w] = shared[(w * width + e) * 32 + lane];
#pragma unroll
      for (int half = warps / 2; half >= 1; half /= 2)
#pragma unroll
        for (int w = 0; w < half; ++w)
          parts[w] += parts[w + half];
      sums[e] = parts[0];
    }
  }
  return combineWarpLanes(sums);
}

/// Combines `lanes` lane sums in shared memory by halving, a multiple of 32 and a power of two;
/// every thread gets the sum, each warp on its own.
template <int lanes> __device__ __forceinline__ float combineShared(const float* sums) {
  constexpr int own = lanes / 32;
  float parts[own];
#pragma unroll
  for (int i = 0; i < own; ++i)
    parts[i] = sums[32 * i + threadIdx.x % 32];
#pragma unroll
  for (int half = own / 2; half >= 1; half /= 2)
#pragma unroll
    for (int i = 0; i < half; ++i)
      parts[i] += parts[i + half];
  float sum = parts[0];
#pragma unroll
  for (int offset = 16; offset >= 1; offset /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
  return sum;
}

/// Combines 64 * pairs lane sums of a warp by halving, thread t holding lanes 64 * i + 2 * t and
/// the next; every thread gets the sum. The same bits as combineWarpLanes with vectors, for half of
/// its shuffles.
template <int pairs> __device__ __forceinline__ float combineWarpPairs(float (&sums)[pairs][2]) {
#pragma unroll
  for (int half = pairs / 2; half >= 1; half /= 2)
#pragma unroll
    for (int i = 0; i < half; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        sums[i][j] += sums[i + half][j];
  return combineWarpLanes(sums[0]);
}

/// A barrier of the `group` threads, whole warps, that share a row; a block has at most 15 such
/// groups.
template <int group> __device__ __forceinline__ void syncGroup() {
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.x / group + 1), "n"(group) : "memory");
}

/// Adds the sums of chunks, 16-byte aligned in shared memory, in ascending order; every thread gets
/// the sum.
template <int chunks> __device__ __forceinline__ float addChunks(const float* sums) {
  float sum = 0.0f;
#pragma unroll
  for (int first = 0; first < chunks; first += 4) {
    const float4 four = *reinterpret_cast<const float4*>(sums + first);
    const float parts[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (first + i < chunks)
        sum = first + i == 0 ? parts[0] : sum + parts[i];
  }
  return sum;
}

struct Maximum {
  __device__ __forceinline__ float operator()(float a, float b) const { return maximum(a, b); }
};
struct Minimum {
  __device__ __forceinline__ float operator()(float a, float b) const { return minimum(a, b); }
};

/// Combines one value of each thread by an operation whose order does not matter. `shared` holds
/// group / 32 floats.
template <int group, typename Combine>
__device__ __forceinline__ float combineThreads(float value, Combine combine, float* shared) {
#pragma unroll
  for (int offset = 16; offset >= 1; offset /= 2)
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFu, value, offset));
  if (group > 32) {
    if (threadIdx.x % 32 == 0)
      shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
#pragma unroll
    for (int w = 1; w < group / 32; ++w)
      value = combine(value, shared[w]);
  }
  return value;
}

/// A candidate for the largest element of a row.
struct Ranked {
  float value;
  int index; // -1: none
};

/// True where `a` comes before `b` in descending order: NaN last, the lower index first.
__device__ __forceinline__ bool ranksBefore(Ranked a, Ranked b) {
  if (a.index < 0 || b.index < 0)
    return a.index >= 0;
  if (a.value > b.value || a.value < b.value)
    return a.value > b.value;
  const bool aIsNan = a.value != a.value, bIsNan = b.value != b.value;
  return aIsNan != bIsNan ? bIsNan : a.index < b.index;
}

/// The first of one candidate of each of `lanes` lanes that follow each other, a power of two.
template <int lanes> __device__ __forceinline__ Ranked firstOfLanes(Ranked best) {
#pragma unroll
  for (int offset = lanes / 2; offset >= 1; offset /= 2) {
    const Ranked other = {__shfl_xor_sync(0xFFFFFFFFu, best.value, offset),
                          __shfl_xor_sync(0xFFFFFFFFu, best.index, offset)};
    if (ranksBefore(other, best))
      best = other;
  }
  return best;
}

/// The first of one candidate of each thread of a block; `shared` holds group / 32 entries and may
/// serve again only after a barrier.
template <int group> __device__ __forceinline__ Ranked firstRanked(Ranked best, Ranked* shared) {
  best = firstOfLanes<32>(best);
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = best;
  __syncthreads();
  constexpr int warps = group / 32;
  constexpr int lanes = warps > 16 ? 32 : warps > 8 ? 16 : warps > 4 ? 8 : warps > 2 ? 4 : warps;
  const int warp = threadIdx.x % lanes;
  return firstOfLanes<lanes>(warp < warps ? shared[warp] : Ranked{0.0f, -1});
}

} // namespace tenon
