#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Rows.h"

using namespace mlir;

namespace tenon::codegen::cpu::emitters {

/// The decoded rows of a block-quantised tensor.
static LogicalResult emitDequantize(KernelContext& context, Value tile) {
  auto op = context.soleOp<DequantizeOp>();
  if (!op)
    return failure();
  RankedTensorType type = op.getInput().getType();
  if (!canDecode(type.getElementType()))
    return op.emitOpError("expects an input that can be decoded on the CPU, but got ") << type;
  VectorBuilder& b = context.builder;
  RowDecoder decoder(type);
  int64_t length = type.getShape().back();
  return forTileRows(context, tile, type.getNumElements() / length, [&](Value row) {
    Value source = b.advance(context.pointer(op.getInput()), b.mul(row, decoder.rowBytes()));
    storeDecodedRow(context, decoder, source, op.getResult(), row, length);
  });
}

extern const Emitter dequantize = {"dequantize", emitDequantize};

} // namespace tenon::codegen::cpu::emitters
