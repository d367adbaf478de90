#include "kernels/PartTile.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace tenon::kernels {

std::optional<PartTile> partTileOf(Operation* op, ScheduleAttr part) {
  auto write = llvm::dyn_cast<KvWriteOp>(op);
  auto type = write ? write.getValues().getType()
                    : llvm::dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!part || !type || type.getRank() == 0)
    return std::nullopt;
  int64_t total = type.getNumElements(), innermost = type.getShape().back();
  int64_t rows = part.getParameter("rows_per_tile").value_or(0);
  int64_t columns = part.getParameter("columns_per_tile").value_or(0);
  auto elementsOf = [&](int64_t row) {
    return std::min(detail::saturatingProduct({rows, row}), total);
  };
  auto cut = [&](int64_t count) {
    return count < innermost ? PartTile{total != innermost, count, total}
                             : PartTile{false, total, total};
  };
  if (write && part.getTiles() == 1)
    return PartTile{false, total, total};
  if (llvm::isa<MatmulOp>(op))
    return columns > 0 ? std::optional(cut(columns)) : std::nullopt;
  if (rows < 1)
    return std::nullopt;
  if (llvm::isa<ElementwiseOpInterface>(op)) {
    int64_t row = part.getParameter("row_elements").value_or(0);
    if (row != innermost || columns < 1)
      return std::nullopt;
    if (columns >= row)
      return PartTile{false, elementsOf(row), total};
    return elementsOf(row) == total ? std::optional(cut(columns)) : std::nullopt;
  }
  if (llvm::isa<EmbeddingOp, LayerNormOp, RmsNormOp, SoftmaxOp>(op))
    return PartTile{false, elementsOf(innermost), total};
  if (llvm::isa<RopeOp>(op))
    return PartTile{false, elementsOf(total / type.getShape().front()), total};
  return std::nullopt;
}

ScheduleAttr partOf(Operation* op) { return op->getAttrOfType<ScheduleAttr>(partAttrName); }

int64_t firstTileOf(Operation* op) {
  auto first = op->getAttrOfType<IntegerAttr>(firstTileAttrName);
  return first ? first.getInt() : 0;
}

} // namespace tenon::kernels
