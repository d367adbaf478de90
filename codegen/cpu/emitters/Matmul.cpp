#include "codegen/cpu/emitters/DotBlock.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// y = x · Wᵀ for few rows of x, where reading W is what takes time, in blocks of dot products. A
/// tile is `columns_per_tile` rows of W and all rows of x.
class MatmulEmission {
public:
  MatmulEmission(KernelContext& context, const MatmulKernel& kernel)
      : context(context), b(context.builder), op(kernel.op), schedule(kernel.schedule), shape(op),
        input(context, op.getInput()),
        block(context, schedule, input.type, op.getWeight().getType()),
        rowBlock(std::min(schedule.rowBlock, shape.rows)) {}

  LogicalResult emit(Value tile);

private:
  void emitRows(Value firstColumn, Value endColumn);
  void emitColumns(Value firstRow, int64_t rowCount, Value firstColumn, Value endColumn);
  Value weightRow(Value column);
  void emitBlock(Value firstRow, int64_t rowCount, Value firstColumn, int64_t columnCount);

  KernelContext& context;
  VectorBuilder& b;
  MatmulOp op;
  DotBlockSchedule schedule;
  kernels::MatmulExtents shape;
  RowView input;
  DotBlock block;
  int64_t rowBlock; ///< at most all rows
  Value batch;
};

} // namespace

/// The encoded row of W for `column` of the current batch.
Value MatmulEmission::weightRow(Value column) {
  Value row = b.add(b.mul(batch, shape.columns), column);
  return b.advance(context.pointer(op.getWeight()), b.mul(row, block.weightRowBytes()));
}

void MatmulEmission::emitBlock(Value firstRow, int64_t rowCount, Value firstColumn,
                               int64_t columnCount) {
  llvm::SmallVector<Value> inputRows, weightRows;
  Value inputRow = b.add(b.mul(batch, shape.rows), firstRow);
  for (int64_t i = 0; i < rowCount; ++i)
    inputRows.push_back(input.from(b, b.add(inputRow, i)).base);
  for (int64_t i = 0; i < columnCount; ++i)
    weightRows.push_back(weightRow(b.add(firstColumn, i)));
  for (auto [index, sum] : llvm::enumerate(block.emit(inputRows, weightRows))) {
    Value row = b.add(inputRow, index / columnCount);
    Value column = b.add(firstColumn, index % columnCount);
    storeRow(context, op.getResult(), row, column, b.splat(sum, 1), 1);
  }
}

/// Columns [firstColumn, endColumn) for `rowCount` rows of x.
void MatmulEmission::emitColumns(Value firstRow, int64_t rowCount, Value firstColumn,
                                 Value endColumn) {
  int64_t columnBlock = schedule.columnBlock;
  // Otherwise the range ends in the middle of a block in the last tile of a batch alone.
  bool wholeBlocks = schedule.columnsPerTile % columnBlock == 0 && shape.columns % columnBlock == 0;
  Value count = b.sub(endColumn, firstColumn);
  Value endWhole =
      wholeBlocks ? endColumn : b.add(firstColumn, b.mul(b.div(count, columnBlock), columnBlock));
  b.loop(firstColumn, endWhole, columnBlock,
         [&](Value column) { emitBlock(firstRow, rowCount, column, columnBlock); });
  if (!wholeBlocks)
    b.loop(endWhole, endColumn, 1, [&](Value column) { emitBlock(firstRow, rowCount, column, 1); });
}

/// Columns [firstColumn, endColumn) for all rows of x.
void MatmulEmission::emitRows(Value firstColumn, Value endColumn) {
  int64_t rows = shape.rows, wholeRows = rows / rowBlock * rowBlock;
  b.loop(b.i64(0), b.i64(wholeRows), rowBlock,
         [&](Value row) { emitColumns(row, rowBlock, firstColumn, endColumn); });
  if (wholeRows < rows)
    emitColumns(b.i64(wholeRows), rows - wholeRows, firstColumn, endColumn);
}

LogicalResult MatmulEmission::emit(Value tile) {
  int64_t perTile = schedule.columnsPerTile;
  int64_t tilesPerBatch = llvm::divideCeil(shape.columns, perTile);
  if (failed(block.read(op)) || failed(context.expectTiles(shape.batches * tilesPerBatch)))
    return failure();
  batch = b.div(tile, tilesPerBatch);
  Value first = b.mul(b.rem(tile, tilesPerBatch), perTile);
  Value end = b.min(b.add(first, perTile), b.i64(shape.columns));
  block.prepare();
  emitRows(first, end);
  return success();
}

static LogicalResult emitMatmul(KernelContext& context, Value tile) {
  FailureOr<MatmulKernel> kernel = context.read<MatmulKernel>();
  return failed(kernel) ? failure() : MatmulEmission(context, *kernel).emit(tile);
}

extern constexpr Emitter matmul = {MatmulKernel::name, emitMatmul};

} // namespace tenon::codegen::cpu::emitters
