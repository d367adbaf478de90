#include <algorithm>
#include <cmath>

#include "ir/Dialect.h"
#include "ir/ops/internal/Rows.h"

using namespace mlir;

namespace tenon {

LogicalResult
SoftmaxOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                     Adaptor adaptor,
                                     llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  return detail::inferRowwiseShape(location, getOperationName(), adaptor.getInput(), {}, shapes);
}

/// Maximum, subtract, exponential, add, divide.
Work SoftmaxOp::getWork() { return detail::rowwiseWork(*this, 5); }

Footprint SoftmaxOp::getFootprint(unsigned operand) { return Footprint::row(); }

void SoftmaxOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results) {
  detail::forEachRow(operands[0], results[0], [](auto x, auto y) {
    double largest = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i)
      sum += y[i] = std::exp(x[i] - largest);
    for (double& value : y)
      value /= sum;
  });
}

} // namespace tenon
