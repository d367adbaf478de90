#include "ir/ops/internal/Rows.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tenon::detail {

LogicalResult inferRowwiseShape(std::optional<Location> location, llvm::StringRef opName,
                                Value input, ValueRange vectors,
                                llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  llvm::ArrayRef<int64_t> shape = llvm::cast<RankedTensorType>(input.getType()).getShape();
  if (shape.empty())
    return emitShapeError(location, opName,
                          "expects an input of at least one axis, but got " +
                              formatType(input.getType()));
  for (Value vector : vectors)
    if (vector && llvm::cast<RankedTensorType>(vector.getType()).getShape() != shape.take_back(1))
      return emitShapeError(location, opName,
                            "expects weight and bias of shape [" + llvm::Twine(shape.back()) +
                                "] to match the last axis of input, but got " +
                                formatType(vector.getType()));
  shapes.emplace_back(shape);
  return success();
}

LogicalResult checkEpsilon(std::optional<Location> location, llvm::StringRef opName,
                           const llvm::APFloat& epsilon) {
  if (epsilon.isFinite() && (epsilon.isZero() || !epsilon.isNegative()))
    return success();
  llvm::SmallString<32> text;
  epsilon.toString(text);
  return emitShapeError(location, opName, "expects a finite eps of zero or more, but got " + text);
}

Work rowwiseWork(Operation* op, int64_t flopsPerElement) {
  Work work = defaultWork(op);
  auto input = llvm::cast<RankedTensorType>(op->getOperand(0).getType());
  work.flops = saturatingProduct({flopsPerElement, input.getNumElements()});
  return work;
}

void forEachRow(
    const ReferenceTensor& input, ReferenceTensor& result,
    llvm::function_ref<void(llvm::ArrayRef<double>, llvm::MutableArrayRef<double>)> function) {
  int64_t rows = input.getNumRows();
  llvm::MutableArrayRef<double> values = result.getValues();
  int64_t length = values.size() / rows;
  std::vector<double> scratch;
  for (int64_t row = 0; row < rows; ++row)
    function(input.getRow(row, scratch), values.slice(row * length, length));
}

} // namespace tenon::detail
