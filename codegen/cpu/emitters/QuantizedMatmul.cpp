#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/IntegerDot.h"
#include "codegen/cpu/emitters/Rows.h"
#include "codegen/cpu/quants/QuantPanel.h"
#include "kernels/cpu/Matmul.h"
#include "kernels/regions/MatmulExtents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// y = x · Wᵀ of quants, as `tenon.matmul` defines it for a quantised input: exact integers in each
/// block, blocks added in ascending order. Neither rows, tiles nor the width of vectors change a
/// bit.
///
/// A tile is `columns_per_tile` rows of W and all rows of x, `rows_per_pass` at a time, and is
/// computed `column_vectors` native vectors of columns at a time. For each 256 elements of K:
///
/// 1. that part of the weights is unpacked and transposed (`QuantPanel`), and the same place of the
///    rows `prefetch_bytes` further on is asked for;
/// 2. `row_block` rows of x at a time, four bytes of x in every lane are multiplied with four bytes
///    of each column, and each block's sum is added to the f32 sums, [rows, columns] on the stack.
class QuantizedMatmulEmission {
public:
  QuantizedMatmulEmission(KernelContext& context, const QuantizedMatmulKernel& kernel,
                          const WeightQuants& quants)
      : context(context), b(context.builder), op(kernel.op), schedule(kernel.schedule), shape(op),
        quants(quants), weightEncoding(*getEncoding(op.getWeight().getType().getElementType())),
        inputEncoding(*getEncoding(op.getInput().getType().getElementType())),
        panel(context.builder, quants, weightEncoding),
        inputRowBytes(inputEncoding.bytesFor(shape.depth)),
        weightRowBytes(weightEncoding.bytesFor(shape.depth)) {
    schedule.rowsPerPass = std::min(schedule.rowsPerPass, shape.rows);
    schedule.rowBlock = std::min(schedule.rowBlock, schedule.rowsPerPass);
  }

  LogicalResult emit(Value tile);

private:
  /// `rows` rows of x, or of the sums, one after the other.
  struct Rows {
    int64_t count;
    Value input; ///< the part of the first one
    Value sums;  ///< of the first one
  };
  LogicalResult checkSchedule();
  int64_t blockColumns() const { return schedule.columnVectors * b.nativeLanes(); }
  int64_t sumBytes() const { return b.nativeLanes() * 4; }
  void emitPass(Value column, Value firstRow, int64_t rowCount);
  void emitPart(Value column, Value firstRow, int64_t rowCount, Value start, int64_t length);
  void packPart(Value column, Value start, int64_t length);
  llvm::SmallVector<Value> loadSums(const Rows& rows);
  void storeSums(const Rows& rows, ValueRange values);
  Value inputAt(const Rows& rows, int64_t row, Value offset);
  llvm::SmallVector<Value> dotQuants(const Rows& rows, llvm::SmallVector<Value> sums,
                                     Value firstVector, int64_t count, Value inputOffset);
  void addScaled(const Rows& rows, llvm::SmallVectorImpl<Value>& sums, ValueRange integers,
                 Value factor, Value inputOffset);
  void multiplyBlocks(const Rows& rows, int64_t length);
  llvm::SmallVector<Value> sumGroups(const Rows& rows);
  llvm::SmallVector<Value> sumPairs(const Rows& rows);
  void multiplySuperBlock(const Rows& rows);
  void storeResults(Value column, Value firstRow, int64_t rowCount);

  KernelContext& context;
  VectorBuilder& b;
  MatmulOp op;
  QuantizedMatmulSchedule schedule; ///< of at most all rows
  kernels::MatmulExtents shape;
  const WeightQuants& quants;
  const Encoding& weightEncoding;
  const Encoding& inputEncoding;
  QuantPanel panel;
  int64_t inputRowBytes, weightRowBytes;
  Value batch, records, sums;
  llvm::SmallVector<Value> panels; ///< of each vector of columns
};

} // namespace

