#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// Elements along an axis by index; zero for an index outside it.
static LogicalResult emitGather(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<GatherOp>> kernel = context.read<RowKernelOf<GatherOp>>();
  if (failed(kernel))
    return failure();
  GatherOp op = kernel->op;
  VectorBuilder& b = context.builder;
  auto axis = static_cast<int64_t>(op.getAxis());
  llvm::ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t extent = op.getInput().getType().getShape()[axis], count = shape[axis];
  int64_t inner = computeProduct(shape.drop_front(axis + 1)), length = shape.back();
  int64_t bytes = elementBytes(op.getType().getElementType());
  Type bits = b.getIntegerType(bytes * 8);
  llvm::SmallVector<Value> destinations(context.destinations(op.getResult()));
  return forTileRows(context, *kernel, tile, [&](Value row) {
    b.loop(b.i64(0), b.i64(length), 1, [&](Value column) {
      Value element = b.add(b.mul(row, length), column);
      Value index = b.loadIndex(op.getIndices().getType().getElementType(),
                                context.pointer(op.getIndices()), element);
      auto store = [&](Value value) {
        for (Value destination : destinations)
          b.store(value, b.advance(destination, b.mul(element, bytes)));
      };
      auto move = [&] {
        Value line = b.add(b.mul(b.div(element, count * inner), extent), index);
        Value from = b.add(b.mul(line, inner), b.rem(element, inner));
        store(b.load(bits, b.advance(context.pointer(op.getInput()), b.mul(from, bytes))));
      };
      auto clear = [&] { store(arith::ConstantOp::create(b, b.getIntegerAttr(bits, 0))); };
      b.branch(b.isBelow(index, extent), move, clear);
    });
  });
}

extern constexpr Emitter gather = {"gather", emitGather};

} // namespace tenon::codegen::cpu::emitters
