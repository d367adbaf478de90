#include "codegen/cuda/emitters/Rows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda {

/// Floats of a row that a thread keeps in registers.
static constexpr int64_t cachedFloats = 64;

RowEmission::RowEmission(KernelContext& context, Operation* hero, Value input)
    : context(context), hero(hero), input(input), shape(shapeOf(input.getType())) {
  length = shape.back();
  rows = ShapedType::getNumElements(shape) / length;
}

LogicalResult RowEmission::readSchedule(OrderAttr order) {
  FailureOr<int64_t> groupSize = context.parameter("group");
  FailureOr<int64_t> width = context.parameter("vector");
  if (failed(groupSize) || failed(width) || failed(context.readResources()))
    return failure();
  group = *groupSize, vector = *width;
  int64_t threads = context.structure.threads;
  if (!llvm::isPowerOf2_64(group) || !llvm::isPowerOf2_64(vector) || vector > 16 ||
      (group != 32 && group != threads))
    return context.kernel.emitOpError("expects a group of 32 or of all threads, a power of two, "
                                      "and a vector of a power of two up to 16, but got ")
           << group << " and " << vector;
  if (order) {
    bool whole = order.getChunk() == 0 || order.getChunk() >= length;
    inChunks = group > 32 && order.getChunk() == 32 * vector;
    int64_t lanes = inChunks ? 32 * vector : group * vector;
    if ((!whole && !inChunks) || order.getLanes() != lanes ||
        order.getTree() != CombineTree::Halving)
      return hero->emitOpError("expects an order of one chunk in ")
             << group * vector << " lanes that halve, or of chunks of " << 32 * vector
             << " elements in as many, but got " << order;
  }
  iterations = llvm::divideCeil(length, group * vector);
  cached = iterations * vector <= cachedFloats;
  return context.expectTiles(llvm::divideCeil(rows, threads / group));
}

RowPosition RowEmission::position() const {
  bool whole = length % (group * vector) == 0;
  return {"row", "column", whole ? "" : absl::StrFormat("%d - column", length)};
}

/// The vector at `column` as `float x[vector]`; zeros behind the end of the row.
LogicalResult RowEmission::printInput() {
  bool whole = position().valid.empty(), aligned = length % vector == 0;
  code->format("float x[%d]%s;", vector, !whole && aligned ? " = {}" : "");
  // A scope of its own: the epilogue prints values at the same place again.
  code->open(!whole && aligned ? absl::StrFormat("if (column < %d)", length) : "");
  RegionPrinter printer(context, shape, /*flat=*/false, vector);
  printer.moveTo(*code, aligned ? RowPosition{"row", "column", ""} : position());
  FailureOr<std::string> element = printer.element(input);
  if (failed(element))
    return failure();
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", vector);
  code->format("  x[j] = %s;", *element);
  code->close();
  return success();
}

void RowEmission::printPlace() {
  if (placed)
    return;
  placed = true;
  int64_t perBlock = context.structure.threads / group;
  code->format("const int thread = threadIdx.x %% %d;", group);
  code->format("const long long row = tile * %d + threadIdx.x / %d;", perBlock, group);
}

void RowEmission::preload(ValueRange operands) {
  if (!cached)
    return;
  for (Value operand : operands) {
    auto argument = llvm::dyn_cast<BlockArgument>(operand);
    if (!argument || shapeOf(operand.getType()) != llvm::ArrayRef(length) || length % vector != 0)
      continue;
    std::string name = "row_" + context.pointer(argument);
    code = &context.structure.begin(PhaseKind::Load, {context.access(argument)},
                                    {{MemorySpace::Registers, name}});
    printPlace();
    code->format("float %s[%d][%d];", name, iterations, vector);
    code->unroll();
    code->openFormat("for (int i = 0; i < %d; ++i)", iterations);
    code->format("const int column = (i * %d + thread) * %d;", group, vector);
    if (!position().valid.empty())
      code->format("if (column < %d)", length);
    code->format("%sloadVector(%s[i], %s + column);", position().valid.empty() ? "" : "  ", name,
                 context.pointer(argument));
    code->close();
    preloaded[operand] = name;
  }
}

LogicalResult RowEmission::begin() {
  PhaseStructure& structure = context.structure;
  structure.headers = {"blocks.cuh", "reduce.cuh"};
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  code = &structure.begin(PhaseKind::Load, reads, {{MemorySpace::Registers, "row_x"}});
  printPlace();
  // A warp leaves as a whole; a block has one row.
  if (rows % (structure.threads / group) != 0) {
    code->format("if (row >= %d)", rows);
    code->line("  return;");
  }
  if (!cached)
    return success();
  code->format("float row_x[%d][%d];", iterations, vector);
  code->unroll();
  code->openFormat("for (int i = 0; i < %d; ++i)", iterations);
  code->format("const int column = (i * %d + thread) * %d;", group, vector);
  if (failed(printInput()))
    return failure();
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", vector);
  code->line("  row_x[i][j] = x[j];");
  code->close();
  return success();
}

LogicalResult RowEmission::forVectors(llvm::function_ref<void()> body) {
  if (cached) {
    code->unroll();
    code->openFormat("for (int i = 0; i < %d; ++i)", iterations);
    code->format("const int column = (i * %d + thread) * %d;", group, vector);
    code->format("const float (&x)[%d] = row_x[i];", vector);
  } else {
    // A warp leaves the loop as a whole.
    code->openFormat("for (int column = thread * %d; column%s < %d; column += %d)", vector,
                     inChunks ? absl::StrFormat(" - thread %% 32 * %d", vector) : "", length,
                     group * vector);
    if (failed(printInput()))
      return failure();
  }
  body();
  code->close();
  return success();
}