LogicalResult QuantizedMatmulEmission::checkSchedule() {
  constexpr int64_t leastLanes = 8, mostStackBytes = 1 << 20;
  OrderAttr order = op.getOrderAttr();
  if (!order || order.getChunk() != 0 || order.getLanes() != 1)
    return op.emitOpError("expects blocks of a quantised input in the order <chunk = 0, lanes = "
                          "1>, but got ")
           << order;
  if (b.nativeLanes() < leastLanes)
    return op.emitOpError("expects vectors of 256 or 512 bits for a quantised input");
  if (schedule.columnVectors * schedule.rowBlock > mostAccumulators)
    return op.emitOpError("expects at most ")
           << mostAccumulators
           << " accumulators in a block, but got column_vectors = " << schedule.columnVectors
           << " and row_block = " << schedule.rowBlock;
  if (schedule.columnsPerTile % blockColumns() != 0)
    return op.emitOpError("expects tiles of whole blocks of ")
           << schedule.columnVectors << " vectors of columns, but got " << schedule.columnsPerTile
           << " columns";
  constexpr int64_t mostRows = 1 << 16;
  if (schedule.rowsPerPass > mostRows ||
      schedule.columnVectors * schedule.rowsPerPass * sumBytes() > mostStackBytes ||
      schedule.columnVectors * panel.bytes() > mostStackBytes)
    return op.emitOpError("expects at most ")
           << mostStackBytes << " bytes of sums and of a panel of weights, but got "
           << context.schedule();
  return context.expectTiles(shape.batches *
                             llvm::divideCeil(shape.columns, schedule.columnsPerTile));
}

/// Step 1: elements [start, start + length) of K of the columns from `column` on.
void QuantizedMatmulEmission::packPart(Value column, Value start, int64_t length) {
  constexpr int64_t cacheLine = 64;
  int64_t lanes = b.nativeLanes();
  Value offset = b.mul(b.div(start, weightEncoding.blockSize), weightEncoding.blockBytes);
  for (auto [index, target] : llvm::enumerate(panels)) {
    Value first = b.add(column, index * lanes);
    b.loop(b.i64(0), b.i64(lanes), 1, [&](Value lane) {
      Value row = b.min(b.add(first, lane), b.i64(shape.columns - 1));
      row = b.add(b.mul(batch, shape.columns), row);
      Value place = b.add(b.mul(row, weightRowBytes), offset);
      Value source = b.advance(context.pointer(op.getWeight()), place);
      int64_t bytes = weightEncoding.bytesFor(length);
      for (int64_t line = 0; schedule.prefetchBytes > 0 && line < bytes; line += cacheLine)
        b.prefetch(b.advance(source, schedule.prefetchBytes + line),
                   VectorBuilder::Keep::SecondLevel);
      panel.unpack(source, b.advance(records, b.mul(lane, panel.recordBytes(length))), length);
    });
    panel.transpose(records, target, length);
  }
}

llvm::SmallVector<Value> QuantizedMatmulEmission::loadSums(const Rows& rows) {
  llvm::SmallVector<Value> values;
  for (int64_t i = 0; i < rows.count * schedule.columnVectors; ++i)
    values.push_back(b.load(b.f32s(b.nativeLanes()), b.advance(rows.sums, i * sumBytes())));
  return values;
}

void QuantizedMatmulEmission::storeSums(const Rows& rows, ValueRange values) {
  for (auto [index, value] : llvm::enumerate(values))
    b.store(value, b.advance(rows.sums, index * sumBytes()));
}

/// Byte `offset` (i64) of row `row` of those.
Value QuantizedMatmulEmission::inputAt(const Rows& rows, int64_t row, Value offset) {
  return b.advance(b.advance(rows.input, offset), row * inputRowBytes);
}

/// Adds to `sums`, [rows, column vectors] of i32, the products of `count` times four quants, from
/// vector `firstVector` of the panels and from byte `inputOffset` of the rows on.
llvm::SmallVector<Value> QuantizedMatmulEmission::dotQuants(const Rows& rows,
                                                            llvm::SmallVector<Value> sums,
                                                            Value firstVector, int64_t count,
                                                            Value inputOffset) {
  for (int64_t i = 0; i < count; ++i) {
    llvm::SmallVector<Value> weights;
    for (Value columnPanel : panels)
      weights.push_back(panel.load(columnPanel, b.add(firstVector, i), b.getI32Type()));
    for (int64_t row = 0; row < rows.count; ++row) {
      Value x = splatDword(b, b.advance(inputAt(rows, row, inputOffset), 4 * i));
      for (auto [index, w] : llvm::enumerate(weights)) {
        Value& sum = sums[row * schedule.columnVectors + index];
        sum = dotBytes(b, sum, w, x, quants.largest);
      }
    }
  }
  return sums;
}

/// sums = fma(integers, vector `factor` of the columns · scale of the row's block, sums); the scale
/// stands at byte `inputOffset`.
void QuantizedMatmulEmission::addScaled(const Rows& rows, llvm::SmallVectorImpl<Value>& sums,
                                        ValueRange integers, Value factor, Value inputOffset) {
  VectorType floats = b.f32s(b.nativeLanes());
  for (int64_t row = 0; row < rows.count; ++row) {
    Value scale = b.load(b.getF32Type(), inputAt(rows, row, inputOffset));
    scale = b.splat(scale, b.nativeLanes());
    for (auto [index, columnPanel] : llvm::enumerate(panels)) {
      size_t at = row * schedule.columnVectors + index;
      Value product = b.fmul(panel.load(columnPanel, factor, b.getF32Type()), scale);
      sums[at] = b.fma(arith::SIToFPOp::create(b, floats, integers[at]), product, sums[at]);
    }
  }
}

