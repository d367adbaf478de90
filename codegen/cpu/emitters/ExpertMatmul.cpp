#include "codegen/cpu/emitters/DotBlock.h"
#include "kernels/cpu/Experts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// Products with the matrices that rows choose, in blocks of dot products. Three kinds of tiles, of
/// `columns_per_tile` columns each: of one product, a row with one of its experts, where weights are
/// read about once; of one expert with all rows that chose it, which the tile finds in the ids; or
/// of all products, expert by expert.
class ExpertEmission {
public:
  ExpertEmission(KernelContext& context, ExpertMatmulOp op, const DotBlockSchedule& schedule)
      : context(context), b(context.builder), op(op), schedule(schedule),
        input(context, op.getInput()), weightType(op.getWeight().getType()),
        ids(context.pointer(op.getIds())), block(context, schedule, input.type, weightType),
        experts(weightType.getDimSize(0)), columns(weightType.getDimSize(1)),
        products(op.getIds().getType().getNumElements()), sharing(products / input.rows()),
        tilesPerPart(llvm::divideCeil(columns, schedule.columnsPerTile)) {}

  /// Checks the schedule, whose tiles are those of `parts` products or experts.
  LogicalResult check(int64_t parts);
  void emitGemm(Value tile);
  void emitExpert(Value tile);
  void emitAll(Value tile);

private:
  void placeTile(Value tile);
  Value isExpert(Value id);
  void clear(Value product);
  Value chooses(Value product, Value expert);
  void emitSegment(Value expert, Value firstGemm, Value endGemm, Value list);
  void emitColumns(llvm::ArrayRef<Value> rows, Value expert);
  void emitBlock(llvm::ArrayRef<Value> rows, Value expert, Value column, int64_t columnCount);

  KernelContext& context;
  VectorBuilder& b;
  ExpertMatmulOp op;
  DotBlockSchedule schedule;
  RowView input;
  RankedTensorType weightType;
  Value ids;
  DotBlock block;
  int64_t experts, columns;
  int64_t products; ///< rows of the result, one for each id
  int64_t sharing;  ///< products of a row of the input
  int64_t tilesPerPart;
  Value firstColumn, endColumn; ///< of the tile
};

} // namespace

LogicalResult ExpertEmission::check(int64_t parts) {
  if (failed(block.read(op)))
    return failure();
  return context.expectTiles(parts * tilesPerPart);
}

void ExpertEmission::placeTile(Value tile) {
  firstColumn = b.mul(b.rem(tile, tilesPerPart), schedule.columnsPerTile);
  endColumn = b.min(b.add(firstColumn, schedule.columnsPerTile), b.i64(columns));
  block.prepare();
}

/// Zeros the tile's columns of a product.
void ExpertEmission::clear(Value product) {
  b.loop(firstColumn, endColumn, 1, [&](Value column) {
    storeRow(context, op.getResult(), product, column, b.splat(0.0f, 1), 1);
  });
}

/// The dot products of the rows of the input that belong to the products `rows`.
void ExpertEmission::emitBlock(llvm::ArrayRef<Value> rows, Value expert, Value column,
                               int64_t columnCount) {
  llvm::SmallVector<Value> inputRows, weightRows;
  for (Value row : rows)
    inputRows.push_back(input.from(b, b.div(row, sharing)).base);
  Value firstRow = b.add(b.mul(expert, columns), column);
  for (int64_t i = 0; i < columnCount; ++i)
    weightRows.push_back(b.advance(context.pointer(op.getWeight()),
                                   b.mul(b.add(firstRow, i), block.weightRowBytes())));
  for (auto [index, sum] : llvm::enumerate(block.emit(inputRows, weightRows)))
    storeRow(context, op.getResult(), rows[index / columnCount], b.add(column, index % columnCount),
             b.splat(sum, 1), 1);
}

void ExpertEmission::emitColumns(llvm::ArrayRef<Value> rows, Value expert) {
  int64_t unrolled = schedule.columnBlock;
  Value whole = b.mul(b.div(b.sub(endColumn, firstColumn), unrolled), unrolled);
  Value endWhole = b.add(firstColumn, whole);
  b.loop(firstColumn, endWhole, unrolled,
         [&](Value column) { emitBlock(rows, expert, column, unrolled); });
  b.loop(endWhole, endColumn, 1, [&](Value column) { emitBlock(rows, expert, column, 1); });
}

void ExpertEmission::emitGemm(Value tile) {
  placeTile(tile);
  Value product = b.div(tile, tilesPerPart);
  Value id = b.loadIndex(ids, product);
  b.branch(b.isBelow(id, experts), [&] { emitColumns({product}, id); }, [&] { clear(product); });
}

/// 1 where the product is one with `expert`, else 0.
Value ExpertEmission::chooses(Value product, Value expert) {
  Value isChosen =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, b.loadIndex(ids, product), expert);
  return arith::ExtUIOp::create(b, b.getI64Type(), isChosen);
}

