#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/Dialect.h"
#include "ir/ops/internal/Rows.h"

using namespace mlir;

namespace tenon {

LogicalResult
TopKOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                  Adaptor adaptor,
                                  llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t k = adaptor.getK();
  if (input.getRank() == 0 || k < 1 || k > input.getShape().back())
    return detail::emitShapeError(location, getOperationName(),
                                  "expects k from 1 to the last axis of input, but got " +
                                      llvm::Twine(k) + " and " + detail::formatType(input));
  llvm::SmallVector<int64_t> shape(input.getShape());
  shape.back() = k;
  shapes.emplace_back(shape);
  shapes.emplace_back(shape);
  return success();
}

Work TopKOp::getWork() { return detail::rowwiseWork(*this, 1); }

Footprint TopKOp::getFootprint(unsigned operand) { return Footprint::row(); }

void TopKOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                      llvm::MutableArrayRef<ReferenceTensor> results) {
  int64_t k = getK();
  std::vector<double> scratch;
  std::vector<int64_t> order(operands[0].getRowLength());
  for (int64_t row = 0, rows = operands[0].getNumRows(); row < rows; ++row) {
    llvm::ArrayRef<double> x = operands[0].getRow(row, scratch);
    std::iota(order.begin(), order.end(), 0);
    auto before = [&](int64_t a, int64_t b) {
      if (x[a] > x[b] || x[a] < x[b])
        return x[a] > x[b];
      if (std::isnan(x[a]) != std::isnan(x[b]))
        return std::isnan(x[b]);
      return a < b;
    };
    std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
    for (int64_t i = 0; i < k; ++i) {
      results[0].getValues()[row * k + i] = x[order[i]];
      results[1].getValues()[row * k + i] = order[i];
    }
  }
}

} // namespace tenon
