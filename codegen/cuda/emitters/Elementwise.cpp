#include "kernels/cuda/Elementwise.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/RegionPrinter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Chains of elementwise operations, embeddings and dequantisations: a thread takes `vector`
/// consecutive elements of a row of the common result shape. `vector` divides the row, or there is
/// one row, whose last vector is cut.
class ElementwiseEmission {
public:
  explicit ElementwiseEmission(KernelContext& context) : context(context) {}

  LogicalResult emit();

private:
  LogicalResult readRegion();
  LogicalResult readSchedule();
  LogicalResult printVector(CodeWriter& code, bool whole);

  KernelContext& context;
  llvm::ArrayRef<int64_t> shape; ///< of every result
  int64_t elements = 0, rowElements = 0, vector = 0;
  bool flat = false, readsRows = false;
};

} // namespace

LogicalResult ElementwiseEmission::readRegion() {
  KernelOp kernel = context.kernel;
  for (Operation& op : kernel.getBlock().without_terminator()) {
    if (!isPrintable(&op))
      return op.emitOpError("expects an elementwise operation in a kernel of the emitter "
                            "elementwise");
    readsRows |= llvm::isa<EmbeddingOp, DequantizeOp>(op);
  }
  for (Value result : kernel.getResults()) {
    auto type = llvm::dyn_cast<RankedTensorType>(result.getType());
    if (!type || (elements != 0 && type.getShape() != shape))
      return kernel.emitOpError(
                 "expects results of one shape for the emitter elementwise, but got ")
             << result.getType();
    shape = type.getShape();
    elements = type.getNumElements();
  }
  return success();
}

LogicalResult ElementwiseEmission::readSchedule() {
  FailureOr<ElementwiseKernel> kernel = context.read<ElementwiseKernel>();
  if (failed(kernel))
    return failure();
  rowElements = kernel->schedule.rowElements, vector = kernel->schedule.vector;
  flat = rowElements == elements && !readsRows;
  bool broadcasts = llvm::any_of(context.kernel.getInputs(), [&](Value input) {
    int64_t count = ShapedType::getNumElements(shapeOf(input.getType()));
    return count != elements && count != 1;
  });
  if ((flat && broadcasts && shape.size() > 1) ||
      (!flat && (shape.empty() || rowElements != shape.back())))
    return context.kernel.emitOpError("expects row_elements to be the innermost extent, or all "
                                      "elements where nothing broadcasts, but got ")
           << rowElements;
  if (!llvm::isPowerOf2_64(vector) || vector > 16 ||
      (rowElements % vector != 0 && rowElements != elements) ||
      (readsRows && rowElements % vector != 0))
    return context.kernel.emitOpError("expects a vector of a power of two up to 16 that divides "
                                      "the row, but got ")
           << vector;
  int64_t vectors = elements / rowElements * llvm::divideCeil(rowElements, vector);
  return context.expectTiles(llvm::divideCeil(vectors, context.structure.threads));
}

LogicalResult ElementwiseEmission::printVector(CodeWriter& code, bool whole) {
  RegionPrinter printer(context, shape, flat, vector);
  printer.moveTo(code, {"row", "column", whole ? "" : absl::StrFormat("%d - column", rowElements)});
  llvm::SmallPtrSet<Value, 4> stored;
  for (Value yielded : context.kernel.getYield().getValues())
    if (stored.insert(yielded).second && failed(printer.store(yielded)))
      return failure();
  return success();
}

LogicalResult ElementwiseEmission::emit() {
  if (failed(readRegion()) || failed(readSchedule()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"blocks.cuh"};
  int64_t perRow = llvm::divideCeil(rowElements, vector);
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.format("const long long vector = tile * %d + threadIdx.x;", structure.threads);
  code.format("const long long row = vector / %d;", perRow);
  code.format("const int column = static_cast<int>(vector %% %d) * %d;", perRow, vector);
  code.openFormat("if (row < %d)", elements / rowElements);
  bool hasTail = rowElements % vector != 0;
  if (hasTail)
    code.openFormat("if (column + %d <= %d)", vector, rowElements);
  if (failed(printVector(code, /*whole=*/true)))
    return failure();
  if (hasTail) {
    code.close();
    code.open("else");
    if (failed(printVector(code, /*whole=*/false)))
      return failure();
    code.close();
  }
  code.close();
  return success();
}

static LogicalResult emitElementwise(KernelContext& context) {
  return ElementwiseEmission(context).emit();
}

extern constexpr Emitter elementwise = {ElementwiseKernel::name, emitElementwise};

} // namespace tenon::codegen::cuda::emitters
