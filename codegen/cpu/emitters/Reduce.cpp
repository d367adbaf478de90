#include <limits>

#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// The larger or smaller of two, NaN if either is.
static Value extremum(VectorBuilder& b, ReduceKind kind, Value a, Value other) {
  if (kind == ReduceKind::Max)
    return arith::MaximumFOp::create(b, a, other);
  return arith::MinimumFOp::create(b, a, other);
}

static Value reduceExtremum(VectorBuilder& b, ReduceKind kind, const RowView& row, int64_t lanes) {
  float worst = std::numeric_limits<float>::infinity() * (kind == ReduceKind::Max ? -1.0f : 1.0f);
  Value best = b.forVectors(row.length(), lanes, b.splat(worst, lanes),
                            [&](Value first, int64_t count, ValueRange state) {
                              Value next =
                                  extremum(b, kind, row.load(b, first, count, lanes), state[0]);
                              return llvm::SmallVector<Value>{b.keepTail(next, state[0], count)};
                            })[0];
  for (int64_t half = lanes / 2; half >= 1; half /= 2)
    best = extremum(b, kind, b.slice(best, 0, half), b.slice(best, half, half));
  return b.lane(best, 0);
}

/// Sum, mean, maximum or minimum of each row.
static LogicalResult emitReduce(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<ReduceOp>> kernel = context.read<RowKernelOf<ReduceOp>>();
  if (failed(kernel))
    return failure();
  ReduceOp reduce = kernel->op;
  FailureOr<OrderAttr> order = orderOf(reduce);
  if (failed(order))
    return failure();
  VectorBuilder& b = context.builder;
  ReduceKind kind = reduce.getKind();
  RowView input(context, reduce.getInput());
  return forTileRows(context, *kernel, tile, [&](Value row) {
    RowView x = input.from(b, row);
    Value value;
    if (kind == ReduceKind::Max || kind == ReduceKind::Min)
      value = reduceExtremum(b, kind, x, context.lanes);
    else
      value = b.orderedSum(*order, x.length(), [&](Value sums, Value first, int64_t count) {
        return b.fadd(sums, x.load(b, first, count, order->getLanes()));
      });
    if (kind == ReduceKind::Mean)
      value = b.fdiv(value, b.splat(static_cast<float>(x.length()), 0));
    storeRow(context, reduce.getResult(), row, b.i64(0), b.splat(value, 1), 1);
  });
}

extern constexpr Emitter reduce = {"reduce", emitReduce};

} // namespace tenon::codegen::cpu::emitters
