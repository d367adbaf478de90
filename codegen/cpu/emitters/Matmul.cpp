#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Emitters.h"
#include "codegen/cpu/emitters/Rows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu::emitters {

namespace {

/// y = x · Wᵀ as blocks of dot products in registers: `row_block` rows of x times `column_block`
/// rows of W, one accumulator of `order.lanes` each. A step along K loads or decodes a vector of
/// each weight row once and multiplies it into every row of x, so a block-quantised weight is
/// decoded once for `row_block` rows.
///
/// A tile is `columns_per_tile` rows of W (all rows of x): its weights stay in the cache while the
/// rows of x pass by. `prefetch_bytes`, if present, is how far ahead of its loads each weight row
/// is asked for.
class MatmulEmission {
public:
  MatmulEmission(KernelContext& context, MatmulOp op)
      : context(context), b(context.builder), op(op), input(context, op.getInput()),
        weightType(op.getWeight().getType()), decoder(weightType) {}

  LogicalResult emit(Value tile);

private:
  LogicalResult readSchedule();
  void emitColumns(Value firstRow, int64_t rowCount);
  void emitBlock(Value firstRow, int64_t rowCount, Value firstColumn, int64_t columnCount);
  llvm::SmallVector<Value> emitChunk(Value start, int64_t length);
  void emitStep(Value element, int64_t count, llvm::SmallVectorImpl<Value>& accumulators);

  KernelContext& context;
  VectorBuilder& b;
  MatmulOp op;
  RowView input;
  RankedTensorType weightType;
  RowDecoder decoder;
  OrderAttr order;
  int64_t batches = 0, rows = 0, columns = 0, depth = 0; ///< y [batches, rows, columns]
  int64_t columnsPerTile = 0, columnBlock = 0, rowBlock = 0, prefetchBytes = 0;
  int64_t step = 0; ///< elements of K that the inner loop takes at once
  Value batch, tileFirst, tileEnd;
  llvm::SmallVector<Value> inputRows, weightRows; ///< of the block being emitted
};

} // namespace

LogicalResult MatmulEmission::readSchedule() {
  FailureOr<OrderAttr> scheduled = orderOf(op);
  FailureOr<int64_t> tile = context.parameter("columns_per_tile");
  FailureOr<int64_t> columnUnroll = context.parameter("column_block");
  FailureOr<int64_t> rowUnroll = context.parameter("row_block");
  if (failed(scheduled) || failed(tile) || failed(columnUnroll) || failed(rowUnroll))
    return failure();
  order = *scheduled, columnsPerTile = *tile, columnBlock = *columnUnroll, rowBlock = *rowUnroll;
  prefetchBytes = context.schedule().getParameter("prefetch_bytes").value_or(0);
  depth = weightType.getShape().back();
  columns = weightType.getShape().end()[-2];
  batches = weightType.getNumElements() / (columns * depth);
  rows = input.rows() / batches;
  rowBlock = std::min(rowBlock, rows);
  int64_t lanes = order.getLanes();
  step = std::max(lanes, decoder.blockSize());
  if (!decoder.supports(lanes) || order.getChunk() % step != 0)
    return op.emitOpError("expects an order whose lanes divide or hold whole blocks of ")
           << decoder.blockSize() << " elements, and whose chunk is a multiple of both, but got "
           << order;
  return context.expectTiles(batches * llvm::divideCeil(columns, columnsPerTile));
}

/// Adds `count` elements of K from `element` on to the accumulators, row-major [rows, columns].
void MatmulEmission::emitStep(Value element, int64_t count,
                              llvm::SmallVectorImpl<Value>& accumulators) {
  int64_t lanes = order.getLanes();
  Value weightOffset = decoder.byteOffset(b, element);
  llvm::SmallVector<Value> weights;
  for (Value row : weightRows) {
    weights.push_back(b.advance(row, weightOffset));
    if (prefetchBytes > 0 && count == step)
      b.prefetch(b.advance(weights.back(), prefetchBytes));
  }
  for (int64_t first = 0; first < count; first += lanes) {
    int64_t part = std::min(lanes, count - first);
    llvm::SmallVector<Value> x, w;
    for (Value row : inputRows)
      x.push_back(RowView(input.type, row).load(b, b.add(element, first), part, lanes));
    for (Value weight : weights)
      w.push_back(b.pad(decoder.decode(b, weight, first, part), lanes));
    for (auto [index, accumulator] : llvm::enumerate(accumulators)) {
      Value updated = b.fma(x[index / w.size()], w[index % w.size()], accumulator);
      accumulator = b.keepTail(updated, accumulator, part);
    }
  }
}

