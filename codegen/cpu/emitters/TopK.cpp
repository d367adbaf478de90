#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Selection.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// The k largest elements of each row by k passes, each for the best one after the last: for the
/// small k of sampling that is cheaper than sorting, and it needs no memory.
static LogicalResult emitTopK(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<TopKOp>> kernel = context.read<RowKernelOf<TopKOp>>();
  if (failed(kernel))
    return failure();
  TopKOp op = kernel->op;
  VectorBuilder& b = context.builder;
  int64_t k = op.getK();
  RowView input(context, op.getInput());
  return forTileRows(context, *kernel, tile, [&](Value row) {
    RowView x = input.from(b, row);
    Value highest = b.i32(highestKey);
    b.loop(b.i64(0), b.i64(k), 1, {highest, b.i32(-1)}, [&](Value place, ValueRange last) {
      Selected best = selectBest(b, x, context.lanes, lowestKey, Selected{last[0], last[1]});
      Value index = arith::ExtSIOp::create(b, b.getI64Type(), best.index);
      Value value = b.splat(b.loadFloat(x.element(), x.at(b, index)), 1);
      storeRow(context, op.getValues(), row, place, value, 1);
      storeIndex(context, op.getIndices(), b.add(b.mul(row, k), place), best.index);
      return llvm::SmallVector<Value>{best.key, best.index};
    });
  });
}

extern constexpr Emitter topK = {"top_k", emitTopK};

} // namespace tenon::codegen::cpu::emitters
