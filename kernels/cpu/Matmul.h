#ifndef TENON_KERNELS_CPU_MATMUL_H
#define TENON_KERNELS_CPU_MATMUL_H

#include <numeric>
#include <variant>

#include "kernels/cpu/CpuKernelKind.h"
#include "kernels/cpu/ScheduleRule.h"

namespace tenon::kernels::cpu {

/// Tiles of some rows of W and all rows of x, in blocks of dot products
/// (codegen/cpu/emitters/DotBlock.h).
struct DotBlockSchedule {
  int64_t tiles = 0;
  int64_t columnsPerTile = 0;
  int64_t columnBlock = 0, rowBlock = 0; ///< rows of W and of x in a block
  int64_t step = 0; ///< elements of K that the inner loop takes at once: a few blocks of W
  int64_t prefetchBytes = 0;

  static constexpr Parameter<DotBlockSchedule> parameters[] = {
      countParameter("columns_per_tile", &DotBlockSchedule::columnsPerTile),
      {"column_block", &DotBlockSchedule::columnBlock, 1, mostAccumulators},
      {"row_block", &DotBlockSchedule::rowBlock, 1, mostAccumulators},
      {"step", &DotBlockSchedule::step, 1, 1024},
      prefetchParameter(&DotBlockSchedule::prefetchBytes)};

  /// The least number of columns that whole blocks and whole vectors have.
  int64_t columnGranule(int64_t lanes) const { return std::lcm(columnBlock, lanes); }
  std::optional<PartTile> tileOf(mlir::Operation* op) const;
};

/// Tiles of some rows of W, whose weights are decoded once for all rows of x of a pass, a part of K
/// at a time.
struct PackedMatmulSchedule {
  int64_t tiles = 0;
  int64_t columnsPerTile = 0;
  int64_t columnBlock = 0, rowBlock = 0; ///< rows of W and of x in a block
  int64_t rowsPerPass = 0;
  int64_t depthBlock = 0; ///< elements of K, whose cache lines are asked for one by one

  static constexpr Parameter<PackedMatmulSchedule> parameters[] = {
      countParameter("columns_per_tile", &PackedMatmulSchedule::columnsPerTile),
      {"column_block", &PackedMatmulSchedule::columnBlock, 1, mostAccumulators},
      {"row_block", &PackedMatmulSchedule::rowBlock, 1, mostAccumulators},
      countParameter("rows_per_pass", &PackedMatmulSchedule::rowsPerPass),
      {"depth_block", &PackedMatmulSchedule::depthBlock, 1, 4096}};

  int64_t columnGranule(int64_t lanes) const { return std::lcm(columnBlock, lanes); }
  std::optional<PartTile> tileOf(mlir::Operation* op) const;
};

/// Tiles of some rows of W, whose quants are unpacked for all rows of x of a pass.
struct QuantizedMatmulSchedule {
  int64_t tiles = 0;
  int64_t columnsPerTile = 0;
  int64_t columnVectors = 0; ///< native vectors of columns in a block
  int64_t rowBlock = 0;      ///< rows of x in a block
  int64_t rowsPerPass = 0;
  int64_t prefetchBytes = 0;

  static constexpr Parameter<QuantizedMatmulSchedule> parameters[] = {
      countParameter("columns_per_tile", &QuantizedMatmulSchedule::columnsPerTile),
      {"column_vectors", &QuantizedMatmulSchedule::columnVectors, 1, mostAccumulators},
      {"row_block", &QuantizedMatmulSchedule::rowBlock, 1, mostAccumulators},
      countParameter("rows_per_pass", &QuantizedMatmulSchedule::rowsPerPass),
      prefetchParameter(&QuantizedMatmulSchedule::prefetchBytes)};

  int64_t columnGranule(int64_t lanes) const { return columnVectors * lanes; }
  std::optional<PartTile> tileOf(mlir::Operation* op) const;
};

/// A GEMM of floats with few rows of x (codegen/cpu/emitters/Matmul.cpp).
struct MatmulKernel {
  static constexpr llvm::StringLiteral name = "matmul";

  MatmulOp op;
  DotBlockSchedule schedule;

  static VerdictOr<MatmulKernel> read(KernelOp kernel);
};

/// A GEMM of floats with many rows of x (codegen/cpu/emitters/PackedMatmul.cpp).
struct PackedMatmulKernel {
  static constexpr llvm::StringLiteral name = "packed_matmul";

  MatmulOp op;
  PackedMatmulSchedule schedule;

  static VerdictOr<PackedMatmulKernel> read(KernelOp kernel);
};

/// A product of quants (codegen/cpu/emitters/QuantizedMatmul.cpp).
struct QuantizedMatmulKernel {
  static constexpr llvm::StringLiteral name = "quantized_matmul";

  MatmulOp op;
  QuantizedMatmulSchedule schedule;

  static VerdictOr<QuantizedMatmulKernel> read(KernelOp kernel);
};

using AnyMatmulKernel = std::variant<MatmulKernel, PackedMatmulKernel, QuantizedMatmulKernel>;

/// How `op`, which a CPU multiplies, is computed alone; its order is set.
AnyMatmulKernel chooseMatmul(MatmulOp op, const CpuTarget& target);

/// The schedule of `kernel` with so many columns a tile, and so many tiles.
ScheduleAttr printWithColumns(AnyMatmulKernel kernel, int64_t columns, int64_t tiles);

} // namespace tenon::kernels::cpu

#endif // TENON_KERNELS_CPU_MATMUL_H
