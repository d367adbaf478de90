#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Rows.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// The decoded rows of a block-quantised tensor.
static LogicalResult emitDequantize(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<DequantizeOp>> kernel = context.read<RowKernelOf<DequantizeOp>>();
  if (failed(kernel))
    return failure();
  DequantizeOp op = kernel->op;
  RankedTensorType type = op.getInput().getType();
  VectorBuilder& b = context.builder;
  RowDecoder decoder(type);
  int64_t length = type.getShape().back();
  return forTileRows(context, *kernel, tile, [&](Value row) {
    Value source = b.advance(context.pointer(op.getInput()), b.mul(row, decoder.rowBytes()));
    storeDecodedRow(context, decoder, source, op.getResult(), row, length);
  });
}

extern constexpr Emitter dequantize = {"dequantize", emitDequantize};

} // namespace tenon::codegen::cpu::emitters
