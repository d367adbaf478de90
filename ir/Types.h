#ifndef TENON_IR_TYPES_H
#define TENON_IR_TYPES_H

#include <optional>

#include "ir/Attributes.h"
#include "ir/encoding/Encoding.h"
#include "mlir/IR/BuiltinTypes.h"

#define GET_TYPEDEF_CLASSES
#include "ir/TenonTypes.h.inc"

namespace tenon {

/// The encoding of an element type: of f32, f16, bf16, i1 (a byte an element, 0 or 1), i32, i64 and
/// of block types; null for others.
const Encoding* getEncoding(mlir::Type elementType);
/// The element type with that encoding; null where IR has none (i8, f64).
mlir::Type getElementType(mlir::MLIRContext* context, const Encoding& encoding);
/// The type of a tensor, or of the tensor that a state holds.
mlir::RankedTensorType getTensorType(mlir::Type type);
/// Bytes of a tensor or state of static shape in its encoding; nullopt where the element type has
/// no encoding, a row is not a multiple of the block, or the size exceeds an int64_t.
std::optional<int64_t> getStorageBytes(mlir::Type type);

} // namespace tenon

#endif // TENON_IR_TYPES_H
