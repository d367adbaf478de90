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
  std::vector<double> input = operands[0].toVector();
  llvm::SmallVector<int64_t> inputStrides = computeStrides(operands[0].getShape());
  llvm::SmallVector<int64_t> resultStrides = computeStrides(results[0].getShape());
  for (auto [index, element] : llvm::enumerate(results[0].getValues())) {
    int64_t rest = index, offset = 0;
    for (auto [axis, stride] : llvm::enumerate(resultStrides)) {
      offset += (getOffsets()[axis] + rest / stride * getStrides()[axis]) * inputStrides[axis];
      rest %= stride;
    }
    element = input[offset];
  }
}

/// The whole tensor.
OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

} // namespace tenon
