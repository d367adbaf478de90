#ifndef TENON_CODEGEN_CPU_CACHEROWS_H
#define TENON_CODEGEN_CPU_CACHEROWS_H

#include "codegen/cpu/VectorBuilder.h"
#include "ir/KvCache.h"

namespace tenon::codegen::cpu {

/// Whether `cache` has a place for the position of the sequence (i64 values), as an i1; in a paged
/// cache where `emitHasPage`.
mlir::Value emitHolds(VectorBuilder& b, const KvCache& cache, mlir::Value sequence,
                      mlir::Value position);
/// Which of the places of its sequence a position has that the cache holds (i64 values).
mlir::Value emitPlace(VectorBuilder& b, const KvCache& cache, mlir::Value position);
/// Whether the block table at `blockTable` has a page of the pool for a place of a sequence, as an
/// i1. Of a paged cache.
mlir::Value emitHasPage(VectorBuilder& b, const KvCache& cache, mlir::Value blockTable,
                        mlir::Value sequence, mlir::Value place);
/// The address of a place of a sequence (i64 values) in the cache at `base`, which is not paged.
/// One outside the cache is not read or written.
mlir::Value emitCacheRow(VectorBuilder& b, const KvCache& cache, mlir::Value base,
                         mlir::Value sequence, mlir::Value place);
/// Where the heads of a cache lie.
struct CacheAddress {
  mlir::Value base;
  mlir::Value blockTable; ///< of a paged cache, else null
};
/// The address of one head of a place, in a paged cache in its last page where the block table has
/// none for it.
mlir::Value emitCacheHead(VectorBuilder& b, const KvCache& cache, CacheAddress address,
                          mlir::Value sequence, mlir::Value place, mlir::Value head);

/// `count` elements of the head at `head` from element `first` (i64) on, as f32 padded to `lanes`; of
/// a cache of quants without their scale.
mlir::Value loadCacheFloats(VectorBuilder& b, const KvCache& cache, mlir::Value head,
                            mlir::Value first, int64_t count, int64_t lanes);
/// What they are to be multiplied with, an f32; null where that is nothing.
mlir::Value loadCacheScale(VectorBuilder& b, const KvCache& cache, mlir::Value head);
/// Encodes the elements of type `element` at `source` as the head at `head` of a cache of quants.
void storeQuantizedHead(VectorBuilder& b, const KvCache& cache, mlir::Type element,
                        mlir::Value source, mlir::Value head);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_CACHEROWS_H
