#ifndef TENON_IR_OPS_INTERNAL_ROWS_H
#define TENON_IR_OPS_INTERNAL_ROWS_H

#include "ir/Interfaces.h"

/// What the operations on rows of the innermost axis share.
namespace tenon::detail {

/// The shape of `input` [..., D], where the present ones of `vectors` are of shape [D].
mlir::LogicalResult inferRowwiseShape(std::optional<mlir::Location> location,
                                      llvm::StringRef opName, mlir::Value input,
                                      mlir::ValueRange vectors,
                                      llvm::SmallVectorImpl<mlir::ShapedTypeComponents>& shapes);

/// Checks the ε of a norm: finite, and zero or more, so that no root of a negative number is taken.
/// A part of shape inference, which both the verifier and builders of graphs ask.
mlir::LogicalResult checkEpsilon(std::optional<mlir::Location> location, llvm::StringRef opName,
                                 const llvm::APFloat& epsilon);

/// `defaultWork` with `flopsPerElement` operations an element of the first operand.
Work rowwiseWork(mlir::Operation* op, int64_t flopsPerElement);

/// Calls `function(input row, result row)` for each row of two tensors with as many rows.
void forEachRow(
    const ReferenceTensor& input, ReferenceTensor& result,
    llvm::function_ref<void(llvm::ArrayRef<double>, llvm::MutableArrayRef<double>)> function);

} // namespace tenon::detail

#endif // TENON_IR_OPS_INTERNAL_ROWS_H
