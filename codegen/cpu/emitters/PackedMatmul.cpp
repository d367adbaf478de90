#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Rows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu::emitters {

namespace {

/// y = x · Wᵀ for many rows of x, in the arrangement of Goto and van de Geijn ("Anatomy of
/// high-performance matrix multiplication", ACM TOMS 2008) with dot products instead of outer
/// ones, so that the order of additions is that of the one-row product: an accumulator of
/// `order.lanes` for each element of y.
///
/// A tile is `columns_per_tile` rows of W and all rows of x, `rows_per_pass` at a time. For each
/// `depth_block` elements of K in turn:
///
/// 1. that part of the tile's weights is decoded to f32 into a panel on the stack, `column_block`
///    rows of W interleaved vector by vector;
/// 2. each block of `row_block` rows of x times `column_block` rows of W continues its sums in
///    registers, and meanwhile the weights of the next part are asked for.
///
/// Last the lanes of each sum are combined, those of a vector of columns together.
class PackedMatmulEmission {
public:
  PackedMatmulEmission(KernelContext& context, MatmulOp op)
      : context(context), b(context.builder), op(op), input(context, op.getInput()),
        weightType(op.getWeight().getType()), decoder(weightType) {}

  LogicalResult emit(Value tile);

private:
  /// Elements of K of a panel, whose cache lines are asked for one by one.
  static constexpr int64_t mostDepthBlock = 4096;

  LogicalResult readSchedule();
  LogicalResult checkSchedule();
  int64_t panelBytes() const { return columnsPerTile * depthBlock * 4; }
  int64_t sumBytes() const { return order.getLanes() * 4; }
  Value sumsOfBlock(Value rowBlockIndex, Value block);
  Value sumAt(Value row, Value column);
  Value weightSegment(Value column, Value start);
  void emitPass(Value firstRow, int64_t rowCount);
  void clearSums(int64_t rowCount);
  void emitDepthBlock(Value firstRow, int64_t rowCount, Value start, int64_t length);
  void packPanel(Value start, int64_t length);
  void packRow(Value source, Value target, int64_t length);
  void packUnits(Value source, Value target, int64_t length);
  void prefetchNext(Value block, Value rowBlockIndex, int64_t rowBlocks, Value start);
  void emitBlock(Value firstRow, Value rowBlockIndex, int64_t rowCount, Value block, Value start,
                 int64_t length);
  void storeSums(Value firstRow, int64_t rowCount);

  KernelContext& context;
  VectorBuilder& b;
  MatmulOp op;
  RowView input;
  RankedTensorType weightType;
  RowDecoder decoder;
  OrderAttr order;
  int64_t batches = 0, rows = 0, columns = 0, depth = 0; ///< y [batches, rows, columns]
  int64_t columnsPerTile = 0, columnBlock = 0, rowBlock = 0, rowsPerPass = 0, depthBlock = 0;
  Value batch, firstColumn, endColumn;
  Value columnBlocks; ///< of the tile, the last one perhaps with rows of W twice
  Value prepared;     ///< scales of a block; null where blocks are not decoded in units
  Value panel;        ///< f32 [columns_per_tile / column_block, depth_block / lanes, column_block,
                      ///< lanes]
  Value sums; ///< f32 [rows_per_pass / row_block, columns_per_tile / column_block, row_block,
              ///< column_block, lanes]
};

} // namespace

LogicalResult PackedMatmulEmission::readSchedule() {
  FailureOr<OrderAttr> scheduled = orderOf(op);
  if (failed(scheduled))
    return failure();
  order = *scheduled;
  struct Parameter {
    llvm::StringRef name;
    int64_t& value;
    int64_t most = std::numeric_limits<int64_t>::max();
  };
  for (auto [name, value, most] : {Parameter{"columns_per_tile", columnsPerTile},
                                   {"column_block", columnBlock, KernelContext::mostAccumulators},
                                   {"row_block", rowBlock, KernelContext::mostAccumulators},
                                   {"rows_per_pass", rowsPerPass},
                                   {"depth_block", depthBlock, mostDepthBlock}}) {
    FailureOr<int64_t> parameter = context.parameter(name, most);
    if (failed(parameter))
      return failure();
    value = *parameter;
  }
  depth = weightType.getShape().back();
  columns = weightType.getShape().end()[-2];
  batches = weightType.getNumElements() / (columns * depth);
  rows = input.rows() / batches;
  rowsPerPass = std::min(rowsPerPass, rows);
  rowBlock = std::min(rowBlock, rowsPerPass);
  return checkSchedule();
}

