#ifndef TENON_IR_KVCACHE_H
#define TENON_IR_KVCACHE_H

#include "ir/Types.h"

namespace tenon {

/// A KV cache [S, C, H, D]: a state, or a tensor of four axes, which is dense. Where a row lies in
/// it is known here, to device code by codegen/cuda/device/kv_cache.cuh and to code for CPUs by
/// codegen/cpu/CacheRows.h: one case for each layout.
struct KvCache {
  /// Of a type that operations on caches have verified.
  explicit KvCache(mlir::Type type);

  int64_t sequences, capacity, heads, size;
  mlir::Type elementType;
  StateLayout layout;
  /// Of a ring, the first positions, which stay.
  int64_t kept = 0;

  /// Elements that a position has.
  int64_t rowElements() const { return heads * size; }
  /// Bytes of a head of a position.
  int64_t headBytes() const { return getEncoding(elementType)->bytesFor(size); }
  /// Whether the elements of a head share a scale (ir/encoding/CacheEncoding.h).
  bool isQuantized() const { return llvm::isa<BlockType>(elementType); }
  bool isRing() const { return layout == StateLayout::Ring; }
  /// Places that the positions behind the kept ones share.
  int64_t ring() const { return capacity - kept; }

  /// Whether the cache has a place for that position.
  bool holds(int64_t sequence, int64_t position) const {
    return sequence >= 0 && sequence < sequences && position >= 0 &&
           (isRing() || position < capacity);
  }
  /// Which of the places of its sequence a position has; a negative one as it is.
  int64_t place(int64_t position) const;
  /// Which of the heads of all places that is, `size` elements each.
  int64_t headRow(int64_t sequence, int64_t place, int64_t head) const {
    return (sequence * capacity + place) * heads + head;
  }
};

/// Rows of queries that attention over a cache of that type takes for each of its rows: over a ring
/// one for each view that `tenon.ring_places` gives, else one.
int64_t queryViewsOf(mlir::Type cache);

} // namespace tenon

#endif // TENON_IR_KVCACHE_H
