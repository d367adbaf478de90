#include <algorithm>
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
    if (llvm::any_of(x, [](double element) { return std::isnan(element); }))
      y[0] = -1;
    else
      y[0] = std::max_element(x.begin(), x.end()) - x.begin();
  });
}

} // namespace tenon
