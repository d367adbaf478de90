#include <algorithm>

#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult
EmbeddingOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                       Adaptor adaptor,
                                       llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto table = llvm::cast<RankedTensorType>(adaptor.getTable().getType());
  auto ids = llvm::cast<RankedTensorType>(adaptor.getIds().getType());
  if (table.getRank() != 2 || ids.getRank() < 1)
    return detail::emitShapeError(location, getOperationName(),
                                  "expects table [V, D] and ids [..., M], but got " +
                                      detail::formatType(table) + " and " +
                                      detail::formatType(ids));
  llvm::SmallVector<int64_t> shape(ids.getShape());
  shape.push_back(table.getDimSize(1));
  shapes.emplace_back(shape);
  return success();
}

/// Reads the chosen rows alone.
Work EmbeddingOp::getWork() {
  Work work = detail::defaultWork(*this);
  int64_t tableRows = getTable().getType().getShape()[0];
  int64_t rows = std::min(tableRows, getIds().getType().getNumElements());
  work.flops = 0;
  work.operandBytes[0] = work.operandBytes[0] / tableRows * rows;
  return work;
}

Footprint EmbeddingOp::getFootprint(unsigned operand) {
  return operand == 0 ? Footprint::grid() : Footprint::row();
}

void EmbeddingOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                           llvm::MutableArrayRef<ReferenceTensor> results) {
  const ReferenceTensor& table = operands[0];
  std::vector<double> ids = operands[1].toVector();
  int64_t width = table.getRowLength();
  std::vector<double> scratch;
  for (auto [m, id] : llvm::enumerate(ids))
    if (id >= 0 && id < table.getNumRows())
      llvm::copy(table.getRow(id, scratch), results[0].getValues().slice(m * width, width).begin());
}

} // namespace tenon
