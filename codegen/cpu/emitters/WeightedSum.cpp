#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "kernels/cpu/Experts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// Sums of the vectors of a row. A tile is `columns_per_tile` columns of `rows_per_tile` rows,
/// whole vectors or all of them.
static LogicalResult emitWeightedSum(KernelContext& context, Value tile) {
  FailureOr<WeightedSumKernel> kernel = context.read<WeightedSumKernel>();
  if (failed(kernel))
    return failure();
  WeightedSumOp op = kernel->op;
  int64_t perTile = kernel->schedule.columnsPerTile, rowsPerTile = kernel->schedule.rowsPerTile;
  llvm::ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  int64_t chosen = shape[1], columns = shape[2], width = context.lanes;
  if (perTile % width != 0 && perTile < columns)
    return op.emitOpError("expects columns_per_tile to be a multiple of ")
           << width << ", but got " << perTile;
  int64_t tilesPerRow = llvm::divideCeil(columns, perTile);
  if (failed(context.expectTiles(llvm::divideCeil(shape[0], rowsPerTile) * tilesPerRow)))
    return failure();
  VectorBuilder& b = context.builder;
  Value firstRow = b.mul(b.div(tile, tilesPerRow), rowsPerTile);
  Value endRow = b.min(b.add(firstRow, rowsPerTile), b.i64(shape[0]));
  Value first = b.mul(b.rem(tile, tilesPerRow), perTile);
  Value end = b.min(b.add(first, perTile), b.i64(columns));
  auto emitVector = [&](Value row, Value column, int64_t count) {
    RowView vectors = RowView(context, op.getInput()).from(b, b.mul(row, chosen));
    RowView weights = RowView(context, op.getWeights()).from(b, row);
    auto addVector = [&](Value index, ValueRange sum) {
      Value weight = b.splat(b.loadFloat(weights.element(), weights.at(b, index)), width);
      Value x = vectors.from(b, index).load(b, column, count, width);
      return llvm::SmallVector<Value>{b.fma(weight, x, sum.front())};
    };
    Value sum = b.loop(b.i64(0), b.i64(chosen), 1, {b.splat(0.0f, width)}, addVector).front();
    storeRow(context, op.getResult(), row, column, sum, count);
  };
  int64_t rest = columns % width;
  b.loop(firstRow, endRow, 1, [&](Value row) {
    b.loop(first, b.min(end, b.i64(columns - rest)), width,
           [&](Value column) { emitVector(row, column, width); });
    if (rest == 0)
      return;
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, end, b.i64(columns));
    b.branch(isLast, [&] { emitVector(row, b.i64(columns - rest), rest); });
  });
  return success();
}

extern constexpr Emitter weightedSum = {WeightedSumKernel::name, emitWeightedSum};

} // namespace tenon::codegen::cpu::emitters
