#include "codegen/cuda/emitters/TensorOperands.h"

#include "codegen/cuda/ScalarPrinter.h"

using namespace mlir;

namespace tenon::codegen::cuda {

LogicalResult verifyTensorOperands(AttentionOp op, int64_t sizeMultiple, bool mayBeQuants) {
  Type type = elementTypeOf(op.getQuery().getType());
  int64_t size = shapeOf(op.getKey().getType())[3], valueSize = shapeOf(op.getValue().getType())[3];
  bool areQuants = mayBeQuants && KvCache(op.getKey().getType()).isQuantized() &&
                   KvCache(op.getValue().getType()).isQuantized();
  bool areOfType = type == elementTypeOf(op.getKey().getType()) &&
                   type == elementTypeOf(op.getValue().getType());
  if (type.isF32() || (!areQuants && !areOfType) || type != op.getType().getElementType())
    return op.emitOpError("expects one 16-bit type for an emitter on tensor cores, but got ")
           << op->getOperandTypes() << " and " << op.getType();
  if (KvCache(op.getKey().getType()).isRing())
    return op.emitOpError("expects caches in the layout dense or paged for an emitter on tensor "
                          "cores, but got ")
           << op.getKey().getType();
  if (size % sizeMultiple != 0 || valueSize % sizeMultiple != 0 || size > 256 || valueSize > 256)
    return op.emitOpError("expects heads of at most 256 elements, multiples of ")
           << sizeMultiple << ", but got " << size << " and " << valueSize;
  if (op.getScale().convertToDouble() <= 0)
    return op.emitOpError("expects a positive scale on tensor cores, but got ")
           << op.getScale().convertToDouble();
  if (op.getOrderAttr())
    return op.emitOpError("expects no order on tensor cores, but got ") << op.getOrderAttr();
  return success();
}

std::string scoreScale(AttentionOp op) {
  return absl::StrFormat("ScoreScale{%s, %s}", floatLiteral(op.getScale().convertToDouble()),
                         floatLiteral(op.getSoftcap().convertToDouble()));
}

} // namespace tenon::codegen::cuda
