#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Rows.h"
#include "kernels/cpu/Matmul.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

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
  PackedMatmulEmission(KernelContext& context, const PackedMatmulKernel& kernel)
      : context(context), b(context.builder), op(kernel.op), schedule(kernel.schedule), shape(op),
        input(context, op.getInput()), decoder(op.getWeight().getType()) {
    schedule.rowsPerPass = std::min(schedule.rowsPerPass, shape.rows);
    schedule.rowBlock = std::min(schedule.rowBlock, schedule.rowsPerPass);
  }

  LogicalResult emit(Value tile);

private:
  LogicalResult checkSchedule();
  int64_t panelBytes() const { return schedule.columnsPerTile * schedule.depthBlock * 4; }
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
  PackedMatmulSchedule schedule; ///< of at most all rows
  kernels::MatmulExtents shape;
  RowView input;
  RowDecoder decoder;
  OrderAttr order;
  Value batch, firstColumn, endColumn;
  Value columnBlocks; ///< of the tile, the last one perhaps with rows of W twice
  Value prepared;     ///< scales of a block; null where blocks are not decoded in units
  Value panel;        ///< f32 [columnsPerTile / columnBlock, depthBlock / lanes, columnBlock,
                      ///< lanes]
  Value sums;         ///< f32 [rowsPerPass / rowBlock, columnsPerTile / columnBlock, rowBlock,
                      ///< columnBlock, lanes]
};

} // namespace

LogicalResult PackedMatmulEmission::checkSchedule() {
  FailureOr<OrderAttr> scheduled = orderOf(op);
  if (failed(scheduled))
    return failure();
  order = *scheduled;
  constexpr int64_t mostStackBytes = 1 << 20;
  int64_t lanes = order.getLanes(), granule = std::max(lanes, decoder.blockSize());
  if (!decoder.supports(lanes) || (order.getChunk() != 0 && order.getChunk() < shape.depth))
    return op.emitOpError("expects an order of one chunk whose lanes divide or hold whole blocks "
                          "of ")
           << decoder.blockSize() << " elements, but got " << order;
  if (schedule.columnsPerTile % schedule.columnBlock != 0 || schedule.depthBlock % granule != 0)
    return op.emitOpError("expects columns_per_tile in whole column blocks and depth_block a "
                          "multiple of ")
           << granule << ", but got " << schedule.columnsPerTile << " and " << schedule.depthBlock;
  if (schedule.rowBlock > mostAccumulators / schedule.columnBlock ||
      schedule.columnsPerTile > mostStackBytes / 8 / schedule.depthBlock ||
      schedule.columnsPerTile > mostStackBytes / 2 / sumBytes() / schedule.rowsPerPass)
    return op.emitOpError("expects at most ")
           << mostAccumulators << " accumulators in a block and " << mostStackBytes
           << " bytes of stack, but got the schedule " << context.schedule();
  return context.expectTiles(shape.batches *
                             llvm::divideCeil(shape.columns, schedule.columnsPerTile));
}

/// The sums of block `rowBlockIndex` of the rows of the pass and column block `block`.
Value PackedMatmulEmission::sumsOfBlock(Value rowBlockIndex, Value block) {
  Value index = b.add(b.mul(rowBlockIndex, schedule.columnsPerTile / schedule.columnBlock), block);
  return b.advance(sums, b.mul(index, schedule.rowBlock * schedule.columnBlock * sumBytes()));
}

/// The lanes of the sum of row `row` of the pass and column `column` of the tile.
Value PackedMatmulEmission::sumAt(Value row, Value column) {
  Value block = sumsOfBlock(b.div(row, schedule.rowBlock), b.div(column, schedule.columnBlock));
  Value inBlock = b.add(b.mul(b.rem(row, schedule.rowBlock), schedule.columnBlock),
                        b.rem(column, schedule.columnBlock));
  return b.advance(block, b.mul(inBlock, sumBytes()));
}

/// The encoded row of W of column `column` of the tile, from element `start` on.
Value PackedMatmulEmission::weightSegment(Value column, Value start) {
  Value row = b.add(b.mul(batch, shape.columns), b.add(firstColumn, column));
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
      Value place = b.advance(target, b.mul(first, schedule.columnBlock * 4));
      for (auto [part, values] : llvm::enumerate(units.decode(b, encoded, prepared, unit, lanes)))
        b.store(values, b.advance(place, part * schedule.columnBlock * sumBytes()));
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
    Value place = b.advance(target, b.mul(element, schedule.columnBlock * 4));
    for (int64_t part = 0; part < count; part += lanes) {
      int64_t held = std::min(lanes, count - part);
      b.store(b.pad(decoder.decode(b, encoded, part, held), lanes),
              b.advance(place, part * schedule.columnBlock * 4));
    }
  });
}

/// Step 1 for elements [start, start + length) of K.
void PackedMatmulEmission::packPanel(Value start, int64_t length) {
  Value last = b.sub(b.sub(endColumn, firstColumn), b.i64(1));
  b.loop(b.i64(0), columnBlocks, 1, [&](Value block) {
    Value target = b.advance(panel, b.mul(block, schedule.columnBlock * schedule.depthBlock * 4));
    for (int64_t i = 0; i < schedule.columnBlock; ++i) {
      Value column = b.min(b.add(b.mul(block, schedule.columnBlock), i), last);
      packRow(weightSegment(column, start), b.advance(target, i * sumBytes()), length);
    }
  });
}

