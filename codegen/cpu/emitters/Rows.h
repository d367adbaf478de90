#ifndef TENON_CODEGEN_CPU_EMITTERS_ROWS_H
#define TENON_CODEGEN_CPU_EMITTERS_ROWS_H

#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "kernels/cpu/Rows.h"

namespace tenon::codegen::cpu {

/// A tensor seen as rows of its innermost axis.
struct RowView {
  RowView(KernelContext& context, mlir::Value argument)
      : RowView(argument.getType(), context.pointer(argument)) {}
  RowView(mlir::Type tensor, mlir::Value base)
      : base(base), type(llvm::cast<mlir::RankedTensorType>(tensor)) {}

  mlir::Value base;
  mlir::RankedTensorType type;

  mlir::Type element() const { return type.getElementType(); }
  int64_t length() const { return type.getRank() == 0 ? 1 : type.getShape().back(); }
  int64_t rows() const { return type.getNumElements() / length(); }
  /// The same tensor from row `row` on.
  RowView from(VectorBuilder& b, mlir::Value row) const {
    return {type, b.advance(base, b.mul(row, length() * elementBytes(element())))};
  }
  /// The address of element `index` of the first row.
  mlir::Value at(VectorBuilder& b, mlir::Value index) const {
    return b.advance(base, b.mul(index, elementBytes(element())));
  }
  /// `count` floats from element `first` of the first row, in a vector of `lanes`.
  mlir::Value load(VectorBuilder& b, mlir::Value first, int64_t count, int64_t lanes) const {
    return b.loadFloats(element(), at(b, first), count, lanes);
  }
};

/// Emits the loop over the rows of a tile of `op`: tile t holds rows [t · rowsPerTile,
/// (t + 1) · rowsPerTile).
mlir::LogicalResult forTileRows(KernelContext& context, mlir::Operation* op,
                                const kernels::cpu::RowSchedule& schedule, mlir::Value tile,
                                llvm::function_ref<void(mlir::Value row)> body);
template <typename Kernel>
mlir::LogicalResult forTileRows(KernelContext& context, const Kernel& kernel, mlir::Value tile,
                                llvm::function_ref<void(mlir::Value row)> body) {
  return forTileRows(context, kernel.op, kernel.schedule, tile, body);
}

/// Lanes of an order that a CPU adds in: four vectors of 512 bits. Each operation on them is as
/// many instructions.
inline constexpr int64_t mostOrderLanes = 64;

/// The order of a reduction, which scheduling has set; emits an error where it is missing or none
/// that a CPU adds in.
template <typename OpTy> mlir::FailureOr<OrderAttr> orderOf(OpTy op) {
  OrderAttr order = op.getOrderAttr();
  if (!order || order.getTree() == CombineTree::TensorCores)
    return op.emitOpError("expects an order of lanes in a scheduled module");
  if (order.getLanes() > mostOrderLanes)
    return op.emitOpError("expects an order of 1 to ")
           << mostOrderLanes << " lanes on a CPU, but got " << order;
  return order;
}

/// Stores `vector`, `count` elements from `first` on, to row `row` of every destination.
void storeRow(KernelContext& context, mlir::Value result, mlir::Value row, mlir::Value first,
              mlir::Value vector, int64_t count);

/// Decodes the `length` elements at `source` to row `row` of every destination of `result`.
void storeDecodedRow(KernelContext& context, const RowDecoder& decoder, mlir::Value source,
                     mlir::Value result, mlir::Value row, int64_t length);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_EMITTERS_ROWS_H