/// Those of the products [firstGemm, endGemm) that chose `expert`, gathered in `list`.
void ExpertEmission::emitSegment(Value expert, Value firstGemm, Value endGemm, Value list) {
  auto gather = [&](Value product, ValueRange state) {
    Value index = arith::TruncIOp::create(b, b.getI32Type(), product);
    b.store(index, b.advance(list, b.mul(state.front(), 4)));
    return llvm::SmallVector<Value>{b.add(state.front(), chooses(product, expert))};
  };
  Value count = b.loop(firstGemm, endGemm, 1, {b.i64(0)}, gather).front();
  auto emitRows = [&](Value first, int64_t rowCount) {
    llvm::SmallVector<Value> rows;
    for (int64_t i = 0; i < rowCount; ++i)
      rows.push_back(b.loadIndex(list, b.add(first, i)));
    emitColumns(rows, expert);
  };
  int64_t unrolled = schedule.rowBlock;
  Value whole = b.mul(b.div(count, unrolled), unrolled);
  b.loop(b.i64(0), whole, unrolled, [&](Value first) { emitRows(first, unrolled); });
  if (unrolled > 1)
    b.loop(whole, count, 1, [&](Value first) { emitRows(first, 1); });
}

void ExpertEmission::emitExpert(Value tile) {
  constexpr int64_t mostListed = 4096; // 16 KB of stack
  placeTile(tile);
  Value expert = b.div(tile, tilesPerPart);
  int64_t segment = std::min(products, mostListed);
  Value list = b.scratch(segment * 4);
  b.loop(b.i64(0), b.i64(products), segment, [&](Value first) {
    emitSegment(expert, first, b.min(b.add(first, segment), b.i64(products)), list);
  });
  // The first expert's tiles zero what belongs to none.
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, expert, b.i64(0));
  b.branch(isFirst, [&] {
    b.loop(b.i64(0), b.i64(products), 1, [&](Value product) {
      b.branch(b.isBelow(b.loadIndex(ids, product), experts), [] {}, [&] { clear(product); });
    });
  });
}

/// The first product of an expert is where all of its are computed.
void ExpertEmission::emitAll(Value tile) {
  placeTile(tile);
  Value list = b.scratch(products * 4), end = b.i64(products);
  b.loop(b.i64(0), end, 1, [&](Value product) {
    Value id = b.loadIndex(ids, product);
    auto countEarlier = [&](Value other, ValueRange state) {
      return llvm::SmallVector<Value>{b.add(state.front(), chooses(other, id))};
    };
    auto emitFirst = [&] {
      Value earlier = b.loop(b.i64(0), product, 1, {b.i64(0)}, countEarlier).front();
      Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, earlier, b.i64(0));
      b.branch(isFirst, [&] { emitSegment(id, product, end, list); });
    };
    b.branch(b.isBelow(id, experts), emitFirst, [&] { clear(product); });
  });
}

/// `emitTile` of the kernel, whose tiles are those of `parts` products or experts.
template <typename Kernel>
static LogicalResult emitExperts(KernelContext& context,
                                 llvm::function_ref<int64_t(ExpertMatmulOp)> partsOf,
                                 llvm::function_ref<void(ExpertEmission&)> emitTile) {
  FailureOr<Kernel> kernel = context.read<Kernel>();
  if (failed(kernel))
    return failure();
  ExpertEmission emission(context, kernel->op, kernel->schedule);
  if (failed(emission.check(partsOf(kernel->op))))
    return failure();
  emitTile(emission);
  return success();
}

static LogicalResult emitExpertMatmul(KernelContext& context, Value tile) {
  return emitExperts<ExpertMatmulKernel>(
      context, [](ExpertMatmulOp op) { return op.getIds().getType().getNumElements(); },
      [&](ExpertEmission& emission) { emission.emitGemm(tile); });
}

static LogicalResult emitGroupedExpertMatmul(KernelContext& context, Value tile) {
  return emitExperts<GroupedExpertMatmulKernel>(
      context, [](ExpertMatmulOp op) { return op.getWeight().getType().getDimSize(0); },
      [&](ExpertEmission& emission) { emission.emitExpert(tile); });
}

static LogicalResult emitExpertColumns(KernelContext& context, Value tile) {
  return emitExperts<ExpertColumnsKernel>(
      context, [](ExpertMatmulOp) { return int64_t(1); },
      [&](ExpertEmission& emission) { emission.emitAll(tile); });
}

extern constexpr Emitter expertMatmul = {ExpertMatmulKernel::name, emitExpertMatmul};
extern constexpr Emitter groupedExpertMatmul = {GroupedExpertMatmulKernel::name,
                                                emitGroupedExpertMatmul};
extern constexpr Emitter expertColumns = {ExpertColumnsKernel::name, emitExpertColumns};

} // namespace tenon::codegen::cpu::emitters
