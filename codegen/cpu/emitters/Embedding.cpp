#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Rows.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// Rows of a table; a row of zeros for an id outside it.
static LogicalResult emitEmbedding(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<EmbeddingOp>> kernel = context.read<RowKernelOf<EmbeddingOp>>();
  if (failed(kernel))
    return failure();
  EmbeddingOp op = kernel->op;
  RankedTensorType table = op.getTable().getType();
  VectorBuilder& b = context.builder;
  RowDecoder decoder(table);
  int64_t length = table.getShape().back();
  RowView ids(context, op.getIds());
  return forTileRows(context, *kernel, tile, [&](Value row) {
    Value id = b.loadIndex(ids.element(), ids.base, row);
    auto decodeRow = [&] {
      Value source = b.advance(context.pointer(op.getTable()), b.mul(id, decoder.rowBytes()));
      storeDecodedRow(context, decoder, source, op.getResult(), row, length);
    };
    auto clearRow = [&] {
      b.forVectors(length, context.lanes, [&](Value first, int64_t count) {
        storeRow(context, op.getResult(), row, first, b.splat(0.0f, context.lanes), count);
      });
    };
    b.branch(b.isBelow(id, table.getShape().front()), decodeRow, clearRow);
  });
}

extern constexpr Emitter embedding = {"embedding", emitEmbedding};

} // namespace tenon::codegen::cpu::emitters
