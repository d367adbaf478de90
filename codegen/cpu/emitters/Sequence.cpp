#include "kernels/cpu/Sequence.h"
#include "codegen/cpu/Emitter.h"
#include "ir/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// Runs the emitters of a region's operations one after the other in each tile. What only the
/// region reads lies on the thread's stack: of consecutive elements those of the tile, of columns
/// of several rows the whole tensor, of which a tile touches its columns. The arithmetic is that of
/// the single kernels, so every bit is.
///
/// Each operation has its `part` and its `first_tile`; see `kernels/PartTile.h`.
class SequenceEmission {
public:
  explicit SequenceEmission(KernelContext& context) : context(context), b(context.builder) {}

  LogicalResult emitBefore();
  LogicalResult emitTile(Value tile);

private:
  /// True for an operation that each thread computes before its tiles.
  static bool standsBefore(Operation* op) { return firstTileOf(op) < 0; }
  LogicalResult checkPart(Operation* op);
  FailureOr<Value> placeOf(Operation* op, Value localTile);
  Value pointerTo(Value value);
  LogicalResult emitPart(Operation* op, Value place, Value firstTile, Value endTile);
  Value scratchFor(int64_t bytes);

  KernelContext& context;
  VectorBuilder& b;
  int64_t scratchBytes = 0;
  llvm::DenseMap<Operation*, Value> places; ///< of the results of tiled operations
};

} // namespace

static bool isPart(Operation& op) { return !isView(&op); }

/// What `tile` of `op` reads of `operand`: of the vectors that a weighted sum adds the columns that
/// it computes.
static PartTile tileOfOperand(Operation* op, const PartTile& tile, Value operand) {
  auto sum = llvm::dyn_cast<WeightedSumOp>(op);
  return sum && operand == sum.getInput()
             ? PartTile::ofColumns(tile.elements, sum.getInput().getType())
             : tile;
}

/// Checks that the tiles of `op` cover the tiles of what it reads in the region.
LogicalResult SequenceEmission::checkPart(Operation* op) {
  ScheduleAttr part = partOf(op);
  VerdictOr<PartTile> tile = partTileOf(op, part);
  if (!tile)
    return op->emitOpError(tile.reason());
  int64_t last = context.schedule().getTiles() - part.getTiles();
  if (firstTileOf(op) < -1 || (firstTileOf(op) >= 0 && firstTileOf(op) > last))
    return op->emitOpError(
               "expects first_tile of -1, or its tiles inside those of the kernel, but got ")
           << part << " from tile " << firstTileOf(op);
  for (Value operand : op->getOperands()) {
    Operation* producer = getViewSource(operand).getDefiningOp();
    if (!producer || standsBefore(producer))
      continue;
    if (standsBefore(op))
      return (op->emitOpError("expects to run after what it reads, but runs before all tiles "
                              "(first_tile = -1)"))
                 .attachNote(producer->getLoc())
             << "what it reads is computed from tile " << firstTileOf(producer) << " on";
    if (llvm::isa<MatmulOp, ExpertMatmulOp>(op) || firstTileOf(producer) != firstTileOf(op) ||
        *partTileOf(producer, partOf(producer)) != tileOfOperand(op, *tile, operand))
      return op->emitOpError("expects the tiles of what it reads to be its own, but got ")
             << part << " after " << partOf(producer);
  }
  return success();
}

Value SequenceEmission::scratchFor(int64_t bytes) {
  scratchBytes += bytes;
  return b.scratch(bytes);
}

/// The address of the result of `op`, such that the elements of tile `localTile` lie at their
/// places: in memory that others see, or on the stack.
FailureOr<Value> SequenceEmission::placeOf(Operation* op, Value localTile) {
  constexpr int64_t mostStackBytes = 1 << 20;
  if (llvm::isa<StateType>(op->getResult(0).getType()))
    return Value(); // written in place
  KernelOp kernel = context.kernel;
  auto values = kernel.getYield().getValues();
  auto yielded = llvm::find(values, op->getResult(0));
  if (yielded != values.end())
    return context.result(yielded - values.begin());
  auto type = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  PartTile tile = *partTileOf(op, partOf(op));
  bool whole = standsBefore(op) || tile.isColumns;
  int64_t bytes =
      whole ? *getStorageBytes(type) : tile.elements * elementBytes(type.getElementType());
  if (bytes > mostStackBytes - scratchBytes)
    return op->emitOpError("expects at most ")
           << mostStackBytes << " bytes of stack between operations, but got " << scratchBytes
           << " and " << bytes;
  Value scratch = scratchFor(bytes);
  return whole ? scratch : b.advance(scratch, b.mul(localTile, -bytes));
}

