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

/// GEMMs of a few rows, a tile of some columns of all of them, which what follows on their results
/// can share.
struct ExpertColumnsKernel {
  static constexpr llvm::StringLiteral name = "expert_columns";

  ExpertMatmulOp op;
  DotBlockSchedule schedule;

  static VerdictOr<ExpertColumnsKernel> read(KernelOp kernel);
};

/// How `op` is computed by columns; its order is set.
DotBlockSchedule chooseExpertColumns(ExpertMatmulOp op, const CpuTarget& target);

/// Whether tiles of columns suit `op`: each looks for the GEMMs of one matrix among all of them.
Verdict acceptsExpertColumns(ExpertMatmulOp op);

/// Tiles of some columns of some rows, numbered along a row first.
struct WeightedSumSchedule {
  int64_t tiles = 0;
  int64_t columnsPerTile = 0; ///< whole vectors, or all of them
  int64_t rowsPerTile = 1;

  static constexpr Parameter<WeightedSumSchedule> parameters[] = {
      countParameter("columns_per_tile", &WeightedSumSchedule::columnsPerTile),
      {"rows_per_tile", &WeightedSumSchedule::rowsPerTile, 1, mostCounted, /*absent=*/1}};

  /// Of a weighted sum whose tiles have all rows.
  std::optional<PartTile> tileOf(mlir::Operation* op) const;
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
