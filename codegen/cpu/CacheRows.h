#ifndef TENON_CODEGEN_CPU_CACHEROWS_H
#define TENON_CODEGEN_CPU_CACHEROWS_H

#include "codegen/cpu/VectorBuilder.h"
#include "ir/KvCache.h"

namespace tenon::codegen::cpu {

/// Whether `cache` has the position of the sequence (i64 values), as an i1.
mlir::Value emitHolds(VectorBuilder& b, const KvCache& cache, mlir::Value sequence,
                      mlir::Value position);
/// The address of a position of a sequence (i64 values) in the cache at `base`. One outside the
/// cache is not read or written.
mlir::Value emitCacheRow(VectorBuilder& b, const KvCache& cache, mlir::Value base,
                         mlir::Value sequence, mlir::Value position);
/// The address of one head of it.
mlir::Value emitCacheHead(VectorBuilder& b, const KvCache& cache, mlir::Value base,
                          mlir::Value sequence, mlir::Value position, mlir::Value head);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_CACHEROWS_H
