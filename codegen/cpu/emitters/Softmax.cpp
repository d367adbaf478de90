#include <limits>

#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// exp(x − max) / Σ exp(x − max), a row at a time. The exponentials of the sum are computed again
/// for the result rather than stored: a result of 16 bits could not hold them.
static LogicalResult emitSoftmax(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<SoftmaxOp>> kernel = context.read<RowKernelOf<SoftmaxOp>>();
  if (failed(kernel))
    return failure();
  SoftmaxOp softmax = kernel->op;
  FailureOr<OrderAttr> order = orderOf(softmax);
  if (failed(order))
    return failure();
  VectorBuilder& b = context.builder;
  int64_t lanes = context.lanes, sumLanes = order->getLanes();
  RowView input(context, softmax.getInput());
  int64_t length = input.length();
  return forTileRows(context, *kernel, tile, [&](Value row) {
    RowView x = input.from(b, row);
    Value lowest = b.splat(-std::numeric_limits<float>::infinity(), lanes);
    Value greatest =
        b.forVectors(length, lanes, lowest, [&](Value first, int64_t count, ValueRange state) {
          Value larger = b.fmax(x.load(b, first, count, lanes), state[0]);
          return llvm::SmallVector<Value>{b.keepTail(larger, state[0], count)};
        })[0];
    Value max = b.greatestLane(greatest);
    Value sumMax = b.splat(max, sumLanes), rowMax = b.splat(max, lanes);
    Value sum = b.orderedSum(*order, length, [&](Value sums, Value first, int64_t count) {
      return b.fadd(sums, b.exp(b.fsub(x.load(b, first, count, sumLanes), sumMax)));
    });
    Value divisor = b.splat(sum, lanes);
    b.forVectors(length, lanes, [&](Value first, int64_t count) {
      Value exponential = b.exp(b.fsub(x.load(b, first, count, lanes), rowMax));
      storeRow(context, softmax.getResult(), row, first, b.fdiv(exponential, divisor), count);
    });
  });
}

extern constexpr Emitter softmax = {"softmax", emitSoftmax};

} // namespace tenon::codegen::cpu::emitters
