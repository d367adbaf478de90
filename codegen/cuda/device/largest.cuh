// The index of the largest element of each of a few rows, parts of which blocks compute.
//
// A candidate is a key of 64 bits, the value in an order of unsigned integers above and the
// complement of the index below: the largest key is the largest value, and of equal ones the lowest
// index. The key of a NaN is above those of all numbers, and the index of a row that has one is -1.
// So the result does not depend on the order of blocks.
#pragma once

namespace tenon {

// The first `searchers` threads of a block, whole warps, offer elements and finish; 0: all do.
template <int rows, int searchers> struct alignas(16) LargestSearch { // in shared memory
  unsigned long long keys[rows];                                      // 0: none yet
  unsigned isLast;
  static constexpr unsigned nanBits = 0xFFFFFFFFu;

  static __device__ __forceinline__ int threads() { return searchers ? searchers : blockDim.x; }
  // Of a part of a block by barrier 1, which kernels of such blocks leave free.
  static __device__ __forceinline__ void meet() {
    if constexpr (searchers == 0)
      __syncthreads();
    else
      asm volatile("bar.sync %0, %1;" ::"r"(1), "n"(searchers) : "memory");
  }

  __device__ __forceinline__ void clear() {
    for (int i = threadIdx.x; i < rows; i += blockDim.x)
      keys[i] = 0;
    __syncthreads();
  }

  static __device__ __forceinline__ unsigned long long keyOf(float value, int index) {
    const unsigned bits = __float_as_uint(value + 0.0f); // zeros of either sign are equal
    const unsigned ordered = value != value    ? nanBits
                             : bits >> 31 != 0 ? ~bits
                                               : bits | 0x80000000u;
    return static_cast<unsigned long long>(ordered) << 32 | ~static_cast<unsigned>(index);
  }

  // Offers the first `valid` of the values at `column` and after it.
  template <int width>
  __device__ __forceinline__ void offer(long long row, int column, const float (&values)[width],
                                        int valid) {
    unsigned long long key = 0;
#pragma unroll
    for (int j = 0; j < width; ++j)
      if (j < valid)
        key = max(key, keyOf(values[j], column + j));
    if (key > *const_cast<volatile unsigned long long*>(&keys[row]))
      atomicMax(&keys[row], key);
  }

  // When the last of `tiles` blocks comes here, it stores the index of each row, and leaves `best`
  // and `arrivals` as they were before the first: zero.
  template <typename Store>
  __device__ __forceinline__ void finish(unsigned long long* best, unsigned* arrivals,
                                         unsigned tiles, Store store) {
    if (searchers != 0 && threadIdx.x >= searchers)
      return;
    meet();
    for (int i = threadIdx.x; i < rows; i += threads())
      atomicMax(&best[i], keys[i]);
    __threadfence();
    meet();
    if (threadIdx.x == 0)
      isLast = atomicAdd(arrivals, 1u) == tiles - 1;
    meet();
    if (!isLast)
      return;
    __threadfence();
    for (int i = threadIdx.x; i < rows; i += threads()) {
      const unsigned long long key = atomicExch(&best[i], 0ull);
      store(i, key >> 32 == nanBits ? -1 : static_cast<int>(~static_cast<unsigned>(key)));
    }
    if (threadIdx.x == 0)
      *arrivals = 0;
  }
};

} // namespace tenon
