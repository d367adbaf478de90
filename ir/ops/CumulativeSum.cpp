#include <numeric>

#include "ir/Dialect.h"
#include "ir/ops/internal/Rows.h"

using namespace mlir;

namespace tenon {

LogicalResult
CumulativeSumOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                           Adaptor adaptor,
                                           llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  return detail::inferRowwiseShape(location, getOperationName(), adaptor.getInput(), {}, shapes);
}

Work CumulativeSumOp::getWork() { return detail::rowwiseWork(*this, 1); }

Footprint CumulativeSumOp::getFootprint(unsigned operand) { return Footprint::row(); }

void CumulativeSumOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                               llvm::MutableArrayRef<ReferenceTensor> results) {
  detail::forEachRow(operands[0], results[0],
                     [](auto x, auto y) { std::partial_sum(x.begin(), x.end(), y.begin()); });
}

} // namespace tenon
