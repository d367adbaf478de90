#include <limits>

#include "codegen/cuda/Emitter.h"
#include "kernels/cuda/Moves.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Prints where the input has the element `index` of the result: `from`, and whether it has it,
/// `isInside`.
static void printPlace(CodeWriter& code, PatchesOp op) {
  llvm::ArrayRef<int64_t> window = op.getWindow(), shape = op.getInput().getType().getShape();
  llvm::SmallVector<int64_t> counts = op.getWindowCounts();
  int64_t length = op.getType().getShape().back(), stride = 1;
  code.format("Index column = index %% %d;", length);
  code.format("Index row = index / %d;", length);
  code.line("Index from = 0;");
  code.line("bool isInside = true;");
  for (size_t i = window.size(); i-- > 0; stride *= shape[i + 2]) {
    code.format("const Index place%d = row %% %d * %d + column %% %d - %d;", i, counts[i],
                op.getStrides()[i], window[i], op.getLow()[i]);
    code.format("isInside = isInside && place%d >= 0 && place%d < %d;", i, i, shape[i + 2]);
    code.format("from += place%d * %d;", i, stride);
    code.format("row /= %d;", counts[i]);
    code.format("column /= %d;", window[i]);
  }
  code.format("from += (row * %d + column) * %d;", shape[1], stride);
}

/// The windows of a convolution; zeros outside the input. A thread takes `vector` elements that lie
/// beside one another in the input, too, or are all outside.
static LogicalResult emitPatches(KernelContext& context) {
  FailureOr<PatchesKernel> kernel = context.read<PatchesKernel>();
  if (failed(kernel))
    return failure();
  PatchesOp op = kernel->op;
  int64_t threads = context.structure.threads, vector = kernel->schedule.vector;
  int64_t elements = op.getType().getNumElements();
  if (failed(context.expectTiles(llvm::divideCeil(elements, threads * vector))))
    return failure();
  context.structure.headers = {"memory.cuh"};
  CodeWriter& code =
      context.structure.begin(PhaseKind::Store, {context.access(op.getInput())}, context.results());
  // Those of a window outside the input are as far from it as the window is wide.
  constexpr int64_t most = std::numeric_limits<int32_t>::max() / 2;
  bool isShort = std::max(elements, op.getInput().getType().getNumElements()) <= most;
  code.format("using Index = %s;", isShort ? "int" : "long long");
  code.format("using Bits = Word<%d>::type;", vector * elementBytes(op.getType().getElementType()));
  code.format(
      "const Index index = (static_cast<Index>(tile) * %d + static_cast<Index>(threadIdx.x)) "
      "* %d;",
      threads, vector);
  code.openFormat("if (index < %d)", elements);
  printPlace(code, op);
  code.line("Bits bits = {};");
  code.line("if (isInside)");
  code.format("  bits = *reinterpret_cast<const Bits*>(%s + from);",
              context.pointer(op.getInput()));
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("*reinterpret_cast<Bits*>(%s + index) = bits;", pointer);
  code.close();
  return success();
}

extern constexpr Emitter patches = {PatchesKernel::name, emitPatches};

} // namespace tenon::codegen::cuda::emitters
