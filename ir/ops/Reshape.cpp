#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult
ReshapeOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                     Adaptor adaptor,
                                     llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  shapes.emplace_back(adaptor.getShape());
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (getInput().getType().getNumElements() != getType().getNumElements())
    return emitOpError("expects as many elements as its input, ")
           << getInput().getType() << ", but got " << getType();
  return detail::verifySameElementType(*this);
}

Work ReshapeOp::getWork() { return detail::copyWork(*this); }

/// A row of the result lies within a row of the input, or takes elements of several.
Footprint ReshapeOp::getFootprint(unsigned operand) {
  auto rowLength = [](RankedTensorType type) {
    return type.getRank() == 0 ? 1 : type.getShape().back();
  };
  bool within = rowLength(getInput().getType()) % rowLength(getType()) == 0;
  return within ? Footprint::element() : Footprint::grid();
}

void ReshapeOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results) {
  llvm::copy(operands[0].toVector(), results[0].getValues().begin());
}

/// The identity; reshape(reshape(x)) → reshape(x); a constant.
OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  if (auto constant = llvm::dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return constant.reshape(getType());
  return {};
}

} // namespace tenon
