#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// Where the elements of a result lie in the input: element coordinates times `strides`, plus
/// `offset`, all in elements.
struct StridedView {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
};

StridedView viewOf(TransposeOp op) {
  llvm::SmallVector<int64_t> strides = computeStrides(op.getInput().getType().getShape());
  return {applyPermutation(strides, op.getPermutation())};
}

StridedView viewOf(SliceOp op) {
  StridedView view{computeStrides(op.getInput().getType().getShape())};
  for (auto [stride, start, step] :
       llvm::zip_equal(view.strides, op.getOffsets(), op.getStrides())) {
    view.offset += start * stride;
    stride *= step;
  }
  return view;
}

StridedView viewOf(ReshapeOp op) { return {computeStrides(op.getType().getShape())}; }

/// Copies row `row` of the result from the elements that `view` describes.
void copyRow(KernelContext& context, Value input, Value result, const StridedView& view,
             Value row) {
  VectorBuilder& b = context.builder;
  auto type = llvm::cast<RankedTensorType>(result.getType());
  llvm::ArrayRef<int64_t> shape = type.getShape();
  int64_t bytes = elementBytes(type.getElementType());
  int64_t length = shape.empty() ? 1 : shape.back(),
          stride = shape.empty() ? 1 : view.strides.back();
  Value offset = b.i64(view.offset), rest = row;
  for (size_t axis = shape.empty() ? 0 : shape.size() - 1; axis-- > 0;) {
    offset = b.add(offset, b.mul(b.rem(rest, shape[axis]), view.strides[axis]));
    rest = b.div(rest, shape[axis]);
  }
  Value source = b.advance(context.pointer(input), b.mul(offset, bytes));
  for (Value destination : context.destinations(result)) {
    Value target = b.advance(destination, b.mul(row, length * bytes));
    if (stride == 1 || length == 1) {
      b.copy(target, source, b.i64(length * bytes));
      continue;
    }
    Type bits = b.getIntegerType(bytes * 8);
    b.loop(b.i64(0), b.i64(length), 1, [&](Value index) {
      Value element = b.load(bits, b.advance(source, b.mul(index, stride * bytes)));
      b.store(element, b.advance(target, b.mul(index, bytes)));
    });
  }
}

template <typename OpTy>
LogicalResult emitView(KernelContext& context, const CopyKernel& kernel, OpTy op, Value tile) {
  StridedView view = viewOf(op);
  return forTileRows(context, kernel, tile, [&](Value row) {
    copyRow(context, op.getInput(), op.getResult(), view, row);
  });
}

/// A row is what lies after one another along the axis of concatenation and the inner ones.
LogicalResult emitConcat(KernelContext& context, const CopyKernel& kernel, ConcatOp op,
                         Value tile) {
  VectorBuilder& b = context.builder;
  int64_t rows = rowExtentsOf(op).rows;
  int64_t rowBytes = *getStorageBytes(op.getType()) / rows;
  return forTileRows(context, kernel, tile, [&](Value row) {
    for (Value destination : context.destinations(op.getResult())) {
      Value target = b.advance(destination, b.mul(row, rowBytes));
      for (Value input : op.getInputs()) {
        int64_t bytes = *getStorageBytes(input.getType()) / rows;
        b.copy(target, b.advance(context.pointer(input), b.mul(row, bytes)), b.i64(bytes));
        target = b.advance(target, bytes);
      }
    }
  });
}

} // namespace

/// Moves elements: reshape, transpose, slice, concat.
static LogicalResult emitCopy(KernelContext& context, Value tile) {
  FailureOr<CopyKernel> kernel = context.read<CopyKernel>();
  if (failed(kernel))
    return failure();
  return llvm::TypeSwitch<Operation*, LogicalResult>(kernel->op)
      .Case<ReshapeOp, TransposeOp, SliceOp>(
          [&](auto view) { return emitView(context, *kernel, view, tile); })
      .Case([&](ConcatOp concat) { return emitConcat(context, *kernel, concat, tile); });
}

extern constexpr Emitter copy = {CopyKernel::name, emitCopy};

} // namespace tenon::codegen::cpu::emitters
