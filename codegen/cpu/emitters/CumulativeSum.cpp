#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// Adds the elements of a row one after the other.
static LogicalResult emitCumulativeSum(KernelContext& context, Value tile) {
  auto kernel = context.read<RowKernelOf<CumulativeSumOp>>();
  if (failed(kernel))
    return failure();
  CumulativeSumOp op = kernel->op;
  VectorBuilder& b = context.builder;
  RowView input(context, op.getInput());
  llvm::SmallVector<Value> destinations(context.destinations(op.getResult()));
  return forTileRows(context, *kernel, tile, [&](Value row) {
    RowView x = input.from(b, row);
    Value start = b.zeros(x.element(), 0);
    b.loop(b.i64(0), b.i64(x.length()), 1, start, [&](Value i, ValueRange state) {
      Value next = b.loadFloat(x.element(), x.at(b, i));
      Value sum = x.element().isInteger() ? b.add(state[0], next) : b.fadd(state[0], next);
      for (Value destination : destinations) {
        RowView result = RowView(op.getType(), destination).from(b, row);
        b.storeFloat(sum, result.element(), result.at(b, i));
      }
      return llvm::SmallVector<Value>{sum};
    });
  });
}

extern constexpr Emitter cumulativeSum = {"cumulative_sum", emitCumulativeSum};

} // namespace tenon::codegen::cpu::emitters
