#include "kernels/cuda/Selection.h"
#include "codegen/cuda/Emitter.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Searches of the best element of each row, a block a row.
class SelectionEmission {
public:
  SelectionEmission(KernelContext& context, TypedValue<RankedTensorType> input)
      : context(context), input(input), length(input.getType().getShape().back()) {}

  /// Starts the kernel, with shared memory for the candidates of `buffers` searches.
  FailureOr<CodeWriter*> begin(int buffers);
  /// Prints a loop over the thread's elements `x` at `i`.
  void forElements(llvm::function_ref<void()> body);
  /// Prints the search of the best candidate that comes after the one in the variable `bound`
  /// (every element where it is empty or holds none) into the new variable `name`.
  void search(const std::string& name, const std::string& bound, const std::string& shared);

private:
  KernelContext& context;
  TypedValue<RankedTensorType> input;
  int64_t length;
  CodeWriter* code = nullptr;
};

} // namespace

FailureOr<CodeWriter*> SelectionEmission::begin(int buffers) {
  if (failed(context.expectTiles(input.getType().getNumElements() / length)))
    return failure();
  context.structure.headers = {"reduce.cuh"};
  code = &context.structure.begin(PhaseKind::Store, {context.access(input)}, context.results());
  code->line("const long long row = tile;");
  code->format("__shared__ Ranked shared[%d][%d];", buffers, context.structure.threads / 32);
  return code;
}

void SelectionEmission::forElements(llvm::function_ref<void()> body) {
  code->line("#pragma unroll 8"); // so many loads on their way at once
  code->openFormat("for (int i = threadIdx.x; i < %d; i += %d)", length, context.structure.threads);
  code->format("const float x = toFloat(%s[row * %d + i]);", context.pointer(input), length);
  body();
  code->close();
}

void SelectionEmission::search(const std::string& name, const std::string& bound,
                               const std::string& shared) {
  code->format("Ranked %s = {0.0f, -1};", name);
  forElements([&] {
    code->line("const Ranked candidate = {x, i};");
    std::string after;
    if (!bound.empty())
      after = absl::StrFormat("(%s.index < 0 || ranksBefore(%s, candidate)) && ", bound, bound);
    code->format("if (%sranksBefore(candidate, %s))", after, name);
    code->format("  %s = candidate;", name);
  });
  code->format("%s = firstRanked<%d>(%s, %s);", name, context.structure.threads, name, shared);
}

static LogicalResult emitArgmax(KernelContext& context) {
  auto kernel = context.read<SelectionKernel<ArgmaxOp>>();
  if (failed(kernel))
    return failure();
  ArgmaxOp op = kernel->op;
  SelectionEmission selection(context, op.getInput());
  FailureOr<CodeWriter*> code = selection.begin(/*buffers=*/1);
  if (failed(code))
    return failure();
  (*code)->line("bool hasNan = false;");
  selection.forElements([&] { (*code)->line("hasNan |= x != x;"); });
  (*code)->line("hasNan = __syncthreads_or(hasNan);");
  selection.search("best", "", "shared[0]");
  (*code)->open("if (threadIdx.x == 0)");
  for (const std::string& pointer : context.destinations(op.getResult()))
    (*code)->format("%s[row] = hasNan ? -1 : best.index;", pointer);
  (*code)->close();
  return success();
}

/// k searches, each for what comes after the one before: for the small k of sampling.
static LogicalResult emitTopK(KernelContext& context) {
  auto kernel = context.read<SelectionKernel<TopKOp>>();
  if (failed(kernel))
    return failure();
  TopKOp op = kernel->op;
  SelectionEmission selection(context, op.getInput());
  FailureOr<CodeWriter*> begun = selection.begin(/*buffers=*/2);
  if (failed(begun))
    return failure();
  CodeWriter& code = **begun;
  std::string type = deviceType(op.getValues().getType().getElementType());
  int64_t k = op.getK();
  code.line("Ranked last = {0.0f, -1};");
  code.openFormat("for (int rank = 0; rank < %d; ++rank)", k);
  selection.search("best", "last", "shared[rank % 2]");
  code.open("if (threadIdx.x == 0)");
  for (const std::string& pointer : context.destinations(op.getValues()))
    code.format("%s[row * %d + rank] = fromFloat<%s>(best.value);", pointer, k, type);
  for (const std::string& pointer : context.destinations(op.getIndices()))
    code.format("%s[row * %d + rank] = best.index;", pointer, k);
  code.close();
  code.line("last = best;");
  code.close();
  return success();
}

extern constexpr Emitter argmax = {"argmax", emitArgmax};
extern constexpr Emitter topK = {"top_k", emitTopK};

} // namespace tenon::codegen::cuda::emitters
