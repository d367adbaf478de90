#include <cmath>

#include "ir/Dialect.h"
#include "ir/ops/internal/Rows.h"

using namespace mlir;

namespace tenon {

LogicalResult
HadamardOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                      Adaptor adaptor,
                                      llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  constexpr int64_t mostSize = 1024;
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  if (input.getRank() != 3 || input.getDimSize(2) > mostSize)
    return detail::emitShapeError(location, getOperationName(),
                                  "expects heads [M, H, D] of at most 1024 elements, but got " +
                                      detail::formatType(input));
  shapes.emplace_back(input.getShape());
  return success();
}

int64_t HadamardOp::getRun() {
  int64_t size = getType().getShape().back();
  return size & -size;
}

/// A sum for each factor of two of a run, and a product.
Work HadamardOp::getWork() { return detail::rowwiseWork(*this, llvm::Log2_64(getRun()) + 1); }

Footprint HadamardOp::getFootprint(unsigned operand) { return Footprint::row(); }

void HadamardOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                          llvm::MutableArrayRef<ReferenceTensor> results) {
  const size_t run = getRun();
  const double factor = 1 / std::sqrt(static_cast<double>(run));
  detail::forEachRow(operands[0], results[0], [&](auto x, auto y) {
    llvm::copy(x, y.begin());
    for (size_t offset = 1; offset < run; offset *= 2)
      for (size_t i = 0; i < y.size(); ++i)
        if ((i & offset) == 0) {
          double low = y[i], high = y[i + offset];
          y[i] = low + high;
          y[i + offset] = low - high;
        }
    for (double& value : y)
      value *= factor;
  });
}

} // namespace tenon
