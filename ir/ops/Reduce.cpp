#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/Dialect.h"
#include "ir/ops/internal/Rows.h"

using namespace mlir;

namespace tenon {

LogicalResult
ReduceOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                    Adaptor adaptor,
                                    llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  if (input.getRank() == 0)
    return detail::emitShapeError(location, getOperationName(),
                                  "expects an input of at least one axis, but got " +
                                      detail::formatType(input));
  llvm::SmallVector<int64_t> shape(input.getShape());
  shape.back() = 1;
  shapes.emplace_back(shape);
  return success();
}

Work ReduceOp::getWork() { return detail::rowwiseWork(*this, 1); }

Footprint ReduceOp::getFootprint(unsigned operand) { return Footprint::row(); }

static double reduceRow(ReduceKind kind, llvm::ArrayRef<double> x) {
  switch (kind) {
  case ReduceKind::Sum:
    return std::accumulate(x.begin(), x.end(), 0.0);
  case ReduceKind::Mean:
    return std::accumulate(x.begin(), x.end(), 0.0) / x.size();
  case ReduceKind::Max:
  case ReduceKind::Min:
    break;
  }
  auto nan = llvm::find_if(x, [](double value) { return std::isnan(value); });
  if (nan != x.end())
    return *nan;
  return kind == ReduceKind::Max ? *llvm::max_element(x) : *llvm::min_element(x);
}

void ReduceOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                        llvm::MutableArrayRef<ReferenceTensor> results) {
  detail::forEachRow(operands[0], results[0],
                     [&](auto x, auto y) { y[0] = reduceRow(getKind(), x); });
}

} // namespace tenon
