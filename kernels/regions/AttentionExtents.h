#ifndef TENON_KERNELS_REGIONS_ATTENTIONEXTENTS_H
#define TENON_KERNELS_REGIONS_ATTENTIONEXTENTS_H

#include "ir/AttentionRows.h"
#include "ir/KvCache.h"

namespace tenon::kernels {

/// Attention of queries [rows, heads, keySize], of which there are three views where the caches are
/// rings, over caches of keys [sequences, capacity, cacheHeads, keySize] and of values [sequences,
/// capacity, cacheHeads, valueSize], or over pages that hold as much.
struct AttentionExtents {
  explicit AttentionExtents(AttentionOp op) {
    llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape();
    KvCache key(op.getKey().getType(), op.getBlockTable());
    KvCache value(op.getValue().getType(), op.getBlockTable());
    AttentionRows of(op);
    rows = op.getType().getShape()[0], heads = query[1];
    sequences = of.sequences, rowsOfSequence = of.rows;
    capacity = key.capacity, cacheHeads = key.heads;
    keySize = key.size, valueSize = value.size;
    keyElement = key.elementType, valueElement = value.elementType;
  }

  int64_t rows, heads, capacity, cacheHeads, keySize, valueSize;
  int64_t sequences, rowsOfSequence; ///< whose product the rows are
  mlir::Type keyElement, valueElement;

  /// Query heads that share a head of the caches.
  int64_t sharing() const { return heads / cacheHeads; }
  /// Those of them that a block of one row takes.
  int64_t headsPerTile() const {
    int64_t taken = std::min<int64_t>(sharing(), 8);
    while (sharing() % taken != 0)
      --taken;
    return taken;
  }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_ATTENTIONEXTENTS_H