/// The block's dot products over elements [start, start + length) of K.
llvm::SmallVector<Value> MatmulEmission::emitChunk(Value start, int64_t length) {
  int64_t whole = length / step * step;
  Value zeros = b.splat(0.0f, order.getLanes());
  llvm::SmallVector<Value> sums(inputRows.size() * weightRows.size(), zeros);
  if (whole > 0)
    sums = b.loop(start, b.add(start, whole), step, sums, [&](Value element, ValueRange state) {
      llvm::SmallVector<Value> next(state);
      emitStep(element, step, next);
      return next;
    });
  if (whole < length)
    emitStep(b.add(start, whole), length - whole, sums);
  for (Value& sum : sums)
    sum = b.combineLanes(sum, order.getTree());
  return sums;
}

void MatmulEmission::emitBlock(Value firstRow, int64_t rowCount, Value firstColumn,
                               int64_t columnCount) {
  inputRows.clear(), weightRows.clear();
  Value inputRow = b.add(b.mul(batch, rows), firstRow);
  for (int64_t i = 0; i < rowCount; ++i)
    inputRows.push_back(input.from(b, b.add(inputRow, i)).base);
  Value weightRow = b.add(b.mul(batch, columns), firstColumn);
  for (int64_t i = 0; i < columnCount; ++i)
    weightRows.push_back(
        b.advance(context.pointer(op.getWeight()), b.mul(b.add(weightRow, i), decoder.rowBytes())));
  int64_t chunk = order.getChunk();
  llvm::SmallVector<Value> sums;
  if (chunk == 0 || chunk >= depth) {
    sums = emitChunk(b.i64(0), depth);
  } else {
    int64_t whole = depth / chunk * chunk;
    auto addChunk = [&](Value start, int64_t length, ValueRange totals) {
      llvm::SmallVector<Value> parts = emitChunk(start, length);
      for (auto [part, total] : llvm::zip_equal(parts, totals))
        part = b.fadd(total, part);
      return parts;
    };
    sums.assign(rowCount * columnCount, b.splat(-0.0f, 0));
    sums = b.loop(b.i64(0), b.i64(whole), chunk, sums,
                  [&](Value start, ValueRange totals) { return addChunk(start, chunk, totals); });
    if (whole < depth)
      sums = addChunk(b.i64(whole), depth - whole, sums);
  }
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Value row = b.add(inputRow, index / columnCount);
    Value column = b.add(firstColumn, index % columnCount);
    storeRow(context, op.getResult(), row, column, b.splat(sum, 1), 1);
  }
}

/// All columns of the tile for `rowCount` rows of x.
void MatmulEmission::emitColumns(Value firstRow, int64_t rowCount) {
  // Only the last tile of a batch can end in the middle of a block.
  bool wholeBlocks = columnsPerTile % columnBlock == 0 && columns % columnBlock == 0;
  Value count = b.sub(tileEnd, tileFirst);
  Value endWhole =
      wholeBlocks ? tileEnd : b.add(tileFirst, b.mul(b.div(count, columnBlock), columnBlock));
  b.loop(tileFirst, endWhole, columnBlock,
         [&](Value column) { emitBlock(firstRow, rowCount, column, columnBlock); });
  if (!wholeBlocks)
    b.loop(endWhole, tileEnd, 1, [&](Value column) { emitBlock(firstRow, rowCount, column, 1); });
}

LogicalResult MatmulEmission::emit(Value tile) {
  if (failed(readSchedule()))
    return failure();
  int64_t tilesPerBatch = llvm::divideCeil(columns, columnsPerTile);
  batch = b.div(tile, tilesPerBatch);
  tileFirst = b.mul(b.rem(tile, tilesPerBatch), columnsPerTile);
  tileEnd = b.min(b.add(tileFirst, columnsPerTile), b.i64(columns));
  int64_t wholeRows = rows / rowBlock * rowBlock;
  b.loop(b.i64(0), b.i64(wholeRows), rowBlock, [&](Value row) { emitColumns(row, rowBlock); });
  if (wholeRows < rows)
    emitColumns(b.i64(wholeRows), rows - wholeRows);
  return success();
}

static LogicalResult emitMatmul(KernelContext& context, Value tile) {
  auto op = context.soleOp<MatmulOp>();
  if (!op)
    return failure();
  if (!findWeightDecoder(op.getWeight().getType().getElementType()))
    return op.emitOpError("expects a weight that can be decoded on the CPU, but got ")
           << op.getWeight().getType();
  return MatmulEmission(context, op).emit(tile);
}

const Emitter matmul = {"matmul", emitMatmul};

} // namespace tenon::codegen::cpu::emitters
