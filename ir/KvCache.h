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

  /// Elements that a position has.
  int64_t rowElements() const { return heads * size; }
  /// Whether the cache has that place.
  bool holds(int64_t sequence, int64_t position) const {
    return sequence >= 0 && sequence < sequences && position >= 0 && position < capacity;
  }
  /// Which of the heads of all positions that is, `size` elements each.
  int64_t headRow(int64_t sequence, int64_t position, int64_t head) const;
};

} // namespace tenon

#endif // TENON_IR_KVCACHE_H
