#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult
WeightedSumOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                         Adaptor adaptor,
                                         llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  auto weights = llvm::cast<RankedTensorType>(adaptor.getWeights().getType());
  if (input.getRank() != 3 || weights.getShape() != input.getShape().drop_back())
    return detail::emitShapeError(location, getOperationName(),
                                  "expects input [R, k, N] and weights [R, k], but got " +
                                      detail::formatType(input) + " and " +
                                      detail::formatType(weights));
  shapes.emplace_back(llvm::SmallVector<int64_t>{input.getDimSize(0), input.getDimSize(2)});
  return success();
}

Work WeightedSumOp::getWork() {
  Work work = detail::defaultWork(*this);
  work.flops = detail::saturatingProduct({2, getInput().getType().getNumElements()});
  return work;
}

Footprint WeightedSumOp::getFootprint(unsigned operand) { return Footprint::grid(); }

void WeightedSumOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                             llvm::MutableArrayRef<ReferenceTensor> results) {
  std::vector<double> input = operands[0].toVector(), weights = operands[1].toVector();
  llvm::ArrayRef<int64_t> shape = operands[0].getShape();
  int64_t chosen = shape[1], columns = shape[2];
  llvm::MutableArrayRef<double> y = results[0].getValues();
  for (int64_t i = 0, e = y.size(); i < e; ++i) {
    int64_t row = i / columns, column = i % columns;
    double sum = 0;
    for (int64_t j = row * chosen; j < (row + 1) * chosen; ++j)
      sum += weights[j] * input[j * columns + column];
    y[i] = sum;
  }
}

} // namespace tenon
