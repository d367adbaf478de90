#include "codegen/cpu/emitters/Rows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu {

LogicalResult forTileRows(KernelContext& context, Operation* op,
                          const kernels::cpu::RowSchedule& schedule, Value tile,
                          llvm::function_ref<void(Value)> body) {
  int64_t rows = kernels::cpu::rowExtentsOf(op).rows, perTile = schedule.rowsPerTile;
  if (failed(context.expectTiles(llvm::divideCeil(rows, perTile))))
    return failure();
  VectorBuilder& b = context.builder;
  Value first = b.mul(tile, perTile);
  b.loop(first, b.min(b.add(first, perTile), b.i64(rows)), 1, body);
  return success();
}

void storeRow(KernelContext& context, Value result, Value row, Value first, Value vector,
              int64_t count) {
  VectorBuilder& b = context.builder;
  for (Value destination : context.destinations(result)) {
    RowView view(result.getType(), destination);
    b.storeFloats(vector, view.element(), view.from(b, row).at(b, first), count);
  }
}

void storeDecodedRow(KernelContext& context, const RowDecoder& decoder, Value source, Value result,
                     Value row, int64_t length) {
  VectorBuilder& b = context.builder;
  int64_t step = std::max(context.lanes, decoder.blockSize());
  b.forVectors(length, step, [&](Value element, int64_t count) {
    Value encoded = b.advance(source, decoder.byteOffset(b, element));
    for (int64_t first = 0; first < count; first += context.lanes) {
      int64_t part = std::min(context.lanes, count - first);
      Value values = decoder.decode(b, encoded, first, part);
      storeRow(context, result, row, b.add(element, first), values, part);
    }
  });
}

} // namespace tenon::codegen::cpu