/// Step 2 for blocks of 32. The sum of the quants of x stands after their scale: times the zero
/// point it is what the products are too large by.
void QuantizedMatmulEmission::multiplyBlocks(const Rows& rows, int64_t length) {
  constexpr int64_t sumAt = 4, quantsAt = 8, vectors = 8;
  int64_t blocks = length / weightEncoding.blockSize;
  Value zeroPoint = integerSplat(b, -quants.zeroPoint);
  llvm::SmallVector<Value> totals =
      b.loop(b.i64(0), b.i64(blocks), 1, loadSums(rows), [&](Value block, ValueRange state) {
        Value offset = b.mul(block, inputEncoding.blockBytes);
        llvm::SmallVector<Value> integers, next(state);
        for (int64_t row = 0; row < rows.count; ++row) {
          Value sum = splatDword(b, b.advance(inputAt(rows, row, offset), sumAt));
          integers.append(schedule.columnVectors, b.mul(sum, zeroPoint));
        }
        integers =
            dotQuants(rows, integers, b.mul(block, vectors), vectors, b.add(offset, quantsAt));
        addScaled(rows, next, integers, b.add(block, panel.firstFactor(length)), offset);
        return next;
      });
  storeSums(rows, totals);
}

/// Σ over groups of the block, scale of the group · Σ products of quants.
llvm::SmallVector<Value> QuantizedMatmulEmission::sumGroups(const Rows& rows) {
  constexpr int64_t quantsAt = 4;
  int64_t vectors = quants.groupSize / 4;
  llvm::SmallVector<Value> zeros(rows.count * schedule.columnVectors, integerSplat(b, 0));
  return b.loop(b.i64(0), b.i64(panel.groups()), 1, zeros, [&](Value group, ValueRange state) {
    Value offset = b.add(b.mul(group, quants.groupSize), quantsAt);
    llvm::SmallVector<Value> next(state);
    llvm::SmallVector<Value> integers =
        dotQuants(rows, zeros, b.mul(group, vectors), vectors, offset);
    Value scaleIndex = b.add(group, panel.firstGroupScale());
    for (auto [index, sum] : llvm::enumerate(next)) {
      Value scale = panel.load(panels[index % schedule.columnVectors], scaleIndex, b.getI32Type());
      sum = b.add(sum, b.mul(integers[index], scale));
    }
    return next;
  });
}

/// Σ over sixteens of the block, number of the pair · Σ quants of x.
llvm::SmallVector<Value> QuantizedMatmulEmission::sumPairs(const Rows& rows) {
  constexpr int64_t sumsAt = 260;
  llvm::SmallVector<Value> zeros(rows.count * schedule.columnVectors, integerSplat(b, 0));
  return b.loop(b.i64(0), b.i64(QuantPanel::pairs), 1, zeros, [&](Value pair, ValueRange state) {
    llvm::SmallVector<Value> next(state), factors;
    for (Value columnPanel : panels)
      factors.push_back(panel.load(columnPanel, b.add(pair, panel.firstPair()), b.getI32Type()));
    for (int64_t row = 0; row < rows.count; ++row) {
      Value x = splatDword(b, inputAt(rows, row, b.add(b.mul(pair, 4), sumsAt)));
      for (auto [index, factor] : llvm::enumerate(factors)) {
        Value& sum = next[row * schedule.columnVectors + index];
        sum = dotShorts(b, sum, factor, x);
      }
    }
    return next;
  });
}

/// Step 2 for a block of 256.
void QuantizedMatmulEmission::multiplySuperBlock(const Rows& rows) {
  llvm::SmallVector<Value> products = sumGroups(rows), pairs = sumPairs(rows);
  Value zeroPoint = integerSplat(b, quants.zeroPoint), start = b.i64(0);
  if (!quants.hasMinimums)
    for (auto [product, pair] : llvm::zip_equal(products, pairs))
      product = b.sub(product, b.mul(pair, zeroPoint));
  llvm::SmallVector<Value> totals = loadSums(rows);
  Value factor = b.i64(panel.firstFactor(QuantPanel::depth));
  addScaled(rows, totals, products, factor, start);
  if (quants.hasMinimums)
    addScaled(rows, totals, pairs, b.add(factor, 1), start);
  storeSums(rows, totals);
}