LogicalResult PackedMatmulEmission::checkSchedule() {
  constexpr int64_t mostStackBytes = 1 << 20, mostAccumulators = KernelContext::mostAccumulators;
  int64_t lanes = order.getLanes(), granule = std::max(lanes, decoder.blockSize());
  if (!decoder.supports(lanes) || (order.getChunk() != 0 && order.getChunk() < depth))
    return op.emitOpError("expects an order of one chunk whose lanes divide or hold whole blocks "
                          "of ")
           << decoder.blockSize() << " elements, but got " << order;
  if (columnsPerTile % columnBlock != 0 || depthBlock % granule != 0)
    return op.emitOpError("expects columns_per_tile in whole column blocks and depth_block a "
                          "multiple of ")
           << granule << ", but got " << columnsPerTile << " and " << depthBlock;
  if (rowBlock > mostAccumulators / columnBlock ||
      columnsPerTile > mostStackBytes / 8 / depthBlock ||
      columnsPerTile > mostStackBytes / 2 / sumBytes() / rowsPerPass)
    return op.emitOpError("expects at most ")
           << mostAccumulators << " accumulators in a block and " << mostStackBytes
           << " bytes of stack, but got the schedule " << context.schedule();
  return context.expectTiles(batches * llvm::divideCeil(columns, columnsPerTile));
}

/// The sums of block `rowBlockIndex` of the rows of the pass and column block `block`.
Value PackedMatmulEmission::sumsOfBlock(Value rowBlockIndex, Value block) {
  Value index = b.add(b.mul(rowBlockIndex, columnsPerTile / columnBlock), block);
  return b.advance(sums, b.mul(index, rowBlock * columnBlock * sumBytes()));
}

/// The lanes of the sum of row `row` of the pass and column `column` of the tile.
Value PackedMatmulEmission::sumAt(Value row, Value column) {
  Value block = sumsOfBlock(b.div(row, rowBlock), b.div(column, columnBlock));
  Value inBlock = b.add(b.mul(b.rem(row, rowBlock), columnBlock), b.rem(column, columnBlock));
  return b.advance(block, b.mul(inBlock, sumBytes()));
}

/// The encoded row of W of column `column` of the tile, from element `start` on.
Value PackedMatmulEmission::weightSegment(Value column, Value start) {
  Value row = b.add(b.mul(batch, columns), b.add(firstColumn, column));
  Value place = b.add(b.mul(row, decoder.rowBytes()), decoder.byteOffset(b, start));
  return b.advance(context.pointer(op.getWeight()), place);
}

/// `packRow` for an encoding with units.
void PackedMatmulEmission::packUnits(Value source, Value target, int64_t length) {
  const BlockUnits& units = *decoder.units();
  int64_t blockSize = decoder.blockSize(), lanes = order.getLanes();
  b.loop(b.i64(0), b.i64(length), blockSize, [&](Value element) {
    Value encoded = b.advance(source, decoder.byteOffset(b, element));
    units.prepare(b, encoded, prepared);
    b.loop(b.i64(0), b.i64(blockSize / units.elements), 1, [&](Value unit) {
      Value first = b.add(element, b.mul(unit, units.elements));
      Value place = b.advance(target, b.mul(first, columnBlock * 4));
      for (auto [part, values] : llvm::enumerate(units.decode(b, encoded, prepared, unit, lanes)))
        b.store(values, b.advance(place, part * columnBlock * sumBytes()));
    });
  });
}

/// Decodes `length` elements at `source` into every `column_block`th vector at `target`.
void PackedMatmulEmission::packRow(Value source, Value target, int64_t length) {
  if (prepared)
    return packUnits(source, target, length);
  int64_t lanes = order.getLanes(), granule = std::max(lanes, decoder.blockSize());
  b.forVectors(length, granule, [&](Value element, int64_t count) {
    Value encoded = b.advance(source, decoder.byteOffset(b, element));
    Value place = b.advance(target, b.mul(element, columnBlock * 4));
    for (int64_t part = 0; part < count; part += lanes) {
      int64_t held = std::min(lanes, count - part);
      b.store(b.pad(decoder.decode(b, encoded, part, held), lanes),
              b.advance(place, part * columnBlock * 4));
    }
  });
}

