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
  // A few bytes of text stand for any number of equal elements. Large constants are weights.
  constexpr int64_t mostBytes = 64 << 20;
  if (std::optional<int64_t> bytes = getStorageBytes(getType()); !bytes || *bytes > mostBytes)
    return emitOpError("expects a constant of at most ")
           << mostBytes << " bytes, but got " << getType();
  return success();
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "cst"); }

} // namespace tenon
