#include <cmath>
#include <numeric>

#include "ir/Dialect.h"
#include "ir/ops/internal/Rows.h"

using namespace mlir;

namespace tenon {

LogicalResult
LayerNormOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                       Adaptor adaptor,
                                       llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  if (failed(detail::checkEpsilon(location, getOperationName(), adaptor.getEpsilon())))
    return failure();
  return detail::inferRowwiseShape(location, getOperationName(), adaptor.getInput(),
                                   {adaptor.getWeight(), adaptor.getBias()}, shapes);
}

/// Add to the mean; subtract it, square, add; scale; multiply by the weight; add the bias.
Work LayerNormOp::getWork() {
  return detail::rowwiseWork(*this, 5 + (getWeight() ? 1 : 0) + (getBias() ? 1 : 0));
}

Footprint LayerNormOp::getFootprint(unsigned operand) {
  return operand == 0 ? Footprint::row() : Footprint::element();
}

void LayerNormOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                           llvm::MutableArrayRef<ReferenceTensor> results) {
  double epsilon = getEpsilon().convertToDouble();
  std::vector<double> weight = getWeight() ? operands[1].toVector() : std::vector<double>();
  std::vector<double> bias = getBias() ? operands.back().toVector() : std::vector<double>();
  detail::forEachRow(operands[0], results[0], [&](auto x, auto y) {
    double mean = std::accumulate(x.begin(), x.end(), 0.0) / x.size();
    double sum = 0;
    for (double value : x)
      sum += (value - mean) * (value - mean);
    double scale = 1 / std::sqrt(sum / x.size() + epsilon);
    for (size_t i = 0; i < x.size(); ++i)
      y[i] =
          (x[i] - mean) * scale * (weight.empty() ? 1 : weight[i]) + (bias.empty() ? 0 : bias[i]);
  });
}

} // namespace tenon
