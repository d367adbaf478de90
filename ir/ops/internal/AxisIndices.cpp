#include "ir/ops/internal/AxisIndices.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tenon::detail {

LogicalResult checkAxisIndices(std::optional<Location> location, llvm::StringRef opName,
                               RankedTensorType input, RankedTensorType indices, int64_t axis) {
  if (axis < 0 || axis >= input.getRank())
    return emitShapeError(location, opName,
                          "expects an axis of " + formatType(input) + ", but got " +
                              llvm::Twine(axis));
  llvm::ArrayRef<int64_t> a = input.getShape(), b = indices.getShape();
  if (a.size() != b.size() || a.take_front(axis) != b.take_front(axis) ||
      a.drop_front(axis + 1) != b.drop_front(axis + 1))
    return emitShapeError(location, opName,
                          "expects indices that differ from input along axis " + llvm::Twine(axis) +
                              " alone, but got " + formatType(input) + " and " +
                              formatType(indices));
  return success();
}

void forEachIndex(const ReferenceTensor& input, const ReferenceTensor& indices, int64_t axis,
                  llvm::function_ref<void(int64_t, int64_t)> function) {
  int64_t extent = input.getShape()[axis], count = indices.getShape()[axis];
  int64_t inner = computeProduct(input.getShape().drop_front(axis + 1));
  for (auto [element, value] : llvm::enumerate(indices.toVector())) {
    int64_t outer = element / (count * inner);
    int64_t index = static_cast<int64_t>(value);
    if (index >= 0 && index < extent)
      function((outer * extent + index) * inner + element % inner, element);
  }
}

} // namespace tenon::detail
