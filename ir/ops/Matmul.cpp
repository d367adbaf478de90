#include "ir/Dialect.h"
#include "ir/ops/internal/Dot.h"

using namespace mlir;

namespace tenon {

LogicalResult
MatmulOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                    Adaptor adaptor,
                                    llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  auto weight = llvm::cast<RankedTensorType>(adaptor.getWeight().getType());
  if (input.getRank() < 1 || weight.getRank() < 2 ||
      input.getShape().back() != weight.getShape().back())
    return detail::emitShapeError(location, getOperationName(),
                                  "expects weight [N, K] with K the last axis of input, but got " +
                                      detail::formatType(input) + " and " +
                                      detail::formatType(weight));
  llvm::ArrayRef<int64_t> batch = weight.getShape().drop_back(2);
  if (!batch.empty() &&
      (input.getRank() != weight.getRank() || input.getShape().drop_back(2) != batch))
    return detail::emitShapeError(
        location, getOperationName(),
        "expects the batch axes of weight to match those of input, but got " +
            detail::formatType(input) + " and " + detail::formatType(weight));
  llvm::SmallVector<int64_t> shape(input.getShape());
  shape.back() = weight.getShape().end()[-2];
  shapes.emplace_back(shape);
  return success();
}

bool MatmulOp::isQuantized() { return llvm::isa<BlockType>(getInput().getType().getElementType()); }

LogicalResult MatmulOp::verify() {
  if (!isQuantized())
    return success();
  const Encoding& weight = *getEncoding(getWeight().getType().getElementType());
  const Encoding* expected = findActivationEncoding(weight);
  if (!expected)
    return emitOpError("expects a block-quantised weight beside a quantised input, but got ")
           << getWeight().getType();
  const Encoding& found = *getEncoding(getInput().getType().getElementType());
  if (&found != expected)
    return emitOpError("expects an input in ")
           << llvm::StringRef(expected->name) << " beside a weight in "
           << llvm::StringRef(weight.name) << ", but got " << getInput().getType();
  return success();
}

Work MatmulOp::getWork() {
  Work work = detail::defaultWork(*this);
  work.flops = detail::saturatingProduct(
      {2, getInput().getType().getShape().back(), getType().getNumElements()});
  return work;
}

Footprint MatmulOp::getFootprint(unsigned operand) {
  return operand == 0 ? Footprint::row() : Footprint::grid();
}

void MatmulOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                        llvm::MutableArrayRef<ReferenceTensor> results) {
  const ReferenceTensor& input = operands[0];
  const ReferenceTensor& weight = operands[1];
  int64_t n = weight.getShape().end()[-2];
  int64_t batches = weight.getNumRows() / n;
  int64_t rowsPerBatch = input.getNumRows() / batches;
  std::vector<double> inputScratch, weightScratch;
  llvm::MutableArrayRef<double> y = results[0].getValues();
  for (int64_t weightRow = 0; weightRow < batches * n; ++weightRow) {
    llvm::ArrayRef<double> w = weight.getRow(weightRow, weightScratch);
    int64_t firstRow = weightRow / n * rowsPerBatch;
    for (int64_t row = firstRow; row < firstRow + rowsPerBatch; ++row)
      y[row * n + weightRow % n] = detail::dot(input.getRow(row, inputScratch), w);
  }
}

} // namespace tenon
