#ifndef TENON_KERNELS_CPU_EXPERTS_H
#define TENON_KERNELS_CPU_EXPERTS_H

#include "kernels/cpu/Matmul.h"

namespace tenon::kernels::cpu {

/// GEMMs of one row with the matrices that it chose, a tile of one GEMM each
/// (codegen/cpu/emitters/ExpertMatmul.cpp).
struct ExpertMatmulKernel {
  static constexpr llvm::StringLiteral name = "expert_matmul";

  ExpertMatmulOp op;
  DotBlockSchedule schedule;

  static VerdictOr<ExpertMatmulKernel> read(KernelOp kernel) {
    return readSole<ExpertMatmulKernel>(kernel);
  }
};

/// GEMMs of many rows, a tile of one matrix with all rows that chose it.
struct GroupedExpertMatmulKernel {
  static constexpr llvm::StringLiteral name = "grouped_expert_matmul";

  ExpertMatmulOp op;
  DotBlockSchedule schedule;

  static VerdictOr<GroupedExpertMatmulKernel> read(KernelOp kernel) {
    return readSole<GroupedExpertMatmulKernel>(kernel);
  }
};

/// Tiles of some columns of a row.
struct WeightedSumSchedule {
  int64_t tiles = 0;
  int64_t columnsPerTile = 0; ///< whole vectors, or all of them

  static constexpr Parameter<WeightedSumSchedule> parameters[] = {
      countParameter("columns_per_tile", &WeightedSumSchedule::columnsPerTile)};
};

/// The sum of a row's vectors by their weights (codegen/cpu/emitters/WeightedSum.cpp).
struct WeightedSumKernel {
  static constexpr llvm::StringLiteral name = "weighted_sum";

  WeightedSumOp op;
  WeightedSumSchedule schedule;

  static VerdictOr<WeightedSumKernel> read(KernelOp kernel) {
    return readSole<WeightedSumKernel>(kernel);
  }
};

} // namespace tenon::kernels::cpu

#endif // TENON_KERNELS_CPU_EXPERTS_H
