#include <algorithm>

#include "ir/Dialect.h"
#include "ir/ops/internal/AxisIndices.h"

using namespace mlir;

namespace tenon {

LogicalResult
GatherOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                    Adaptor adaptor,
                                    llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto indices = llvm::cast<RankedTensorType>(adaptor.getIndices().getType());
  if (failed(detail::checkAxisIndices(location, getOperationName(),
                                      llvm::cast<RankedTensorType>(adaptor.getInput().getType()),
                                      indices, adaptor.getAxis())))
    return failure();
  shapes.emplace_back(indices.getShape());
  return success();
}

LogicalResult GatherOp::verify() {
  if (getInput().getType().getElementType() == getType().getElementType())
    return success();
  return emitOpError("expects a result with the element type of input, but got ")
         << getInput().getType() << " and " << getType();
}

/// Reads the chosen elements alone, or all where more are chosen than there are.
Work GatherOp::getWork() {
  Work work = detail::copyWork(*this);
  work.operandBytes[0] = std::min(work.operandBytes[0], work.resultBytes[0]);
  return work;
}

Footprint GatherOp::getFootprint(unsigned operand) {
  if (operand == 1)
    return Footprint::element();
  bool innermost = static_cast<int64_t>(getAxis()) == getType().getRank() - 1;
  return innermost ? Footprint::row() : Footprint::grid();
}

void GatherOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                        llvm::MutableArrayRef<ReferenceTensor> results) {
  std::vector<double> input = operands[0].toVector();
  detail::forEachIndex(operands[0], operands[1], getAxis(), [&](int64_t from, int64_t element) {
    results[0].getValues()[element] = input[from];
  });
}

} // namespace tenon