std::string RowEmission::sharedBuffer(int64_t floats) {
  if (group == 32)
    return "nullptr";
  std::string name = "shared" + std::to_string(buffers++);
  code->format("__shared__ float %s[%d];", name, floats);
  return name;
}

/// The sum where each vector of a warp is a chunk: the warp halves its lanes, and all threads add the
/// chunks' sums.
LogicalResult RowEmission::sumChunks(const std::string& name, const std::string& term) {
  int64_t chunk = 32 * vector, chunks = llvm::divideCeil(length, chunk);
  code->format("__shared__ alignas(16) float %s_chunks[%d];", name, llvm::alignTo(chunks, 4));
  bool exact = length % (group * vector) == 0;
  LogicalResult printed = forVectors([&] {
    code->format("float terms[%d] = {};", vector);
    code->unroll();
    code->format("for (int j = 0; j < %d; ++j)", vector);
    if (!exact)
      code->format("  if (column + j < %d)", length);
    code->format("  %sterms[j] += %s;", exact ? "" : "  ", term);
    code->line("const float sum = combineWarpLanes(terms);");
    code->format("if (thread %% 32 == 0%s)",
                 exact ? "" : absl::StrFormat(" && column < %d", length));
    code->format("  %s_chunks[column / %d] = sum;", name, chunk);
  });
  code->line("__syncthreads();");
  code->format("const float %s = addChunks<%d>(%s_chunks);", name, chunks, name);
  return printed;
}

LogicalResult RowEmission::sum(const std::string& name, const std::string& term) {
  code = &context.structure.begin(PhaseKind::MainLoop, {{MemorySpace::Registers, "row_x"}},
                                  {{MemorySpace::Registers, name}});
  if (!cached)
    context.structure.phases.back().reads = context.arguments(false);
  if (inChunks)
    return sumChunks(name, term);
  code->format("float %s_lanes[%d] = {};", name, vector);
  bool exact = length % (group * vector) == 0;
  LogicalResult printed = forVectors([&] {
    code->unroll();
    code->format("for (int j = 0; j < %d; ++j)", vector);
    if (!exact)
      code->format("  if (column + j < %d)", length);
    code->format("  %s%s_lanes[j] += %s;", exact ? "" : "  ", name, term);
  });
  std::string shared = sharedBuffer(group * vector);
  code->format("const float %s = combineLanes<%d>(%s_lanes, %s);", name, group, name, shared);
  return printed;
}

LogicalResult RowEmission::extremum(const std::string& name, bool largest) {
  code = &context.structure.begin(PhaseKind::MainLoop, {{MemorySpace::Registers, "row_x"}},
                                  {{MemorySpace::Registers, name}});
  if (!cached)
    context.structure.phases.back().reads = context.arguments(false);
  const char* function = largest ? "maximum" : "minimum";
  code->format("float %s_thread = __uint_as_float(0x%su);", name,
               largest ? "ff800000" : "7f800000"); // the infinity that loses
  LogicalResult printed = forVectors([&] {
    code->unroll();
    code->format("for (int j = 0; j < %d; ++j)", vector);
    code->format("  if (column + j < %d)", length);
    code->format("    %s_thread = %s(%s_thread, x[j]);", name, function, name);
  });
  std::string shared = sharedBuffer(group / 32);
  code->format("const float %s = combineThreads<%d>(%s_thread, %s(), %s);", name, group, name,
               largest ? "Maximum" : "Minimum", shared);
  return printed;
}

void RowEmission::beginStore() {
  std::vector<Access> reads =
      cached ? std::vector<Access>{{MemorySpace::Registers, "row_x"}} : context.arguments(false);
  code = &context.structure.begin(PhaseKind::Store, reads, context.results());
}

/// The results at the vector in `x`, whose elements from `position().valid` on do not exist.
LogicalResult RowEmission::printEpilogue(ValueRange operands, ResultExpression result) {
  RegionPrinter printer(context, shape, /*flat=*/false, vector);
  bool aligned = length % vector == 0;
  if (aligned && !position().valid.empty())
    code->openFormat("if (column < %d)", length);
  printer.moveTo(*code, aligned ? RowPosition{"row", "column", ""} : position());
  printer.define(input, "x");
  for (const auto& [operand, name] : preloaded)
    printer.define(operand, name + "[i]");
  llvm::SmallVector<std::string> elements;
  for (Value operand : operands) {
    FailureOr<std::string> element = printer.element(operand);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  std::string type = deviceType(elementTypeOf(hero->getResult(0).getType()));
  code->format("float hero[%d];", vector);
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", vector);
  code->format("  hero[j] = roundTo<%s>(%s);", type, result(elements));
  printer.define(hero->getResult(0), "hero");
  llvm::SmallPtrSet<Value, 4> stored;
  for (Value yielded : context.kernel.getYield().getValues())
    if (stored.insert(yielded).second && failed(printer.store(yielded)))
      return failure();
  if (aligned && !position().valid.empty())
    code->close();
  return success();
}

LogicalResult RowEmission::finish(ValueRange operands, ResultExpression result) {
  beginStore();
  LogicalResult stored = success();
  LogicalResult printed = forVectors([&] { stored = printEpilogue(operands, result); });
  return success(succeeded(printed) && succeeded(stored));
}

} // namespace tenon::codegen::cuda
