#include "codegen/cuda/emitters/Indexed.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Prints where the input has the element `index` of the result: `from`, and whether it has it,
/// `isInside`.
static void printPlace(CodeWriter& code, PatchesOp op) {
  llvm::ArrayRef<int64_t> window = op.getWindow(), shape = op.getInput().getType().getShape();
  llvm::SmallVector<int64_t> counts = op.getWindowCounts();
  int64_t length = op.getType().getShape().back(), stride = 1;
  code.format("long long column = index %% %d;", length);
  code.format("long long row = index / %d;", length);
  code.line("long long from = 0;");
  code.line("bool isInside = true;");
  for (size_t i = window.size(); i-- > 0; stride *= shape[i + 2]) {
    code.format("const long long place%d = row %% %d * %d + column %% %d - %d;", i, counts[i],
                op.getStrides()[i], window[i], op.getLow()[i]);
    code.format("isInside = isInside && place%d >= 0 && place%d < %d;", i, i, shape[i + 2]);
    code.format("from += place%d * %d;", i, stride);
    code.format("row /= %d;", counts[i]);
    code.format("column /= %d;", window[i]);
  }
  code.format("from += (row * %d + column) * %d;", shape[1], stride);
}

/// The windows of a convolution; zeros outside the input.
static LogicalResult emitPatches(KernelContext& context) {
  auto kernel = context.read<IndexedKernel<PatchesOp>>();
  if (failed(kernel))
    return failure();
  FailureOr<CodeWriter*> begun = beginIndexed(context, *kernel);
  if (failed(begun))
    return failure();
  CodeWriter& code = **begun;
  PatchesOp op = kernel->op;
  printPlace(code, op);
  code.format("using Bits = Word<%d>::type;", elementBytes(op.getType().getElementType()));
  code.line("Bits bits = {};");
  code.line("if (isInside)");
  code.format("  bits = *reinterpret_cast<const Bits*>(%s + from);",
              context.pointer(op.getInput()));
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("*reinterpret_cast<Bits*>(%s + index) = bits;", pointer);
  code.close();
  return success();
}

extern constexpr Emitter patches = {"patches", emitPatches};

} // namespace tenon::codegen::cuda::emitters
