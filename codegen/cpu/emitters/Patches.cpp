#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// A row is a window of all channels; zeros outside the input.
static LogicalResult emitPatches(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<PatchesOp>> kernel = context.read<RowKernelOf<PatchesOp>>();
  if (failed(kernel))
    return failure();
  PatchesOp op = kernel->op;
  VectorBuilder& b = context.builder;
  llvm::ArrayRef<int64_t> window = op.getWindow(), shape = op.getInput().getType().getShape();
  size_t axes = window.size();
  llvm::SmallVector<int64_t> counts = op.getWindowCounts(), steps = computeStrides(shape);
  int64_t length = op.getType().getShape().back();
  int64_t bytes = elementBytes(op.getType().getElementType());
  Type bits = b.getIntegerType(bytes * 8);
  llvm::SmallVector<Value> destinations(context.destinations(op.getResult()));
  return forTileRows(context, *kernel, tile, [&](Value row) {
    llvm::SmallVector<Value> starts(axes); // of the window
    Value batch = row;
    for (size_t i = axes; i-- > 0; batch = b.div(batch, counts[i]))
      starts[i] = b.add(b.mul(b.rem(batch, counts[i]), op.getStrides()[i]), -op.getLow()[i]);
    b.loop(b.i64(0), b.i64(length), 1, [&](Value column) {
      Value channel = column, from = b.mul(batch, steps[0]), isInside;
      for (size_t i = axes; i-- > 0; channel = b.div(channel, window[i])) {
        Value place = b.add(starts[i], b.rem(channel, window[i]));
        Value isBelow = b.isBelow(place, shape[i + 2]);
        isInside = isInside ? arith::AndIOp::create(b, isInside, isBelow).getResult() : isBelow;
        from = b.add(from, b.mul(place, steps[i + 2]));
      }
      from = b.add(from, b.mul(channel, steps[1]));
      auto store = [&](Value value) {
        Value element = b.add(b.mul(row, length), column);
        for (Value destination : destinations)
          b.store(value, b.advance(destination, b.mul(element, bytes)));
      };
      auto move = [&] {
        store(b.load(bits, b.advance(context.pointer(op.getInput()), b.mul(from, bytes))));
      };
      auto clear = [&] { store(arith::ConstantOp::create(b, b.getIntegerAttr(bits, 0))); };
      b.branch(isInside, move, clear);
    });
  });
}

extern constexpr Emitter patches = {"patches", emitPatches};

} // namespace tenon::codegen::cpu::emitters
