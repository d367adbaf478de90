#ifndef TENON_KERNELS_CPU_ATTENTION_H
#define TENON_KERNELS_CPU_ATTENTION_H

#include "kernels/cpu/CpuKernelKind.h"

namespace tenon::kernels::cpu {

/// Tiles of one row and some query heads that share a key head.
struct AttentionSchedule {
  int64_t tiles = 0;
  int64_t headsPerTile = 0; ///< over which loops are unrolled

  static constexpr Parameter<AttentionSchedule> parameters[] = {
      {"heads_per_tile", &AttentionSchedule::headsPerTile, 1, 64}};
};

/// Attention over a cache (codegen/cpu/emitters/Attention.cpp).
struct AttentionKernel {
  static constexpr llvm::StringLiteral name = "attention";

  AttentionOp op;
  AttentionSchedule schedule;

  static VerdictOr<AttentionKernel> read(KernelOp kernel) {
    return readSole<AttentionKernel>(kernel);
  }
};

} // namespace tenon::kernels::cpu

#endif // TENON_KERNELS_CPU_ATTENTION_H
