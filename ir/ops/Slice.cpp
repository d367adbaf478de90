#include "ir/Dialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tenon {

LogicalResult
SliceOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                   Adaptor adaptor,
                                   llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  llvm::ArrayRef<int64_t> offsets = adaptor.getOffsets(), sizes = adaptor.getSizes(),
                          strides = adaptor.getStrides();
  size_t rank = input.getRank();
  if (offsets.size() != rank || sizes.size() != rank || strides.size() != rank)
    return detail::emitShapeError(
        location, getOperationName(),
        "expects offsets, sizes and strides for each of " + llvm::Twine(rank) + " axes, but got " +
            llvm::Twine(offsets.size()) + ", " + llvm::Twine(sizes.size()) + " and " +
            llvm::Twine(strides.size()));
  for (auto [axis, extent] : llvm::enumerate(input.getShape())) {
    int64_t offset = offsets[axis], size = sizes[axis], stride = strides[axis];
    bool inside = offset >= 0 && offset < extent && size >= 1 && stride >= 1 &&
                  size - 1 <= (extent - 1 - offset) / stride;
    if (!inside)
      return detail::emitShapeError(location, getOperationName(),
                                    "expects a range inside the " + llvm::Twine(extent) +
                                        " elements of axis " + llvm::Twine(axis) +
                                        ", but got offset " + llvm::Twine(offset) + ", size " +
                                        llvm::Twine(size) + " and stride " + llvm::Twine(stride));
  }
  shapes.emplace_back(sizes);
  return success();
}

LogicalResult SliceOp::verify() { return detail::verifySameElementType(*this); }

/// Reads the elements of the box alone.
Work SliceOp::getWork() {
  Work work = detail::copyWork(*this);
  work.operandBytes[0] = work.resultBytes[0];
  return work;
}

Footprint SliceOp::getFootprint(unsigned operand) {
  RankedTensorType input = getInput().getType(), result = getType();
  if (input.getShape() == result.getShape())
    return Footprint::element();
  bool innermostAlone = input.getShape().drop_back() == result.getShape().drop_back();
  return innermostAlone ? Footprint::row() : Footprint::grid();
}

void SliceOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                       llvm::MutableArrayRef<ReferenceTensor> results) {
  if (getType().getRank() == 0) {
    llvm::copy(operands[0].toVector(), results[0].getValues().begin());
    return;
  }
  llvm::ArrayRef<int64_t> offsets = getOffsets(), strides = getStrides();
  llvm::SmallVector<int64_t> inputRows = computeStrides(operands[0].getShape().drop_back());
  llvm::SmallVector<int64_t> resultRows = computeStrides(results[0].getShape().drop_back());
  int64_t width = results[0].getRowLength();
  std::vector<double> scratch;
  for (int64_t row = 0, rows = results[0].getNumRows(); row < rows; ++row) {
    int64_t rest = row, inputRow = 0;
    for (auto [axis, stride] : llvm::enumerate(resultRows)) {
      inputRow += (offsets[axis] + rest / stride * strides[axis]) * inputRows[axis];
      rest %= stride;
    }
    llvm::ArrayRef<double> input = operands[0].getRow(inputRow, scratch);
    for (int64_t i = 0; i < width; ++i)
      results[0].getValues()[row * width + i] = input[offsets.back() + i * strides.back()];
  }
}

/// The whole tensor.
OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

} // namespace tenon
