#include "kernels/cpu/Elementwise.h"
#include "codegen/cpu/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// A chain of elementwise operations over the rows of the common result shape.
class ElementwiseEmission {
public:
  ElementwiseEmission(KernelContext& context, const ElementwiseKernel& kernel)
      : context(context), b(context.builder), schedule(kernel.schedule) {
    auto type = llvm::cast<RankedTensorType>(context.kernel.getResult(0).getType());
    shape = type.getShape(), elements = type.getNumElements();
  }

  LogicalResult emit(Value tile);

private:
  /// An argument of the region that operations read.
  struct Source {
    Value argument;
    RankedTensorType type;
    Value row;  ///< address of the current row
    bool splat; ///< one element a row
  };

  LogicalResult check();
  Value rowOffset(const Source& source, Value row);
  void emitRow(Value row, Value firstColumn, Value endColumn);
  void emitVector(Value column, int64_t count, int64_t width);

  KernelContext& context;
  VectorBuilder& b;
  ElementwiseSchedule schedule;
  llvm::ArrayRef<int64_t> shape; ///< of every result
  int64_t elements;
  llvm::SmallVector<Source> sources;
  Value currentRow;
};

} // namespace

/// A constant with one value for all elements in `width` lanes; null for another operation.
static Value buildSplat(VectorBuilder& b, Operation* op, int64_t width) {
  auto constant = llvm::dyn_cast<ConstantOp>(op);
  auto elements = constant ? llvm::dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || !elements.isSplat())
    return {};
  Type element = elements.getElementType();
  if (!element.isInteger())
    return b.splat(static_cast<float>(elements.getSplatValue<APFloat>().convertToDouble()), width);
  APInt value = elements.getSplatValue<APInt>();
  int64_t number = element.isInteger(1) ? value.getZExtValue() : value.getSExtValue();
  return detail::buildIntegerSplat(b, b.getLoc(), VectorType::get({width}, b.getI64Type()), number);
}

LogicalResult ElementwiseEmission::check() {
  KernelOp kernel = context.kernel;
  for (BlockArgument argument : kernel.getBlock().getArguments()) {
    if (argument.use_empty())
      continue;
    auto type = llvm::cast<RankedTensorType>(argument.getType());
    bool splat = type.getRank() == 0 || type.getShape().back() == 1;
    sources.push_back({argument, type, Value(), splat});
  }
  bool flat = schedule.rowElements == elements;
  for (Source& source : sources) {
    flat &= source.type.getNumElements() == elements || source.type.getNumElements() == 1;
    if (schedule.rowElements == elements)
      source.splat = source.type.getNumElements() == 1 && elements != 1;
  }
  if (!flat && (shape.empty() || schedule.rowElements != shape.back()))
    return kernel.emitOpError("expects row_elements to be the innermost extent, or all elements "
                              "where nothing broadcasts, but got ")
           << schedule.rowElements;
  if (schedule.columnsPerTile % context.lanes != 0 &&
      schedule.columnsPerTile < schedule.rowElements)
    return kernel.emitOpError("expects columns_per_tile to be a multiple of ")
           << context.lanes << ", but got " << schedule.columnsPerTile;
  return context.expectTiles(
      llvm::divideCeil(elements / schedule.rowElements, schedule.rowsPerTile) *
      llvm::divideCeil(schedule.rowElements, schedule.columnsPerTile));
}

/// The element of `source` that row `row` starts at.
Value ElementwiseEmission::rowOffset(const Source& source, Value row) {
  llvm::ArrayRef<int64_t> extents = source.type.getShape();
  if (schedule.rowElements == elements || extents.size() <= 1)
    return b.i64(0);
  Value offset = b.i64(0), rest = row;
  int64_t stride = extents.back();
  size_t lead = shape.size() - extents.size();
  for (size_t axis = shape.size() - 1; axis-- > lead;) {
    int64_t extent = extents[axis - lead];
    if (extent != 1)
      offset = b.add(offset, b.mul(b.rem(rest, shape[axis]), stride));
    rest = b.div(rest, shape[axis]);
    stride *= extent;
  }
  return offset;
}

/// Elements [column, column + count) of the current row, in vectors of `width`.
void ElementwiseEmission::emitVector(Value column, int64_t count, int64_t width) {
  IRMapping mapping;
  for (const Source& source : sources) {
    Type element = source.type.getElementType();
    Value loaded =
        source.splat
            ? b.splat(b.loadFloat(element, source.row), width)
            : b.loadFloats(element, b.advance(source.row, b.mul(column, elementBytes(element))),
                           count, width);
    mapping.map(source.argument, loaded);
  }
  KernelOp kernel = context.kernel;
  for (Operation& op : kernel.getBlock().without_terminator()) {
    if (Value splat = buildSplat(b, &op, width)) {
      mapping.map(op.getResult(0), splat);
      continue;
    }
    llvm::SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(mapping.lookup(operand));
    Value value = llvm::cast<ElementwiseOpInterface>(op).buildScalarBody(b, b.getLoc(), operands);
    Type element = llvm::cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
    mapping.map(op.getResult(0), b.roundTo(value, element));
  }
  Value first = b.add(b.mul(currentRow, schedule.rowElements), column);
  for (auto [index, yielded] : llvm::enumerate(kernel.getYield().getValues())) {
    Type element = llvm::cast<RankedTensorType>(yielded.getType()).getElementType();
    Value place = b.advance(context.result(index), b.mul(first, elementBytes(element)));
    b.storeFloats(mapping.lookup(yielded), element, place, count);
  }
}

void ElementwiseEmission::emitRow(Value row, Value firstColumn, Value endColumn) {
  currentRow = row;
  for (Source& source : sources) {
    Type element = source.type.getElementType();
    source.row = b.advance(context.pointer(source.argument),
                           b.mul(rowOffset(source, row), elementBytes(element)));
  }
  int64_t width = context.lanes, rest = schedule.rowElements % width;
  Value endWhole = b.min(endColumn, b.i64(schedule.rowElements - rest));
  b.loop(firstColumn, endWhole, width, [&](Value column) { emitVector(column, width, width); });
  if (rest == 0)
    return;
  Value isLast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, endColumn, b.i64(schedule.rowElements));
  b.branch(isLast, [&] { emitVector(b.i64(schedule.rowElements - rest), rest, width); });
}

LogicalResult ElementwiseEmission::emit(Value tile) {
  if (failed(check()))
    return failure();
  int64_t rows = elements / schedule.rowElements;
  int64_t tilesPerRow = llvm::divideCeil(schedule.rowElements, schedule.columnsPerTile);
  Value firstRow = b.mul(b.div(tile, tilesPerRow), schedule.rowsPerTile);
  Value endRow = b.min(b.add(firstRow, schedule.rowsPerTile), b.i64(rows));
  Value firstColumn = b.mul(b.rem(tile, tilesPerRow), schedule.columnsPerTile);
  Value endColumn = b.min(b.add(firstColumn, schedule.columnsPerTile), b.i64(schedule.rowElements));
  b.loop(firstRow, endRow, 1, [&](Value row) { emitRow(row, firstColumn, endColumn); });
  return success();
}

static LogicalResult emitElementwise(KernelContext& context, Value tile) {
  FailureOr<ElementwiseKernel> kernel = context.read<ElementwiseKernel>();
  return failed(kernel) ? failure() : ElementwiseEmission(context, *kernel).emit(tile);
}

extern constexpr Emitter elementwise = {ElementwiseKernel::name, emitElementwise};

} // namespace tenon::codegen::cpu::emitters
