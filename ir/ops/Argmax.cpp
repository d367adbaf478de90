#include <cmath>

#include "ir/Dialect.h"
#include "ir/ops/internal/Rows.h"

using namespace mlir;

namespace tenon {

LogicalResult
ArgmaxOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                    Adaptor adaptor,
                                    llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  if (input.getRank() == 0)
    return detail::emitShapeError(location, getOperationName(),
                                  "expects an input of at least one axis, but got " +
                                      detail::formatType(input));
  shapes.emplace_back(input.getShape().drop_back());
  return success();
}

Work ArgmaxOp::getWork() { return detail::rowwiseWork(*this, 1); }

Footprint ArgmaxOp::getFootprint(unsigned operand) { return Footprint::row(); }

void ArgmaxOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                        llvm::MutableArrayRef<ReferenceTensor> results) {
  detail::forEachRow(operands[0], results[0], [](auto x, auto y) {
    size_t best = 0;
    for (size_t i = 1; i < x.size(); ++i)
      if (x[i] > x[best] || (std::isnan(x[best]) && !std::isnan(x[i])))
        best = i;
    y[0] = best;
  });
}

} // namespace tenon
