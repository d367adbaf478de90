#include "codegen/cpu/emitters/DotBlock.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu::emitters {

namespace {

/// y = x · Wᵀ for few rows of x, where reading W is what takes time, in blocks of dot products. A
/// tile is `columns_per_tile` rows of W and all rows of x. The other parameters: `DotBlock`.
class MatmulEmission {
public:
  MatmulEmission(KernelContext& context, MatmulOp op)
      : context(context), b(context.builder), op(op), input(context, op.getInput()),
        weightType(op.getWeight().getType()), block(context, input.type, weightType) {}

  LogicalResult emit(Value tile);

private:
  LogicalResult readSchedule();
  void emitRows(Value firstColumn, Value endColumn);
  void emitColumns(Value firstRow, int64_t rowCount, Value firstColumn, Value endColumn);
  Value weightRow(Value column);
  void emitBlock(Value firstRow, int64_t rowCount, Value firstColumn, int64_t columnCount);

  KernelContext& context;
  VectorBuilder& b;
  MatmulOp op;
  RowView input;
  RankedTensorType weightType;
  DotBlock block;
  int64_t batches = 0, rows = 0, columns = 0, depth = 0; ///< y [batches, rows, columns]
  int64_t columnsPerTile = 0, columnBlock = 0, rowBlock = 0;
  Value batch;
};

} // namespace

LogicalResult MatmulEmission::readSchedule() {
  FailureOr<int64_t> tile = context.parameter("columns_per_tile");
  if (failed(tile) || failed(block.read(op)))
    return failure();
  columnsPerTile = *tile, columnBlock = block.columnBlock();
  depth = weightType.getShape().back();
  columns = weightType.getShape().end()[-2];
  batches = weightType.getNumElements() / (columns * depth);
  rows = input.rows() / batches;
  rowBlock = std::min(block.rowBlock(), rows);
  return context.expectTiles(batches * llvm::divideCeil(columns, columnsPerTile));
}

/// The encoded row of W for `column` of the current batch.
Value MatmulEmission::weightRow(Value column) {
  Value row = b.add(b.mul(batch, columns), column);
  return b.advance(context.pointer(op.getWeight()), b.mul(row, block.weightRowBytes()));
}

void MatmulEmission::emitBlock(Value firstRow, int64_t rowCount, Value firstColumn,
                               int64_t columnCount) {
  llvm::SmallVector<Value> inputRows, weightRows;
  Value inputRow = b.add(b.mul(batch, rows), firstRow);
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
  // Otherwise the range ends in the middle of a block in the last tile of a batch alone.
  bool wholeBlocks = columnsPerTile % columnBlock == 0 && columns % columnBlock == 0;
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
  int64_t wholeRows = rows / rowBlock * rowBlock;
  b.loop(b.i64(0), b.i64(wholeRows), rowBlock,
         [&](Value row) { emitColumns(row, rowBlock, firstColumn, endColumn); });
  if (wholeRows < rows)
    emitColumns(b.i64(wholeRows), rows - wholeRows, firstColumn, endColumn);
}

LogicalResult MatmulEmission::emit(Value tile) {
  if (failed(readSchedule()))
    return failure();
  int64_t tilesPerBatch = llvm::divideCeil(columns, columnsPerTile);
  batch = b.div(tile, tilesPerBatch);
  Value first = b.mul(b.rem(tile, tilesPerBatch), columnsPerTile);
  Value end = b.min(b.add(first, columnsPerTile), b.i64(columns));
  block.prepare();
  emitRows(first, end);
  return success();
}

static LogicalResult emitMatmul(KernelContext& context, Value tile) {
  auto op = context.soleOp<MatmulOp>();
  if (!op)
    return failure();
  if (op.isQuantized())
    return op.emitOpError("expects an input of floats for this emitter, but got ")
           << op.getInput().getType();
  if (!canDecode(op.getWeight().getType().getElementType()))
    return op.emitOpError("expects a weight that can be decoded on the CPU, but got ")
           << op.getWeight().getType();
  return MatmulEmission(context, op).emit(tile);
}

extern const Emitter matmul = {"matmul", emitMatmul};

} // namespace tenon::codegen::cpu::emitters
