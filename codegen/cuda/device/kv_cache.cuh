// Where KV caches have their rows: one type for each layout of `!tenon.state` (ir/KvCache.h).
#pragma once

namespace tenon {

/// The layout `dense` of a cache [sequences, capacity, heads, size]: the positions of a sequence
/// follow each other, and the sequences.
template <int sequenceCount, int positionCount, int headCount> struct DenseCache {
  static constexpr int sequences = sequenceCount, capacity = positionCount, heads = headCount;

  /// Whether the cache has a place for that position.
  static __device__ __forceinline__ bool holds(int sequence, int position) {
    return sequence >= 0 && sequence < sequences && position >= 0 && position < capacity;
  }
  /// Which of the places of its sequence a position has.
  static __device__ __forceinline__ int place(int position) { return position; }
  /// Which of all places of the cache that is.
  static __device__ __forceinline__ long long row(int sequence, int place) {
    return static_cast<long long>(sequence) * capacity + place;
  }
  /// Which of the heads of all places, `size` elements each.
  static __device__ __forceinline__ long long headRow(int sequence, int place, int head) {
    return row(sequence, place) * heads + head;
  }
};

/// The layout `ring`: the first `keptCount` positions stay, the others take turns in the places
/// behind them.
template <int sequenceCount, int placeCount, int headCount, int keptCount>
struct RingCache : DenseCache<sequenceCount, placeCount, headCount> {
  static constexpr int kept = keptCount, ring = placeCount - keptCount;

  static __device__ __forceinline__ bool holds(int sequence, int position) {
    return sequence >= 0 && sequence < sequenceCount && position >= 0;
  }
  static __device__ __forceinline__ int place(int position) {
    return position < kept ? position : kept + (position - kept) % ring;
  }
};

} // namespace tenon
