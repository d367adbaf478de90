#include "ir/Dialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon {

/// True where the shapes agree on every axis but `axis`.
static bool agreeBut(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b, int64_t axis) {
  return a.size() == b.size() && a.take_front(axis) == b.take_front(axis) &&
         a.drop_front(axis + 1) == b.drop_front(axis + 1);
}

LogicalResult
ConcatOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                    Adaptor adaptor,
                                    llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  ValueRange inputs = adaptor.getInputs();
  int64_t axis = adaptor.getAxis();
  if (inputs.empty())
    return detail::emitShapeError(location, getOperationName(),
                                  "expects at least one input, but got none");
  auto first = llvm::cast<RankedTensorType>(inputs.front().getType());
  if (axis < 0 || axis >= first.getRank())
    return detail::emitShapeError(location, getOperationName(),
                                  "expects an axis of " + detail::formatType(first) + ", but got " +
                                      llvm::Twine(axis));
  llvm::SmallVector<int64_t> shape(first.getShape());
  shape[axis] = 0;
  for (Type type : inputs.getTypes()) {
    auto input = llvm::cast<RankedTensorType>(type);
    if (!agreeBut(first.getShape(), input.getShape(), axis))
      return detail::emitShapeError(location, getOperationName(),
                                    "expects inputs that differ along axis " + llvm::Twine(axis) +
                                        " alone, but got " + detail::formatType(first) + " and " +
                                        detail::formatType(input));
    if (llvm::AddOverflow(shape[axis], input.getDimSize(axis), shape[axis]))
      return detail::emitShapeError(
          location, getOperationName(),
          "expects a result size within 63 bits, but the extents of axis " + llvm::Twine(axis) +
              " add up to more");
  }
  shapes.emplace_back(shape);
  return success();
}

LogicalResult ConcatOp::verify() { return detail::verifySameElementType(*this); }

Work ConcatOp::getWork() { return detail::copyWork(*this); }

Footprint ConcatOp::getFootprint(unsigned operand) {
  if (getNumOperands() == 1)
    return Footprint::element();
  bool innermost = static_cast<int64_t>(getAxis()) == getType().getRank() - 1;
  return innermost ? Footprint::row() : Footprint::grid();
}

void ConcatOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                        llvm::MutableArrayRef<ReferenceTensor> results) {
  llvm::ArrayRef<int64_t> shape = results[0].getShape();
  int64_t inner = computeProduct(shape.drop_front(getAxis() + 1));
  int64_t outer = computeProduct(shape.take_front(getAxis()));
  int64_t resultRow = shape[getAxis()] * inner, start = 0;
  for (const ReferenceTensor& operand : operands) {
    std::vector<double> input = operand.toVector();
    int64_t row = operand.getShape()[getAxis()] * inner;
    for (int64_t i = 0; i < outer; ++i)
      llvm::copy(llvm::ArrayRef(input).slice(i * row, row),
                 results[0].getValues().slice(i * resultRow + start, row).begin());
    start += row;
  }
}

/// One input.
OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  return getNumOperands() == 1 ? OpFoldResult(getInputs().front()) : OpFoldResult();
}

} // namespace tenon
