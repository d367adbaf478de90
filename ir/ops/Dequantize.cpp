#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult
DequantizeOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                        Adaptor adaptor,
                                        llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  shapes.emplace_back(llvm::cast<RankedTensorType>(adaptor.getInput().getType()).getShape());
  return success();
}

Footprint DequantizeOp::getFootprint(unsigned operand) {
  return Footprint::group(getEncoding(getInput().getType().getElementType())->blockSize);
}

void DequantizeOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                            llvm::MutableArrayRef<ReferenceTensor> results) {
  llvm::copy(operands[0].toVector(), results[0].getValues().begin());
}

} // namespace tenon
