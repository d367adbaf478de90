#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// (x − mean) / √(var + ε) · weight + bias, a row at a time: the mean, the mean of squared
/// differences, then the result.
static LogicalResult emitLayerNorm(KernelContext& context, Value tile) {
  FailureOr<RowKernelOf<LayerNormOp>> kernel = context.read<RowKernelOf<LayerNormOp>>();
  if (failed(kernel))
    return failure();
  LayerNormOp norm = kernel->op;
  FailureOr<OrderAttr> order = orderOf(norm);
  if (failed(order))
    return failure();
  VectorBuilder& b = context.builder;
  int64_t lanes = context.lanes, sumLanes = order->getLanes();
  RowView input(context, norm.getInput());
  int64_t length = input.length();
  Value elements = b.splat(static_cast<float>(length), 0);
  return forTileRows(context, *kernel, tile, [&](Value row) {
    RowView x = input.from(b, row);
    Value sum = b.orderedSum(*order, length, [&](Value sums, Value first, int64_t count) {
      return b.fadd(sums, x.load(b, first, count, sumLanes));
    });
    Value mean = b.fdiv(sum, elements);
    Value sumMean = b.splat(mean, sumLanes), rowMean = b.splat(mean, lanes);
    Value squares = b.orderedSum(*order, length, [&](Value sums, Value first, int64_t count) {
      Value difference = b.fsub(x.load(b, first, count, sumLanes), sumMean);
      return b.fadd(sums, b.fmul(difference, difference));
    });
    Value shifted =
        b.fadd(b.fdiv(squares, elements), b.splat(norm.getEpsilon().convertToDouble(), 0));
    Value scale = b.splat(b.fdiv(b.splat(1.0f, 0), b.sqrt(shifted)), lanes);
    b.forVectors(length, lanes, [&](Value first, int64_t count) {
      Value value = b.fmul(b.fsub(x.load(b, first, count, lanes), rowMean), scale);
      if (norm.getWeight())
        value = b.fmul(value, RowView(context, norm.getWeight()).load(b, first, count, lanes));
      if (norm.getBias())
        value = b.fadd(value, RowView(context, norm.getBias()).load(b, first, count, lanes));
      storeRow(context, norm.getResult(), row, first, value, count);
    });
  });
}

extern constexpr Emitter layerNorm = {"layer_norm", emitLayerNorm};

} // namespace tenon::codegen::cpu::emitters
