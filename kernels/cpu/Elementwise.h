#ifndef TENON_KERNELS_CPU_ELEMENTWISE_H
#define TENON_KERNELS_CPU_ELEMENTWISE_H

#include "kernels/cpu/CpuKernelKind.h"

namespace tenon::kernels::cpu {

/// Tiles of some columns of some rows, numbered along a row first.
struct ElementwiseSchedule {
  int64_t tiles = 0;
  int64_t rowElements = 0; ///< the innermost extent, or all elements where nothing broadcasts
  int64_t rowsPerTile = 0;
  int64_t columnsPerTile = 0; ///< whole vectors, or the whole row

  static constexpr Parameter<ElementwiseSchedule> parameters[] = {
      countParameter("row_elements", &ElementwiseSchedule::rowElements),
      countParameter("rows_per_tile", &ElementwiseSchedule::rowsPerTile),
      countParameter("columns_per_tile", &ElementwiseSchedule::columnsPerTile)};

  /// Of an elementwise operation, whose tiles are whole rows, or columns of all of them.
  std::optional<PartTile> tileOf(mlir::Operation* op) const;
};

/// A chain of operations on elements (codegen/cpu/emitters/Elementwise.cpp).
struct ElementwiseKernel {
  static constexpr llvm::StringLiteral name = "elementwise";

  KernelOp kernel; ///< whose results have one shape
  ElementwiseSchedule schedule;

  static VerdictOr<ElementwiseKernel> read(KernelOp kernel);
};

} // namespace tenon::kernels::cpu

#endif // TENON_KERNELS_CPU_ELEMENTWISE_H
