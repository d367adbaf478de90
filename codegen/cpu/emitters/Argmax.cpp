#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Selection.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// Index of the largest element of each row, the lowest on a tie; −1 where there is a NaN.
static LogicalResult emitArgmax(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<ArgmaxOp>> kernel = context.read<RowKernelOf<ArgmaxOp>>();
  if (failed(kernel))
    return failure();
  ArgmaxOp op = kernel->op;
  VectorBuilder& b = context.builder;
  RowView input(context, op.getInput());
  return forTileRows(context, *kernel, tile, [&](Value row) {
    Selected best = selectBest(b, input.from(b, row), context.lanes, highestKey, std::nullopt);
    Value isNan = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, best.key, b.i32(highestKey));
    Value index = b.select(isNan, b.i32(-1), best.index);
    storeIndex(context, op.getResult(), row, index);
  });
}

extern constexpr Emitter argmax = {"argmax", emitArgmax};

} // namespace tenon::codegen::cpu::emitters
