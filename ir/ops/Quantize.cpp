#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult
QuantizeOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                      Adaptor adaptor,
                                      llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  shapes.emplace_back(llvm::cast<RankedTensorType>(adaptor.getInput().getType()).getShape());
  return success();
}

LogicalResult QuantizeOp::verify() {
  llvm::StringRef name = llvm::cast<BlockType>(getType().getElementType()).getEncodingName();
  if (name == "q8_s" || name == "q8_k")
    return success();
  return emitOpError("expects a result in q8_s or q8_k, but got ") << getType();
}

Footprint QuantizeOp::getFootprint(unsigned operand) {
  return Footprint::group(getEncoding(getType().getElementType())->blockSize);
}

/// Rounding to the result's element type quantises.
void QuantizeOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                          llvm::MutableArrayRef<ReferenceTensor> results) {
  llvm::copy(operands[0].toVector(), results[0].getValues().begin());
}

} // namespace tenon
