#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// Each element looks through the indices along its axis for its own place, in their order.
static LogicalResult emitScatter(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<ScatterOp>> kernel = context.read<RowKernelOf<ScatterOp>>();
  if (failed(kernel))
    return failure();
  ScatterOp op = kernel->op;
  VectorBuilder& b = context.builder;
  auto axis = static_cast<int64_t>(op.getAxis());
  llvm::ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t extent = shape[axis], count = op.getIndices().getType().getShape()[axis];
  int64_t inner = computeProduct(shape.drop_front(axis + 1)), length = shape.back();
  RowView input(context, op.getInput()), updates(context, op.getUpdates());
  llvm::SmallVector<Value> destinations(context.destinations(op.getResult()));
  return forTileRows(context, *kernel, tile, [&](Value row) {
    b.loop(b.i64(0), b.i64(length), 1, [&](Value column) {
      Value element = b.add(b.mul(row, length), column);
      Value place = b.rem(b.div(element, inner), extent);
      Value first =
          b.add(b.mul(b.div(element, extent * inner), count * inner), b.rem(element, inner));
      Value start = b.loadFloat(input.element(), input.at(b, element));
      Value value =
          b.loop(b.i64(0), b.i64(count), 1, start, [&](Value i, ValueRange state) {
             Value at = b.add(first, b.mul(i, inner));
             Value index = b.loadIndex(op.getIndices().getType().getElementType(),
                                       context.pointer(op.getIndices()), at);
             Value isHere = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, place);
             Value update = b.loadFloat(updates.element(), updates.at(b, at));
             if (op.getAccumulate())
               update =
                   input.element().isInteger() ? b.add(state[0], update) : b.fadd(state[0], update);
             return llvm::SmallVector<Value>{b.select(isHere, update, state[0])};
           }).front();
      for (Value destination : destinations) {
        RowView result(op.getType(), destination);
        b.storeFloat(value, result.element(), result.at(b, element));
      }
    });
  });
}

extern constexpr Emitter scatter = {"scatter", emitScatter};

} // namespace tenon::codegen::cpu::emitters
