#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Rows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu::emitters {

namespace {

/// y = x · Wᵀ for few rows of x, where reading W is what takes time, as blocks of dot products in
/// registers: `row_block` rows of x times `column_block` rows of W, one accumulator of
/// `order.lanes` each. A step along K loads or decodes a vector of each weight row once and
/// multiplies it into every row of x.
///
/// A tile is `columns_per_tile` rows of W and all rows of x. The inner loop takes `step` elements
/// of K at once, rounded up to whole vectors and blocks. `prefetch_bytes`, if present, is how far
/// ahead of its loads each weight row is asked for.
class MatmulEmission {
public:
  MatmulEmission(KernelContext& context, MatmulOp op)
      : context(context), b(context.builder), op(op), input(context, op.getInput()),
        weightType(op.getWeight().getType()), decoder(weightType) {}

  LogicalResult emit(Value tile);

private:
  /// Elements of K that the inner loop takes at once: a few blocks of the largest encoding.
  static constexpr int64_t mostStep = 1024;

  LogicalResult readSchedule();
  LogicalResult checkOrder();
  LogicalResult checkUnrolled();
  void emitRows(Value firstColumn, Value endColumn);
  void emitColumns(Value firstRow, int64_t rowCount, Value firstColumn, Value endColumn);
  Value weightRow(Value column);
  void emitBlock(Value firstRow, int64_t rowCount, Value firstColumn, int64_t columnCount);
  llvm::SmallVector<Value> emitChunk(Value start, int64_t length);
  void emitStep(Value element, int64_t count, llvm::SmallVectorImpl<Value>& accumulators);
  bool usesUnits() const;
  void prefetchRow(Value weight, int64_t bytes);
  llvm::SmallVector<Value> emitUnits(Value element, ValueRange accumulators);

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
  Value batch;
  Value preparedScales;                           ///< of a block of each weight row
  llvm::SmallVector<Value> inputRows, weightRows; ///< of the block being emitted
};

} // namespace

LogicalResult MatmulEmission::readSchedule() {
  FailureOr<OrderAttr> scheduled = orderOf(op);
  FailureOr<int64_t> tile = context.parameter("columns_per_tile");
  FailureOr<int64_t> columnUnroll =
      context.parameter("column_block", KernelContext::mostAccumulators);
  FailureOr<int64_t> rowUnroll = context.parameter("row_block", KernelContext::mostAccumulators);
  FailureOr<int64_t> elements = context.parameter("step", mostStep);
  if (failed(scheduled) || failed(tile) || failed(columnUnroll) || failed(rowUnroll) ||
      failed(elements))
    return failure();
  order = *scheduled, columnsPerTile = *tile, columnBlock = *columnUnroll, step = *elements;
  prefetchBytes = context.schedule().getParameter("prefetch_bytes").value_or(0);
  depth = weightType.getShape().back();
  columns = weightType.getShape().end()[-2];
  batches = weightType.getNumElements() / (columns * depth);
  rows = input.rows() / batches;
  rowBlock = std::min(*rowUnroll, rows);
  return failed(checkOrder()) ? failure() : checkUnrolled();
}

/// Bounds the code of a step, in which every vector of a row of W meets every row of x.
LogicalResult MatmulEmission::checkUnrolled() {
  constexpr int64_t most = KernelContext::mostAccumulators, mostProducts = 4096;
  if (columnBlock * rowBlock > most)
    return op.emitOpError("expects at most ")
           << most << " accumulators in a block, but got column_block = " << columnBlock
           << " and row_block = " << rowBlock;
  if (step / order.getLanes() * columnBlock * rowBlock > mostProducts)
    return op.emitOpError("expects at most ")
           << mostProducts
           << " products of vectors in a step, but got column_block = " << columnBlock
           << ", row_block = " << rowBlock << " and " << step << " elements in " << order.getLanes()
           << " lanes";
  return success();
}

LogicalResult MatmulEmission::checkOrder() {
  int64_t granule = std::max(order.getLanes(), decoder.blockSize());
  if (!decoder.supports(order.getLanes()) || order.getChunk() % granule != 0)
    return op.emitOpError("expects an order whose lanes divide or hold whole blocks of ")
           << decoder.blockSize() << " elements, and whose chunk is a multiple of both, but got "
           << order;
  step = llvm::alignTo(step, granule);
  return context.expectTiles(batches * llvm::divideCeil(columns, columnsPerTile));
}

/// The encoded row of W for `column` of the current batch.
Value MatmulEmission::weightRow(Value column) {
  Value row = b.add(b.mul(batch, columns), column);
  return b.advance(context.pointer(op.getWeight()), b.mul(row, decoder.rowBytes()));
}

