#include <cmath>

#include "ir/Dialect.h"
#include "ir/ops/internal/Rows.h"

using namespace mlir;

namespace tenon {

LogicalResult
RmsNormOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                     Adaptor adaptor,
                                     llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  if (failed(detail::checkEpsilon(location, getOperationName(), adaptor.getEpsilon())))
    return failure();
  return detail::inferRowwiseShape(location, getOperationName(), adaptor.getInput(),
                                   adaptor.getWeight(), shapes);
}

/// Square, add, scale; multiply by the weight.
Work RmsNormOp::getWork() { return detail::rowwiseWork(*this, getWeight() ? 4 : 3); }

Footprint RmsNormOp::getFootprint(unsigned operand) {
  return operand == 0 ? Footprint::row() : Footprint::element();
}

void RmsNormOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results) {
  double epsilon = getEpsilon().convertToDouble();
  std::vector<double> weight = getWeight() ? operands[1].toVector() : std::vector<double>();
  detail::forEachRow(operands[0], results[0], [&](auto x, auto y) {
    double sum = 0;
    for (double value : x)
      sum += value * value;
    double scale = 1 / std::sqrt(sum / x.size() + epsilon);
    for (size_t i = 0; i < x.size(); ++i)
      y[i] = x[i] * scale * (weight.empty() ? 1 : weight[i]);
  });
}

} // namespace tenon