/// Step 1 for elements [start, start + length) of K.
void PackedMatmulEmission::packPanel(Value start, int64_t length) {
  Value last = b.sub(b.sub(endColumn, firstColumn), b.i64(1));
  b.loop(b.i64(0), columnBlocks, 1, [&](Value block) {
    Value target = b.advance(panel, b.mul(block, columnBlock * depthBlock * 4));
    for (int64_t i = 0; i < columnBlock; ++i) {
      Value column = b.min(b.add(b.mul(block, columnBlock), i), last);
      packRow(weightSegment(column, start), b.advance(target, i * sumBytes()), length);
    }
  });
}

/// Asks for a share, that of block `rowBlockIndex` of `rowBlocks`, of what column block `block`
/// will need for the next part of K: of these rows of W or, at their end, of the next tile's.
void PackedMatmulEmission::prefetchNext(Value block, Value rowBlockIndex, int64_t rowBlocks,
                                        Value start) {
  constexpr int64_t cacheLine = 64;
  int64_t segmentBytes = std::min(decoder.bytes(depthBlock), decoder.rowBytes());
  int64_t lines = llvm::divideCeil(segmentBytes, cacheLine);
  int64_t share = llvm::divideCeil(columnBlock * lines, rowBlocks);
  Value isLast = b.isBelow(b.sub(b.i64(depth - 1), start), depthBlock);
  Value toNextTile =
      b.sub(b.i64(columnsPerTile * decoder.rowBytes()), decoder.byteOffset(b, start));
  Value ahead = b.select(isLast, toNextTile, b.i64(decoder.bytes(depthBlock)));
  Value base = b.advance(weightSegment(b.mul(block, columnBlock), start), ahead);
  for (int64_t i = 0; i < share; ++i) {
    Value line = b.add(b.mul(rowBlockIndex, share), i);
    Value offset =
        b.add(b.mul(b.div(line, lines), decoder.rowBytes()), b.mul(b.rem(line, lines), cacheLine));
    b.prefetch(b.advance(base, offset), VectorBuilder::Keep::SecondLevel);
  }
}

/// Step 2 for the `rowCount` rows of block `rowBlockIndex` of the pass and one column block.
void PackedMatmulEmission::emitBlock(Value firstRow, Value rowBlockIndex, int64_t rowCount,
                                     Value block, Value start, int64_t length) {
  int64_t lanes = order.getLanes();
  Value weights = b.advance(panel, b.mul(block, columnBlock * depthBlock * 4));
  Value places = sumsOfBlock(rowBlockIndex, block);
  Value row = b.add(b.add(b.mul(batch, rows), firstRow), b.mul(rowBlockIndex, rowBlock));
  llvm::SmallVector<Value> inputRows, accumulators;
  for (int64_t i = 0; i < rowCount; ++i)
    inputRows.push_back(input.from(b, b.add(row, i)).at(b, start));
  for (int64_t i = 0; i < rowCount * columnBlock; ++i)
    accumulators.push_back(b.load(b.f32s(lanes), b.advance(places, i * sumBytes())));
  accumulators =
      b.forVectors(length, lanes, accumulators, [&](Value first, int64_t count, ValueRange state) {
        llvm::SmallVector<Value> w, next(state);
        for (int64_t j = 0; j < columnBlock; ++j) {
          Value place = b.advance(weights, b.mul(first, columnBlock * 4));
          w.push_back(b.load(b.f32s(lanes), b.advance(place, j * sumBytes())));
        }
        for (auto [i, inputRow] : llvm::enumerate(inputRows)) {
          Value x = RowView(input.type, inputRow).load(b, first, count, lanes);
          for (auto [j, weight] : llvm::enumerate(w)) {
            Value& sum = next[i * columnBlock + j];
            sum = b.keepTail(b.fma(x, weight, sum), sum, count);
          }
        }
        return next;
      });
  for (auto [i, sum] : llvm::enumerate(accumulators))
    b.store(sum, b.advance(places, i * sumBytes()));
}

