// Walsh-Hadamard transforms.
#pragma once
#include "types.cuh"

namespace tenon {

/// Transforms each run of `run` numbers, a power of two, of the `size` in shared memory, by the
/// lanes of a warp, and multiplies them with `factor`; rounds them to T. Sums and differences of
/// numbers 1 apart first, then of those 2 apart and so on.
template <typename T, int size, int run>
__device__ __forceinline__ void transformRuns(float* values, float factor) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int offset = 1; offset < run; offset *= 2) {
    for (int i = lane; i < size / 2; i += 32) {
      float* const low = values + i / offset * 2 * offset + i % offset;
      const float a = low[0], b = low[offset];
      low[0] = a + b, low[offset] = a - b;
    }
    __syncwarp();
  }
  for (int i = lane; i < size; i += 32)
    values[i] = roundTo<T>(values[i] * factor);
  __syncwarp();
}

} // namespace tenon