/// Adds `count` elements of K from `element` on to the accumulators, row-major [rows, columns].
void MatmulEmission::emitStep(Value element, int64_t count,
                              llvm::SmallVectorImpl<Value>& accumulators) {
  int64_t lanes = order.getLanes();
  Value weightOffset = decoder.byteOffset(b, element);
  llvm::SmallVector<Value> weights;
  for (Value row : weightRows) {
    weights.push_back(b.advance(row, weightOffset));
    if (count == step)
      prefetchRow(weights.back(), decoder.bytes(step));
  }
  auto loadInput = [&](Value row, int64_t first, int64_t part) {
    return RowView(input.type, row).load(b, b.add(element, first), part, lanes);
  };
  auto addTerms = [&](Value x, Value w, int64_t part, Value& accumulator) {
    accumulator = b.keepTail(b.fma(x, w, accumulator), accumulator, part);
  };
  auto forParts = [&](auto body) {
    for (int64_t first = 0; first < count; first += lanes)
      body(first, std::min(lanes, count - first));
  };
  auto decode = [&](Value weight, int64_t first, int64_t part) {
    return b.pad(decoder.decode(b, weight, first, part), lanes);
  };
  // Whichever operand is used again stays in registers: the parts of the one row of x, or a part
  // of each weight row.
  if (inputRows.size() == 1) {
    llvm::SmallVector<Value> x;
    forParts(
        [&](int64_t first, int64_t part) { x.push_back(loadInput(inputRows[0], first, part)); });
    for (auto [weight, accumulator] : llvm::zip_equal(weights, accumulators))
      forParts([&](int64_t first, int64_t part) {
        addTerms(x[first / lanes], decode(weight, first, part), part, accumulator);
      });
    return;
  }
  forParts([&](int64_t first, int64_t part) {
    llvm::SmallVector<Value> x, w;
    for (Value row : inputRows)
      x.push_back(loadInput(row, first, part));
    for (Value weight : weights)
      w.push_back(decode(weight, first, part));
    for (auto [index, accumulator] : llvm::enumerate(accumulators))
      addTerms(x[index / w.size()], w[index % w.size()], part, accumulator);
  });
}

/// True where the blocks of the weight are decoded unit by unit: beside one row of x, and beside
/// more where all of a block at once would be too much code.
bool MatmulEmission::usesUnits() const {
  constexpr int64_t mostAtOnce = 256;
  const BlockUnits* units = decoder.units();
  return units && order.getLanes() <= 16 && step == decoder.blockSize() &&
         (inputRows.size() == 1 || step > mostAtOnce);
}

/// Asks for the `bytes` that lie `prefetchBytes` behind `weight`.
void MatmulEmission::prefetchRow(Value weight, int64_t bytes) {
  constexpr int64_t cacheLine = 64;
  for (int64_t line = 0; prefetchBytes > 0 && line < bytes; line += cacheLine)
    b.prefetch(b.advance(weight, prefetchBytes + line));
}

/// Adds the block of K from `element` on to the accumulators, unit by unit.
llvm::SmallVector<Value> MatmulEmission::emitUnits(Value element, ValueRange accumulators) {
  const BlockUnits& units = *decoder.units();
  int64_t lanes = order.getLanes(), preparedBytes = units.preparedFloats * 4;
  llvm::SmallVector<Value> blocks, prepared;
  for (Value row : weightRows) {
    blocks.push_back(b.advance(row, decoder.byteOffset(b, element)));
    prefetchRow(blocks.back(), decoder.bytes(decoder.blockSize()));
    prepared.push_back(b.advance(preparedScales, preparedBytes * prepared.size()));
    units.prepare(b, blocks.back(), prepared.back());
  }
  int64_t count = decoder.blockSize() / units.elements;
  return b.loop(b.i64(0), b.i64(count), 1, accumulators, [&](Value unit, ValueRange state) {
    Value first = b.add(element, b.mul(unit, units.elements));
    llvm::SmallVector<llvm::SmallVector<Value>> x(inputRows.size());
    llvm::SmallVector<Value> next(state);
    for (auto [row, parts] : llvm::zip_equal(inputRows, x))
      for (int64_t part = 0; part < units.elements; part += lanes)
        parts.push_back(RowView(input.type, row).load(b, b.add(first, part), lanes, lanes));
    for (size_t column = 0; column < blocks.size(); ++column)
      for (auto [part, w] :
           llvm::enumerate(units.decode(b, blocks[column], prepared[column], unit, lanes)))
        for (size_t row = 0; row < x.size(); ++row) {
          Value& accumulator = next[row * blocks.size() + column];
          accumulator = b.fma(x[row][part], w, accumulator);
        }
    return next;
  });
}

/// The block's dot products over elements [start, start + length) of K.
llvm::SmallVector<Value> MatmulEmission::emitChunk(Value start, int64_t length) {
  int64_t whole = length / step * step;
  Value zeros = b.splat(0.0f, order.getLanes());
  llvm::SmallVector<Value> sums(inputRows.size() * weightRows.size(), zeros);
  if (whole > 0)
    sums = b.loop(start, b.add(start, whole), step, sums, [&](Value element, ValueRange state) {
      if (usesUnits())
        return emitUnits(element, state);
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
  for (int64_t i = 0; i < columnCount; ++i) {
    weightRows.push_back(weightRow(b.add(firstColumn, i)));
  }
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
  if (const BlockUnits* units = decoder.units())
    preparedScales = b.scratch(columnBlock * units->preparedFloats * 4);
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