/// Asks for a share, that of block `rowBlockIndex` of `rowBlocks`, of what column block `block`
/// will need for the next part of K: of these rows of W or, at their end, of the next tile's.
void PackedMatmulEmission::prefetchNext(Value block, Value rowBlockIndex, int64_t rowBlocks,
                                        Value start) {
  constexpr int64_t cacheLine = 64;
  int64_t segmentBytes = std::min(decoder.bytes(schedule.depthBlock), decoder.rowBytes());
  int64_t lines = llvm::divideCeil(segmentBytes, cacheLine);
  int64_t share = llvm::divideCeil(schedule.columnBlock * lines, rowBlocks);
  Value isLast = b.isBelow(b.sub(b.i64(shape.depth - 1), start), schedule.depthBlock);
  Value toNextTile =
      b.sub(b.i64(schedule.columnsPerTile * decoder.rowBytes()), decoder.byteOffset(b, start));
  Value ahead = b.select(isLast, toNextTile, b.i64(decoder.bytes(schedule.depthBlock)));
  Value base = b.advance(weightSegment(b.mul(block, schedule.columnBlock), start), ahead);
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
  Value weights = b.advance(panel, b.mul(block, schedule.columnBlock * schedule.depthBlock * 4));
  Value places = sumsOfBlock(rowBlockIndex, block);
  Value row =
      b.add(b.add(b.mul(batch, shape.rows), firstRow), b.mul(rowBlockIndex, schedule.rowBlock));
  llvm::SmallVector<Value> inputRows, accumulators;
  for (int64_t i = 0; i < rowCount; ++i)
    inputRows.push_back(input.from(b, b.add(row, i)).at(b, start));
  for (int64_t i = 0; i < rowCount * schedule.columnBlock; ++i)
    accumulators.push_back(b.load(b.f32s(lanes), b.advance(places, i * sumBytes())));
  accumulators =
      b.forVectors(length, lanes, accumulators, [&](Value first, int64_t count, ValueRange state) {
        llvm::SmallVector<Value> w, next(state);
        for (int64_t j = 0; j < schedule.columnBlock; ++j) {
          Value place = b.advance(weights, b.mul(first, schedule.columnBlock * 4));
          w.push_back(b.load(b.f32s(lanes), b.advance(place, j * sumBytes())));
        }
        for (auto [i, inputRow] : llvm::enumerate(inputRows)) {
          Value x = RowView(input.type, inputRow).load(b, first, count, lanes);
          for (auto [j, weight] : llvm::enumerate(w)) {
            Value& sum = next[i * schedule.columnBlock + j];
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
  int64_t wholeBlocks = rowCount / schedule.rowBlock, rest = rowCount % schedule.rowBlock;
  if (wholeBlocks > 0)
    b.loop(b.i64(0), b.i64(wholeBlocks), 1, [&](Value index) {
      b.loop(b.i64(0), columnBlocks, 1, [&](Value block) {
        prefetchNext(block, index, wholeBlocks, start);
        emitBlock(firstRow, index, schedule.rowBlock, block, start, length);
      });
    });
  if (rest > 0)
    b.loop(b.i64(0), columnBlocks, 1, [&](Value block) {
      emitBlock(firstRow, b.i64(wholeBlocks), rest, block, start, length);
    });
}

void PackedMatmulEmission::clearSums(int64_t rowCount) {
  int64_t lanes = order.getLanes(),
          all = llvm::alignTo(rowCount, schedule.rowBlock) * schedule.columnsPerTile;
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
    Value target = b.add(b.add(b.mul(batch, shape.rows), firstRow), row);
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
  b.forVectors(shape.depth, schedule.depthBlock, [&](Value start, int64_t length) {
    emitDepthBlock(firstRow, rowCount, start, length);
  });
  storeSums(firstRow, rowCount);
}

LogicalResult PackedMatmulEmission::emit(Value tile) {
  if (failed(checkSchedule()))
    return failure();
  int64_t tilesPerBatch = llvm::divideCeil(shape.columns, schedule.columnsPerTile);
  batch = b.div(tile, tilesPerBatch);
  firstColumn = b.mul(b.rem(tile, tilesPerBatch), schedule.columnsPerTile);
  endColumn = b.min(b.add(firstColumn, schedule.columnsPerTile), b.i64(shape.columns));
  columnBlocks =
      b.div(b.add(b.sub(endColumn, firstColumn), schedule.columnBlock - 1), schedule.columnBlock);
  panel = b.scratch(panelBytes());
  constexpr int64_t mostUnitLanes = 16;
  if (const BlockUnits* units = decoder.units(); units && order.getLanes() <= mostUnitLanes)
    prepared = b.scratch(units->preparedFloats * 4);
  sums = b.scratch(llvm::alignTo(schedule.rowsPerPass, schedule.rowBlock) *
                   schedule.columnsPerTile * sumBytes());
  b.forVectors(shape.rows, schedule.rowsPerPass,
               [&](Value firstRow, int64_t rowCount) { emitPass(firstRow, rowCount); });
  return success();
}

static LogicalResult emitPackedMatmul(KernelContext& context, Value tile) {
  FailureOr<PackedMatmulKernel> kernel = context.read<PackedMatmulKernel>();
  return failed(kernel) ? failure() : PackedMatmulEmission(context, *kernel).emit(tile);
}

extern constexpr Emitter packedMatmul = {PackedMatmulKernel::name, emitPackedMatmul};

} // namespace tenon::codegen::cpu::emitters