/// Both steps for elements [start, start + length) of K.
void QuantizedMatmulEmission::emitPart(Value column, Value firstRow, int64_t rowCount, Value start,
                                       int64_t length) {
  packPart(column, start, length);
  Value block = b.div(start, inputEncoding.blockSize);
  Value row = b.add(b.mul(batch, shape.rows), firstRow);
  Value place = b.add(b.mul(row, inputRowBytes), b.mul(block, inputEncoding.blockBytes));
  Value input = b.advance(context.pointer(op.getInput()), place);
  auto multiply = [&](Value first, int64_t count) {
    Rows part = {count, b.advance(input, b.mul(first, inputRowBytes)),
                 b.advance(sums, b.mul(first, schedule.columnVectors * sumBytes()))};
    quants.groupSize > 0 ? multiplySuperBlock(part) : multiplyBlocks(part, length);
  };
  b.forVectors(rowCount, schedule.rowBlock, multiply);
}

/// The sums of `rowCount` rows, in the columns from `column` on that there are.
void QuantizedMatmulEmission::storeResults(Value column, Value firstRow, int64_t rowCount) {
  int64_t lanes = b.nativeLanes(), tail = shape.columns % lanes;
  b.loop(b.i64(0), b.i64(rowCount), 1, [&](Value row) {
    Value target = b.add(b.add(b.mul(batch, shape.rows), firstRow), row);
    for (int64_t i = 0; i < schedule.columnVectors; ++i) {
      Value first = b.add(column, i * lanes);
      Value place = b.add(b.mul(row, schedule.columnVectors * sumBytes()), i * sumBytes());
      Value values = b.load(b.f32s(lanes), b.advance(sums, place));
      auto store = [&](int64_t count) {
        storeRow(context, op.getResult(), target, first, values, count);
      };
      if (shape.columns % blockColumns() == 0) {
        store(lanes);
        continue;
      }
      auto storeTail = [&] { b.branch(b.isBelow(first, shape.columns), [&] { store(tail); }); };
      b.branch(
          b.isBelow(b.add(first, lanes - 1), shape.columns), [&] { store(lanes); },
          tail == 0 ? llvm::function_ref<void()>() : storeTail);
    }
  });
}

/// Rows [firstRow, firstRow + rowCount) of the batch, one block of columns.
void QuantizedMatmulEmission::emitPass(Value column, Value firstRow, int64_t rowCount) {
  b.loop(b.i64(0), b.i64(rowCount * schedule.columnVectors), 1, [&](Value index) {
    b.store(b.splat(0.0f, b.nativeLanes()), b.advance(sums, b.mul(index, sumBytes())));
  });
  b.forVectors(shape.depth, QuantPanel::depth, [&](Value start, int64_t length) {
    emitPart(column, firstRow, rowCount, start, length);
  });
  storeResults(column, firstRow, rowCount);
}

LogicalResult QuantizedMatmulEmission::emit(Value tile) {
  if (failed(checkSchedule()))
    return failure();
  int64_t tilesPerBatch = llvm::divideCeil(shape.columns, schedule.columnsPerTile);
  batch = b.div(tile, tilesPerBatch);
  records = b.scratch(panel.bytes());
  for (int64_t i = 0; i < schedule.columnVectors; ++i)
    panels.push_back(b.scratch(panel.bytes()));
  sums = b.scratch(schedule.rowsPerPass * schedule.columnVectors * sumBytes());
  Value first = b.mul(b.rem(tile, tilesPerBatch), schedule.columnsPerTile);
  Value end = b.min(b.add(first, schedule.columnsPerTile), b.i64(shape.columns));
  b.loop(first, end, blockColumns(), [&](Value column) {
    b.forVectors(shape.rows, schedule.rowsPerPass,
                 [&](Value firstRow, int64_t rowCount) { emitPass(column, firstRow, rowCount); });
  });
  return success();
}

static LogicalResult emitQuantizedMatmul(KernelContext& context, Value tile) {
  FailureOr<QuantizedMatmulKernel> kernel = context.read<QuantizedMatmulKernel>();
  if (failed(kernel))
    return failure();
  RankedTensorType weight = kernel->op.getWeight().getType();
  const WeightQuants* quants = findWeightQuants(weight.getElementType());
  if (!quants)
    return kernel->op.emitOpError("expects a weight whose quants the CPU can multiply, but got ")
           << weight;
  return QuantizedMatmulEmission(context, *kernel, *quants).emit(tile);
}

extern constexpr Emitter quantizedMatmul = {QuantizedMatmulKernel::name, emitQuantizedMatmul};

} // namespace tenon::codegen::cpu::emitters
