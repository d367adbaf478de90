#ifndef TENON_IR_KVCACHE_H
#define TENON_IR_KVCACHE_H

#include "ir/Types.h"

namespace tenon {

/// A KV cache: a state [S, C, H, D], a paged one [N, H, P, D] with its block table [S, B], or a
/// tensor of four axes, which is dense. Where a row lies in it is known here, to device code by
/// codegen/cuda/device/kv_cache.cuh and to code for CPUs by codegen/cpu/CacheRows.h: one case for
/// each layout.
struct KvCache {
  /// Of a type that operations on caches have verified. What has no block table at hand leaves the
  /// sequences and the capacity of a paged cache at 0.
  explicit KvCache(mlir::Type type, mlir::Value blockTable = {});

  int64_t sequences = 0, capacity = 0, heads, size;
  mlir::Type elementType;
  StateLayout layout;
  /// Of a ring, the first positions, which stay.
  int64_t kept = 0;
  /// Of a paged cache, the pages of the pool and the positions of each.
  int64_t pages = 0, page = 0;

  /// Elements that a position has.
  int64_t rowElements() const { return heads * size; }
  /// Bytes of a head of a position.
  int64_t headBytes() const { return getEncoding(elementType)->bytesFor(size); }
  /// Whether the elements of a head share a scale (ir/encoding/CacheEncoding.h).
  bool isQuantized() const { return llvm::isa<BlockType>(elementType); }
  bool isRing() const { return layout == StateLayout::Ring; }
  bool isPaged() const { return layout == StateLayout::Paged; }
  /// Places that the positions after the kept ones share.
  int64_t ring() const { return capacity - kept; }
  /// Places of all sequences together.
  int64_t places() const { return isPaged() ? pages * page : sequences * capacity; }
  /// Pages of a sequence of a paged cache.
  int64_t blocks() const { return capacity / page; }

  /// Whether a sequence has a place for that position; in a paged cache where `hasPage`.
  bool holds(int64_t sequence, int64_t position) const {
    return sequence >= 0 && sequence < sequences && position >= 0 &&
           (isRing() || position < capacity);
  }
  /// Which of the places of its sequence a position has; a negative one as it is.
  int64_t place(int64_t position) const;
  /// Whether the entry of a block table for a place names a page of the pool; true without pages.
  bool hasPage(int64_t sequence, int64_t place, llvm::ArrayRef<double> blockTable) const;
  /// Which of the heads of all places that is, `size` elements each. An entry of the block table
  /// that names no page of the pool means the last one.
  int64_t headRow(int64_t sequence, int64_t place, int64_t head,
                  llvm::ArrayRef<double> blockTable) const;
};

/// Rows of queries that attention over a cache of that type takes for each of its rows: over a ring
/// one for each view that `tenon.ring_places` gives, else one.
int64_t queryViewsOf(mlir::Type cache);

/// A paged cache, and no other, has a block table [S, B] of i32, B · P within 31 bits. `blockTable`
/// may be null.
mlir::LogicalResult verifyBlockTable(std::optional<mlir::Location> location,
                                     llvm::StringRef operation, mlir::Type cache,
                                     mlir::Value blockTable);

} // namespace tenon

#endif // TENON_IR_KVCACHE_H