void PackedMatmulEmission::emitDepthBlock(Value firstRow, int64_t rowCount, Value start,
                                          int64_t length) {
  packPanel(start, length);
  int64_t wholeBlocks = rowCount / rowBlock, rest = rowCount % rowBlock;
  if (wholeBlocks > 0)
    b.loop(b.i64(0), b.i64(wholeBlocks), 1, [&](Value index) {
      b.loop(b.i64(0), columnBlocks, 1, [&](Value block) {
        prefetchNext(block, index, wholeBlocks, start);
        emitBlock(firstRow, index, rowBlock, block, start, length);
      });
    });
  if (rest > 0)
    b.loop(b.i64(0), columnBlocks, 1, [&](Value block) {
      emitBlock(firstRow, b.i64(wholeBlocks), rest, block, start, length);
    });
}

void PackedMatmulEmission::clearSums(int64_t rowCount) {
  int64_t lanes = order.getLanes(), all = llvm::alignTo(rowCount, rowBlock) * columnsPerTile;
  b.loop(b.i64(0), b.i64(all), 1, [&](Value index) {
    b.store(b.splat(0.0f, lanes), b.advance(sums, b.mul(index, sumBytes())));
  });
}

/// Combines lanes: those of `lanes` columns at once, and of single columns where fewer are left.
void PackedMatmulEmission::storeSums(Value firstRow, int64_t rowCount) {
  int64_t lanes = order.getLanes();
  bool together = order.getTree() == CombineTree::Halving && llvm::isPowerOf2_64(lanes);
  Value count = b.sub(endColumn, firstColumn);
  Value grouped = together ? b.mul(b.div(count, lanes), lanes) : b.i64(0);
  auto load = [&](Value row, Value column) { return b.load(b.f32s(lanes), sumAt(row, column)); };
  b.loop(b.i64(0), b.i64(rowCount), 1, [&](Value row) {
    Value target = b.add(b.add(b.mul(batch, rows), firstRow), row);
    auto store = [&](Value column, Value values, int64_t stored) {
      storeRow(context, op.getResult(), target, b.add(firstColumn, column), values, stored);
    };
    if (together)
      b.loop(b.i64(0), grouped, lanes, [&](Value column) {
        llvm::SmallVector<Value> vectors;
        for (int64_t i = 0; i < lanes; ++i)
          vectors.push_back(load(row, b.add(column, i)));
        store(column, b.combineEach(vectors), lanes);
      });
    b.loop(grouped, count, 1, [&](Value column) {
      store(column, b.splat(b.combineLanes(load(row, column), order.getTree()), 1), 1);
    });
  });
}

void PackedMatmulEmission::emitPass(Value firstRow, int64_t rowCount) {
  clearSums(rowCount);
  b.forVectors(depth, depthBlock, [&](Value start, int64_t length) {
    emitDepthBlock(firstRow, rowCount, start, length);
  });
  storeSums(firstRow, rowCount);
}

LogicalResult PackedMatmulEmission::emit(Value tile) {
  if (failed(readSchedule()))
    return failure();
  int64_t tilesPerBatch = llvm::divideCeil(columns, columnsPerTile);
  batch = b.div(tile, tilesPerBatch);
  firstColumn = b.mul(b.rem(tile, tilesPerBatch), columnsPerTile);
  endColumn = b.min(b.add(firstColumn, columnsPerTile), b.i64(columns));
  columnBlocks = b.div(b.add(b.sub(endColumn, firstColumn), columnBlock - 1), columnBlock);
  panel = b.scratch(panelBytes());
  constexpr int64_t mostUnitLanes = 16;
  if (const BlockUnits* units = decoder.units(); units && order.getLanes() <= mostUnitLanes)
    prepared = b.scratch(units->preparedFloats * 4);
  sums = b.scratch(llvm::alignTo(rowsPerPass, rowBlock) * columnsPerTile * sumBytes());
  b.forVectors(rows, rowsPerPass,
               [&](Value firstRow, int64_t rowCount) { emitPass(firstRow, rowCount); });
  return success();
}

static LogicalResult emitPackedMatmul(KernelContext& context, Value tile) {
  auto op = context.soleOp<MatmulOp>();
  if (!op)
    return failure();
  if (op.isQuantized())
    return op.emitOpError("expects an input of floats for this emitter, but got ")
           << op.getInput().getType();
  if (!canDecode(op.getWeight().getType().getElementType()))
    return op.emitOpError("expects a weight that can be decoded on the CPU, but got ")
           << op.getWeight().getType();
  return PackedMatmulEmission(context, op).emit(tile);
}

extern const Emitter packedMatmul = {"packed_matmul", emitPackedMatmul};

} // namespace tenon::codegen::cpu::emitters
