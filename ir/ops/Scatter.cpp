#include "ir/Dialect.h"
#include "ir/ops/internal/AxisIndices.h"

using namespace mlir;

namespace tenon {

LogicalResult
ScatterOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                     Adaptor adaptor,
                                     llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  auto indices = llvm::cast<RankedTensorType>(adaptor.getIndices().getType());
  auto updates = llvm::cast<RankedTensorType>(adaptor.getUpdates().getType());
  if (failed(detail::checkAxisIndices(location, getOperationName(), input, indices,
                                      adaptor.getAxis())))
    return failure();
  if (updates.getShape() != indices.getShape())
    return detail::emitShapeError(location, getOperationName(),
                                  "expects an update for each index, but got " +
                                      detail::formatType(updates) + " and " +
                                      detail::formatType(indices));
  shapes.emplace_back(input.getShape());
  return success();
}

LogicalResult ScatterOp::verify() {
  return detail::verifyOneKind(*this, {getInput().getType(), getUpdates().getType(), getType()});
}

/// An element is compared with each index along the axis.
Work ScatterOp::getWork() {
  Work work = detail::copyWork(*this);
  work.flops = detail::saturatingProduct(
      {getType().getNumElements(), getIndices().getType().getShape()[getAxis()]});
  return work;
}

Footprint ScatterOp::getFootprint(unsigned operand) {
  if (operand == 0)
    return Footprint::element();
  bool innermost = static_cast<int64_t>(getAxis()) == getType().getRank() - 1;
  return innermost ? Footprint::row() : Footprint::grid();
}

void ScatterOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results) {
  llvm::MutableArrayRef<double> result = results[0].getValues();
  llvm::copy(operands[0].toVector(), result.begin());
  std::vector<double> updates = operands[2].toVector();
  detail::forEachIndex(operands[0], operands[1], getAxis(), [&](int64_t to, int64_t element) {
    result[to] = getAccumulate() ? result[to] + updates[element] : updates[element];
  });
}

} // namespace tenon
