#ifndef TENON_KERNELS_CPU_KVWRITE_H
#define TENON_KERNELS_CPU_KVWRITE_H

#include "kernels/cpu/CpuKernelKind.h"

namespace tenon::kernels::cpu {

/// Tiles of a part of every row.
struct KvWriteSchedule {
  int64_t tiles = 0;
  int64_t bytesPerTile = 0; ///< of a row

  static constexpr Parameter<KvWriteSchedule> parameters[] = {
      countParameter("bytes_per_tile", &KvWriteSchedule::bytesPerTile)};

  /// Of a write in one tile.
  std::optional<PartTile> tileOf(mlir::Operation* op) const;
};

/// A write of rows to a cache (codegen/cpu/emitters/KvWrite.cpp).
struct KvWriteKernel {
  static constexpr llvm::StringLiteral name = "kv_write";

  KvWriteOp op;
  KvWriteSchedule schedule;

  static VerdictOr<KvWriteKernel> read(KernelOp kernel) { return readSole<KvWriteKernel>(kernel); }
};

} // namespace tenon::kernels::cpu

#endif // TENON_KERNELS_CPU_KVWRITE_H
