#ifndef TENON_KERNELS_CPU_ROWS_H
#define TENON_KERNELS_CPU_ROWS_H

#include "kernels/cpu/CpuKernelKind.h"
#include "kernels/cpu/ScheduleRule.h"

namespace tenon::kernels::cpu {

/// Tiles of consecutive rows.
struct RowSchedule {
  int64_t tiles = 0;
  int64_t rowsPerTile = 0;

  static constexpr Parameter<RowSchedule> parameters[] = {
      countParameter("rows_per_tile", &RowSchedule::rowsPerTile)};

  /// Of an operation that makes each row of its result of that row of its operand.
  std::optional<PartTile> tileOf(mlir::Operation* op) const;
};

/// What an operation on independent rows takes at once: the innermost axis, all heads of a token
/// for rope, a position, a block of quants, what lies after one another along an axis for a
/// concatenation.
struct RowExtents {
  int64_t rows;
  int64_t elements; ///< of a row
};
RowExtents rowExtentsOf(mlir::Operation* op);

/// True for an operation that a sequence may hold: each row of its result is made of that row of
/// its operand.
bool worksOnRows(mlir::Operation* op);

/// Sets the order of `op` where it is a reduction of rows.
void setRowOrder(mlir::Operation* op, const CpuTarget& target);

/// An operation on independent rows, after which the schedule is named
/// (codegen/cpu/emitters/Rows.h).
template <typename OpTy> struct RowKernelOf {
  static constexpr llvm::StringRef name = withoutDialect(OpTy::getOperationName());

  OpTy op;
  RowSchedule schedule;

  static VerdictOr<RowKernelOf> read(KernelOp kernel) { return readSole<RowKernelOf>(kernel); }
};

/// One reshape, transpose, slice or concat (codegen/cpu/emitters/Copy.cpp).
struct CopyKernel {
  static constexpr llvm::StringLiteral name = "copy";

  mlir::Operation* op;
  RowSchedule schedule;

  static VerdictOr<CopyKernel> read(KernelOp kernel);
};

} // namespace tenon::kernels::cpu

#endif // TENON_KERNELS_CPU_ROWS_H