Value SequenceEmission::pointerTo(Value value) {
  Value source = getViewSource(value);
  if (llvm::isa<BlockArgument>(source))
    return context.pointer(source);
  if (Value place = context.shared.lookup(source))
    return place;
  return places.lookup(source.getDefiningOp());
}

/// Emits tiles [firstTile, endTile) of `op` by the emitter of its part, as a kernel of its own.
LogicalResult SequenceEmission::emitPart(Operation* op, Value place, Value firstTile,
                                         Value endTile) {
  OpBuilder builder(op->getContext());
  OwningOpRef<KernelOp> single =
      KernelOp::create(builder, op->getLoc(), op->getResultTypes(), ValueRange());
  builder.setInsertionPointToEnd(&single->getBlock());
  IRMapping mapping;
  llvm::SmallVector<Value> pointers;
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    mapping.map(operand, single->getBlock().addArgument(operand.getType(), op->getLoc()));
    pointers.push_back(pointerTo(operand));
  }
  Operation* copy = builder.clone(*op, mapping);
  YieldOp::create(builder, op->getLoc(), copy->getResults());
  single->setScheduleAttr(partOf(op));
  KernelContext part(*single, b, pointers, place);
  LogicalResult outcome = success();
  b.loop(firstTile, endTile, 1,
         [&](Value tile) { outcome = findEmitter(partOf(op).getEmitter())->emitTile(part, tile); });
  return failed(outcome) ? failure() : part.expectWritten();
}

LogicalResult SequenceEmission::emitBefore() {
  if (failed(context.read<SequenceKernel>()))
    return failure();
  KernelOp kernel = context.kernel;
  int64_t endTile = 1; // of those of all parts
  for (Operation& op : llvm::make_filter_range(kernel.getBlock().without_terminator(), isPart)) {
    if (failed(checkPart(&op)))
      return failure();
    if (!standsBefore(&op)) {
      endTile = std::max(endTile, firstTileOf(&op) + partOf(&op).getTiles());
      continue;
    }
    FailureOr<Value> place = placeOf(&op, Value());
    if (failed(place))
      return failure();
    if (llvm::is_contained(kernel.getYield().getValues(), op.getResult(0)))
      return op.emitOpError("expects a value that every thread computes not to be yielded");
    if (failed(emitPart(&op, *place, b.i64(0), b.i64(partOf(&op).getTiles()))))
      return failure();
    context.shared[op.getResult(0)] = *place;
  }
  return context.expectTiles(endTile);
}

LogicalResult SequenceEmission::emitTile(Value tile) {
  KernelOp kernel = context.kernel;
  for (Operation& op : llvm::make_filter_range(kernel.getBlock().without_terminator(), isPart)) {
    if (standsBefore(&op))
      continue;
    int64_t first = firstTileOf(&op), tiles = partOf(&op).getTiles();
    Value local = b.add(tile, -first);
    FailureOr<Value> place = placeOf(&op, local);
    if (failed(place))
      return failure();
    places[&op] = *place;
    // No tile at all for a thread that is at another operation's.
    Value end = b.min(b.max(b.add(local, 1), b.i64(0)), b.i64(tiles));
    Value begin =
        first == 0 && tiles == context.schedule().getTiles()
            ? local
            : b.select(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, local, b.i64(0)), end,
                       local);
    if (failed(emitPart(&op, *place, begin, end)))
      return failure();
  }
  return success();
}

static LogicalResult emitBefore(KernelContext& context) {
  return SequenceEmission(context).emitBefore();
}

static LogicalResult emitTile(KernelContext& context, Value tile) {
  return SequenceEmission(context).emitTile(tile);
}

extern constexpr Emitter sequence = {SequenceKernel::name, emitTile, emitBefore};

} // namespace tenon::codegen::cpu::emitters
