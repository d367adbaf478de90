#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// x / √(mean(x²) + ε) · weight, a row at a time: one pass for the sum of squares, one to scale.
static LogicalResult emitRmsNorm(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<RmsNormOp>> kernel = context.read<RowKernelOf<RmsNormOp>>();
  if (failed(kernel))
    return failure();
  RmsNormOp norm = kernel->op;
  FailureOr<OrderAttr> order = orderOf(norm);
  if (failed(order))
    return failure();
  VectorBuilder& b = context.builder;
  int64_t lanes = context.lanes, sumLanes = order->getLanes();
  RowView input(context, norm.getInput());
  int64_t length = input.length();
  return forTileRows(context, *kernel, tile, [&](Value row) {
    RowView x = input.from(b, row);
    Value sum = b.orderedSum(*order, length, [&](Value sums, Value first, int64_t count) {
      Value terms = x.load(b, first, count, sumLanes);
      return b.fadd(sums, b.fmul(terms, terms));
    });
    Value mean = b.fdiv(sum, b.splat(static_cast<float>(length), 0));
    Value shifted = b.fadd(mean, b.splat(norm.getEpsilon().convertToDouble(), 0));
    Value scale = b.splat(b.fdiv(b.splat(1.0f, 0), b.sqrt(shifted)), lanes);
    b.forVectors(length, lanes, [&](Value first, int64_t count) {
      Value scaled = b.fmul(x.load(b, first, count, lanes), scale);
      if (norm.getWeight())
        scaled = b.fmul(scaled, RowView(context, norm.getWeight()).load(b, first, count, lanes));
      storeRow(context, norm.getResult(), row, first, scaled, count);
    });
  });
}

extern constexpr Emitter rmsNorm = {"rms_norm", emitRmsNorm};

} // namespace tenon::codegen::cpu::emitters
