#ifndef TENON_KERNELS_PARTTILE_H
#define TENON_KERNELS_PARTTILE_H

#include "kernels/regions/Regions.h"

namespace tenon::kernels {

/// The tile of the kernel that is tile 0 of that operation: an i64 `IntegerAttr`; absent: 0. −1: it
/// belongs to no tile; each thread computes all of it before its tiles.
inline constexpr llvm::StringLiteral firstTileAttrName = "first_tile";

/// What one tile of an operation computes of its result, and reads of the operands of that shape.
struct PartTile {
  bool isColumns;   ///< some columns of all rows; otherwise consecutive elements
  int64_t elements; ///< columns, or elements
  int64_t total;    ///< elements of the result, or of the values that a cache write stores

  /// `columns` columns of all rows of a tensor of rank 1 or more. Of one row, columns are
  /// consecutive elements.
  static PartTile ofColumns(int64_t columns, mlir::RankedTensorType type);

  bool operator==(const PartTile&) const = default;
};

/// The tile of `op` under `part` on a CPU. Refuses a part whose tiles are no such ranges; `part`
/// may be null.
VerdictOr<PartTile> partTileOf(mlir::Operation* op, ScheduleAttr part);
/// That `part` has no such tiles.
Refusal refusePart(ScheduleAttr part);

/// The schedule of `op` as a part; null where it has none.
ScheduleAttr partOf(mlir::Operation* op);
/// The first tile of `op` as a part.
int64_t firstTileOf(mlir::Operation* op);

} // namespace tenon::kernels

#endif // TENON_KERNELS_PARTTILE_H
