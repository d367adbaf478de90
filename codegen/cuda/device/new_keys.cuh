// Keys and values of single rows that a kernel of attention makes itself.
#pragma once
#include "types.cuh"

namespace tenon {

/// Which keys and values of a row's sequence the kernel makes itself, of `rows` rows of the call:
/// those are in shared memory, and not yet or only just in the cache. Usually the row's own, at the
/// end of its keys; those of other rows, too, where the call has several of one sequence.
template <int rows> struct NewKeys {
  int own;     ///< the row
  int place;   ///< of its key; -1: it has none in the cache
  bool others; ///< whether `places` counts
  int* places; ///< in shared memory: of the sequence's rows; -1 for rows of another one

  /// The row whose key is at `position`, the last one if there are several; -1: it is in the cache.
  __device__ __forceinline__ int find(int position) const {
    if (!others)
      return position == place ? own : -1;
    int row = rows - 1;
#pragma unroll 1
    while (row >= 0 && places[row] != position)
      --row;
    return row;
  }
  /// Whether there may be one in [first, behind).
  __device__ __forceinline__ bool mayContain(int first, int behind) const {
    return others || (place >= first && place < behind);
  }
};
template <> struct NewKeys<0> {
  __device__ __forceinline__ int find(int) const { return -1; }
  __device__ __forceinline__ bool mayContain(int, int) const { return false; }
};

/// The first place of a sequence that the call's `rows` rows may write, of their `positions`; the
/// same in the whole warp.
template <int rows, typename SequenceOf>
__device__ __forceinline__ int firstWritten(int sequence, const int* positions,
                                            SequenceOf sequenceOf) {
  int first = 0x7FFFFFFF;
#pragma unroll 4
  for (int row = threadIdx.x % 32; row < rows; row += 32)
    if (const int position = positions[row]; position >= 0 && sequenceOf(row) == sequence)
      first = min(first, position);
  return __reduce_min_sync(0xFFFFFFFFu, first);
}

/// A head of `size` elements on its way from memory through its warp, as it comes: a lane has the
/// pairs lane + 32 i of `turned` that rope turns, `adjacent` elements or as many apart as there are
/// pairs, and what stands after those; without pairs 8 elements, of at most 256.
template <typename T, int size, int turned, bool adjacent> struct HeadOfWarp {
  static constexpr int rest = size - 2 * turned;
  struct alignas(2 * sizeof(T)) Pair {
    T first, second;
  };
  Pair pairs[turned > 0 ? (turned + 31) / 32 : 1];
  T others[rest > 0 ? (rest + 31) / 32 : 1]; ///< beside pairs
  uint4 whole;                               ///< without pairs

  __device__ __forceinline__ void load(const T* source) {
    const int lane = threadIdx.x % 32;
    if (turned == 0) {
      if (8 * lane < size)
        whole = reinterpret_cast<const uint4*>(source)[lane];
      return;
    }
#pragma unroll
    for (int i = 0; i < (turned + 31) / 32; ++i)
      if (const int pair = lane + 32 * i; pair < turned)
        pairs[i] = adjacent ? reinterpret_cast<const Pair*>(source)[pair]
                            : Pair{source[pair], source[pair + turned]};
#pragma unroll
    for (int i = 0; i < (rest + 31) / 32; ++i)
      if (const int k = lane + 32 * i; k < rest)
        others[i] = source[2 * turned + k];
  }
  /// What rope leaves as it is, all without pairs.
  __device__ __forceinline__ void storeRest(T* target) const {
    const int lane = threadIdx.x % 32;
    if (turned == 0) {
      if (8 * lane < size)
        reinterpret_cast<uint4*>(target)[lane] = whole;
      return;
    }
#pragma unroll
    for (int i = 0; i < (rest + 31) / 32; ++i)
      if (const int k = lane + 32 * i; k < rest)
        target[2 * turned + k] = others[i];
  }
};

} // namespace tenon
