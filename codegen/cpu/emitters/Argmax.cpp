#include "codegen/cpu/emitters/Emitters.h"
#include "codegen/cpu/emitters/Selection.h"

using namespace mlir;

namespace tenon::codegen::cpu::emitters {

/// Index of the largest element of each row, the lowest on a tie.
static LogicalResult emitArgmax(KernelContext& context, Value tile) {
  auto op = context.soleOp<ArgmaxOp>();
  if (!op)
    return failure();
  VectorBuilder& b = context.builder;
  RowView input(context, op.getInput());
  return forTileRows(context, tile, input.rows(), [&](Value row) {
    Selected best = selectBest(b, input.from(b, row), context.lanes, std::nullopt);
    for (Value destination : context.destinations(op.getResult()))
      b.store(best.index, b.advance(destination, b.mul(row, 4)));
  });
}

const Emitter argmax = {"argmax", emitArgmax};

} // namespace tenon::codegen::cpu::emitters
