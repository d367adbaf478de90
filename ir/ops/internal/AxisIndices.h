#ifndef TENON_IR_OPS_INTERNAL_AXISINDICES_H
#define TENON_IR_OPS_INTERNAL_AXISINDICES_H

#include "ir/Interfaces.h"

/// What the operations with indices along an axis share.
namespace tenon::detail {

/// Checks that `axis` is one of `input` and that `input` and `indices` agree on every other.
mlir::LogicalResult checkAxisIndices(std::optional<mlir::Location> location, llvm::StringRef opName,
                                     mlir::RankedTensorType input, mlir::RankedTensorType indices,
                                     int64_t axis);

/// Calls `function(element of the input, element of the indices)` for every index that lies inside
/// the axis, in row-major order of the indices. Elements are counted in row-major order.
void forEachIndex(const ReferenceTensor& input, const ReferenceTensor& indices, int64_t axis,
                  llvm::function_ref<void(int64_t, int64_t)> function);

} // namespace tenon::detail

#endif // TENON_IR_OPS_INTERNAL_AXISINDICES_H
