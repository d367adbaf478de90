#include "codegen/cuda/emitters/Emitters.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

/// Prints the search of the best candidate of the block's row that comes after the one in
/// the variable `bound` (every element where it is empty or holds none) into the new variable
/// `name`.
static void printSearch(CodeWriter& code, const std::string& name, const std::string& bound,
                        const std::string& source, int64_t length, int64_t threads,
                        const std::string& shared) {
  code.format("Ranked %s = {0.0f, -1};", name);
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", length, threads);
  code.format("const Ranked candidate = {toFloat(%s[row * %d + i]), i};", source, length);
  std::string after;
  if (!bound.empty())
    after = absl::StrFormat("(%s.index < 0 || ranksBefore(%s, candidate)) && ", bound, bound);
  code.format("if (%sranksBefore(candidate, %s))", after, name);
  code.format("  %s = candidate;", name);
  code.close();
  code.format("%s = firstRanked<%d>(%s, %s);", name, threads, name, shared);
}

/// The rows and the row length of the operand; a block takes a row.
static LogicalResult readRows(KernelContext& context, RankedTensorType type, int64_t& length) {
  length = type.getShape().back();
  if (failed(context.readResources()))
    return failure();
  context.structure.headers = {"reduce.cuh"};
  return context.expectTiles(type.getNumElements() / length);
}

static LogicalResult emitArgmax(KernelContext& context) {
  auto op = context.soleOp<ArgmaxOp>();
  int64_t length;
  if (!op || failed(readRows(context, op.getInput().getType(), length)))
    return failure();
  int64_t threads = context.structure.threads;
  CodeWriter& code =
      context.structure.begin(PhaseKind::Store, {context.access(op.getInput())}, context.results());
  code.line("const long long row = tile;");
  code.format("__shared__ Ranked shared[%d];", threads / 32);
  printSearch(code, "best", "", context.pointer(op.getInput()), length, threads, "shared");
  code.open("if (threadIdx.x == 0)");
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("%s[row] = best.index;", pointer);
  code.close();
  return success();
}

/// k searches, each for what comes after the one before: for the small k of sampling.
static LogicalResult emitTopK(KernelContext& context) {
  auto op = context.soleOp<TopKOp>();
  int64_t length;
  if (!op || failed(readRows(context, op.getInput().getType(), length)))
    return failure();
  int64_t threads = context.structure.threads;
  CodeWriter& code =
      context.structure.begin(PhaseKind::Store, {context.access(op.getInput())}, context.results());
  code.line("const long long row = tile;");
  code.format("__shared__ Ranked shared[2][%d];", threads / 32);
  std::string type = deviceType(op.getValues().getType().getElementType());
  int64_t k = op.getK();
  code.line("Ranked last = {0.0f, -1};");
  code.openFormat("for (int rank = 0; rank < %d; ++rank)", k);
  printSearch(code, "best", "last", context.pointer(op.getInput()), length, threads,
              "shared[rank % 2]");
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

const Emitter argmax = {"argmax", emitArgmax};
const Emitter topK = {"top_k", emitTopK};

} // namespace tenon::codegen::cuda::emitters
