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
/// after them.
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

/// The layout `paged`: a pool [pages, heads, page, size]; a block table [sequences, capacity /
/// page] has the pages of each sequence.
template <int sequenceCount, int positionCount, int headCount, int pageCount, int pagePositions>
struct PagedCache {
  static constexpr int sequences = sequenceCount, capacity = positionCount, heads = headCount,
                       pages = pageCount, page = pagePositions;

  /// Whether a sequence has a place for that position: where `hasPage`.
  static __device__ __forceinline__ bool holds(int sequence, int position) {
    return sequence >= 0 && sequence < sequences && position >= 0 && position < capacity;
  }
  /// What the block table has of a sequence within the cache.
  static __device__ __forceinline__ const int* blocksOf(const int* blockTable, int sequence) {
    return blockTable + static_cast<long long>(sequence) * (capacity / page);
  }
  /// Whether the sequence has a page of the pool for that position.
  static __device__ __forceinline__ bool hasPage(const int* blocks, int position) {
    const int id = blocks[position / page];
    return id >= 0 && id < pages;
  }
  /// Which of the heads of all places, `size` elements each; in the last page where the sequence
  /// has none for the position, so that nothing outside the pool is read.
  static __device__ __forceinline__ long long headRow(const int* blocks, int position, int head) {
    const unsigned id = min(static_cast<unsigned>(blocks[position / page]), pages - 1u);
    return (static_cast<long long>(id) * heads + head) * page + position % page;
  }
};

/// Rows of memory that stand `stride` elements apart, of which `first` is the first.
template <typename T> struct StridedRows {
  const T* first;
  long long stride;

  __device__ __forceinline__ StridedRows from(int row) const {
    return {first + row * stride, stride};
  }
  __device__ __forceinline__ const T* at(int row) const { return first + row * stride; }
};

/// What a key head of a sequence has in a paged cache, rows of `stride` elements from position
/// `position` on.
template <typename Cache, typename T> struct PagedRows {
  const T* pool;
  const int* blocks;
  int head, stride, position;

  __device__ __forceinline__ PagedRows from(int row) const {
    return {pool, blocks, head, stride, position + row};
  }
  __device__ __forceinline__ const T* at(int row) const {
    return pool + Cache::headRow(blocks, position + row, head) * stride;
  }
};

/// What a key head of a sequence has in a cache, rows of `size` elements, as steps of keys take it:
/// `step(first, behind)` finds those of places [first, behind), of at most as many as a page has.
template <typename Cache, typename T, int size> struct HeadRows {
  const T* first;

  static constexpr long long stride = static_cast<long long>(Cache::heads) * size;

  __device__ __forceinline__ HeadRows step(int, int) const { return *this; }
  /// Whether a step's rows lie `stride` elements apart up to place `behind`.
  static __device__ __forceinline__ bool isRun(int) { return true; }
  __device__ __forceinline__ const T* at(int place) const { return first + place * stride; }
};

/// In pages: a step's keys lie in one, or in two where the range begins within a page.
template <int sequences, int capacity, int heads, int pages, int page, typename T, int size>
struct HeadRows<PagedCache<sequences, capacity, heads, pages, page>, T, size> {
  using Cache = PagedCache<sequences, capacity, heads, pages, page>;
  const T* pool;
  const int* blocks;
  int head;

  struct Step {
    const T *first, *second; ///< the head's rows in the page of the first place, of the last one
    int border;              ///< the first place of the second page

    static constexpr long long stride = size;
    __device__ __forceinline__ bool isRun(int behind) const { return behind <= border; }
    __device__ __forceinline__ const T* at(int place) const {
      return (place < border ? first : second) + place % page * size;
    }
  };
  __device__ __forceinline__ const T* rowsOf(int place) const {
    return pool + Cache::headRow(blocks, place / page * page, head) * size;
  }
  __device__ __forceinline__ Step step(int first, int behind) const {
    return {rowsOf(first), rowsOf(behind - 1), (first / page + 1) * page};
  }
  __device__ __forceinline__ const T* at(int place) const {
    return pool + Cache::headRow(blocks, place, head) * size;
  }
};

} // namespace tenon
