// Where KV caches have their rows: one type for each layout of `!tenon.state` (ir/KvCache.h).
#pragma once

namespace tenon {

/// The layout `dense` of a cache [sequences, capacity, heads, size]: the positions of a sequence
/// follow each other, and the sequences.
template <int sequenceCount, int positionCount, int headCount> struct DenseCache {
  static constexpr int sequences = sequenceCount, capacity = positionCount, heads = headCount;

  /// Whether the cache has that place.
  static __device__ __forceinline__ bool holds(int sequence, int position) {
    return sequence >= 0 && sequence < sequences && position >= 0 && position < capacity;
  }
  /// Which of all positions of the cache that is.
  static __device__ __forceinline__ long long row(int sequence, int position) {
    return static_cast<long long>(sequence) * capacity + position;
  }
  /// Which of the heads of all positions, `size` elements each.
  static __device__ __forceinline__ long long headRow(int sequence, int position, int head) {
    return row(sequence, position) * heads + head;
  }
};

} // namespace tenon
