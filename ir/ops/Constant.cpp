#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

OpFoldResult ConstantOp::fold(FoldAdaptor adaptor) { return getValue(); }

LogicalResult ConstantOp::verify() {
  if (!llvm::isa<DenseElementsAttr>(getValue()))
    return emitOpError("expects dense elements, but got ") << getValue();
  if (getValue().getShapedType() != getType())
    return emitOpError("expects the type of its value, ")
           << getValue().getShapedType() << ", but got " << getType();
  return success();
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "cst"); }

} // namespace tenon
