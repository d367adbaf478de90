// Which keys a row of attention sees, and how several blocks share them.
#pragma once
#include "kv_cache.cuh"

namespace tenon {

/// What a row attends to: keys [begin, end) of `sequence`; none where begin >= end.
struct KeyRange {
  int sequence, begin, end;
};

/// The keys of a row; none for a position before the cache's or a sequence outside it.
template <typename Cache>
__device__ __forceinline__ KeyRange findKeys(int sequence, int position, bool causal, int window) {
  constexpr int capacity = Cache::capacity;
  KeyRange range = {sequence, 0, 0};
  if (position < 0 || sequence < 0 || sequence >= Cache::sequences)
    return range;
  range.begin = window > 0 && position >= window ? position - window + 1 : 0;
  range.end = causal && position < capacity ? position + 1 : capacity;
  return range;
}

/// What a row attends to in a ring: `end` keys in the order of the sequence, in places that follow
/// each other but for two jumps. First the kept ones from place 0 on, then those of the round
/// before from place capacity - `before` on, then the others from place `own` on.
struct RingKeys : KeyRange {
  int kept, before, own;
};

/// The keys of a row; none for a position before the cache's or a sequence outside it.
template <typename Cache>
__device__ __forceinline__ RingKeys findRingKeys(int sequence, int position, int window) {
  RingKeys keys = {};
  keys.sequence = sequence;
  if (position < 0 || sequence < 0 || sequence >= Cache::sequences)
    return keys;
  // Without position + 1, which a hostile position overflows.
  keys.kept = min(Cache::kept - 1, position) + 1;
  const int seen = max(min(position - Cache::kept, window - 1) + 1, 0);
  const int first = seen > 0 ? Cache::place(position) + 1 - seen : Cache::kept;
  keys.before = max(Cache::kept - first, 0);
  keys.own = max(first, Cache::kept);
  keys.end = keys.kept + seen;
  return keys;
}

/// How the keys of a row are cut: into at most `splits` parts, all but the last of one size, whole
/// steps of `step` keys and at least `least`. The row's last key, mostly its own, is not counted
/// and goes with the last part. The cut depends on the row's keys alone.
struct KeySplit {
  int keys, parts; ///< of a part, and how many

  __device__ __forceinline__ KeySplit(int count, int splits, int least, int step) {
    const int counted = max(count - 1, 1);
    keys = (counted + splits - 1) / splits;
    keys = max(least, (keys + step - 1) / step * step);
    parts = (counted + keys - 1) / keys;
  }
};

/// True in all threads of the block that arrives last of `count` blocks at `arrivals`, which is
/// zero before and after.
__device__ __forceinline__ bool arrivesLast(unsigned* arrivals, int count) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    last = atomicInc(arrivals, count - 1) == count - 1;
  __syncthreads();
  if (last)
    __threadfence();
  return last;
}

} // namespace tenon
