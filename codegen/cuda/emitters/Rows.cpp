#include "codegen/cuda/emitters/Rows.h"

#include "kernels/cuda/Rows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

/// Elements of a row that a thread keeps in registers.
static constexpr int64_t cachedElements = 64;

RowEmission::RowEmission(KernelContext& context, Operation* hero, Value input)
    : context(context), hero(hero), input(input), shape(shapeOf(input.getType())) {
  length = shape.back();
  rows = ShapedType::getNumElements(shape) / length;
}

LogicalResult RowEmission::readSchedule(OrderAttr order) {
  FailureOr<RowKernel> kernel = context.read<RowKernel>();
  if (failed(kernel))
    return failure();
  group = kernel->schedule.group, vector = kernel->schedule.vector;
  context.structure.triggersAtEntry = kernel->schedule.triggerAtExit == 0;
  if (!llvm::isPowerOf2_64(vector) || vector > 16)
    return context.kernel.emitOpError("expects a vector of a power of two up to 16, but got ")
           << vector;
  if (failed(readOrder(order)))
    return failure();
  int64_t threads = context.structure.threads;
  iterations = llvm::divideCeil(length, group * vector);
  cached = iterations * vector <= cachedElements;
  if (chunkVectors > 1 && (!cached || chunkVectors != iterations))
    return hero->emitOpError("expects chunks of ")
           << 32 * vector << " elements, or of the " << 32 * vector * iterations
           << " that a warp of the group keeps in registers, but got " << order;
  return context.expectTiles(llvm::divideCeil(rows, threads / group));
}

/// The threads that share a row, and its chunks.
LogicalResult RowEmission::readOrder(OrderAttr order) {
  constexpr int64_t mostBarriers = 15; // beside the block's
  int64_t threads = context.structure.threads, step = 32 * vector;
  bool whole = !order || order.getChunk() == 0 || order.getChunk() >= length;
  bool valid = group > 0 && group % 32 == 0 && threads % group == 0;
  if (whole ? !valid || !llvm::isPowerOf2_64(group) || (group != 32 && group != threads)
            : !valid || group == 32 || threads / group > mostBarriers)
    return context.kernel.emitOpError("expects a group of 32 or of all threads, a power of two, or "
                                      "for rows of several chunks of whole warps, at most ")
           << mostBarriers << " groups a block, but got " << group;
  if (!order)
    return success();
  int64_t lanes = whole ? group * vector : step;
  if (order.getLanes() != lanes || order.getTree() != CombineTree::Halving ||
      (!whole && order.getChunk() % step != 0))
    return hero->emitOpError("expects an order of one chunk in ")
           << group * vector << " lanes that halve, or of chunks of multiples of " << step
           << " elements in " << step << " lanes, but got " << order;
  chunkVectors = whole ? 0 : order.getChunk() / step;
  return success();
}

RowPosition RowEmission::position() const {
  return {"row", "column", isAligned() ? "" : absl::StrFormat("%d - column", length)};
}

/// True where every vector of every thread exists.
bool RowEmission::isWhole() const { return length == iterations * group * vector; }

/// Opens a loop over the thread's vectors `i` at `column`; what makes one exist, empty where all
/// do.
std::string RowEmission::openVector() {
  code->unroll();
  code->openFormat("for (int i = 0; i < %d; ++i)", iterations);
  int64_t step = 32 * vector * (chunkVectors > 1 ? 1 : group / 32);
  code->format("const long long column = first + i * %d;", step);
  return isWhole() ? "" : absl::StrFormat("if (column < %d)", length);
}

void RowEmission::printPlace() {
  if (placed)
    return;
  placed = true;
  int64_t perBlock = context.structure.threads / group;
  if (perBlock == 1) {
    code->line("const int thread = threadIdx.x;");
    code->line("const long long row = tile;");
  } else {
    code->format("const int thread = threadIdx.x %% %d;", group);
    code->format("const long long row = tile * %d + threadIdx.x / %d;", perBlock, group);
  }
  // In 64 bits, so that vectors lie constant steps from one address.
  code->line(
      chunkVectors > 1
          ? absl::StrFormat("const long long first = (thread / 32 * %d + thread %% 32) * %d;",
                            32 * chunkVectors, vector)
          : absl::StrFormat("const long long first = thread * %d;", vector));
}

void RowEmission::preload(ValueRange operands) {
  if (!cached || !isAligned())
    return;
  for (Value operand : operands) {
    auto argument = llvm::dyn_cast<BlockArgument>(operand);
    if (!argument || shapeOf(operand.getType()) != llvm::ArrayRef(length))
      continue;
    std::string name = "row_" + context.pointer(argument);
    code = &context.structure.begin(PhaseKind::Load, {context.access(argument)},
                                    {{MemorySpace::Registers, name}});
    printPlace();
    code->format("Packed<%d, %s> %s[%d];", vector, deviceType(elementTypeOf(operand.getType())),
                 name, iterations);
    std::string exists = openVector();
    if (!exists.empty())
      code->line(exists);
    code->format("%s%s[i] = loadPacked<%d>(%s + column);", exists.empty() ? "" : "  ", name, vector,
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
  // A group leaves as a whole.
  if (rows % (structure.threads / group) != 0) {
    code->format("if (row >= %d)", rows);
    code->line("  return;");
  }
  if (!cached)
    return success();
  code->format("Packed<%d, %s> row_x[%d]%s;", vector, deviceType(elementTypeOf(input.getType())),
               iterations, isWhole() ? "" : " = {}");
  std::string exists = openVector();
  code->open(exists); // a scope of its own
  RegionPrinter printer(context, shape, /*flat=*/false, vector);
  printer.keepPacked();
  printer.moveTo(*code, position());
  FailureOr<std::string> row = printer.packed(input);
  if (failed(row))
    return failure();
  code->format("row_x[i] = %s;", *row);
  code->close();
  code->close();
  return success();
}

LogicalResult RowEmission::storeInput() {
  if (!cached || context.destinations(input).empty() || llvm::isa<BlockArgument>(input))
    return success();
  code = &context.structure.begin(PhaseKind::Prologue, {{MemorySpace::Registers, "row_x"}},
                                  context.results());
  stored.insert(input);
  return forVectors([&](const std::string& exists) {
    code->open(exists);
    RegionPrinter printer(context, shape, /*flat=*/false, vector);
    printer.moveTo(*code, position());
    printer.define(input, "x", "row_x[i]");
    LogicalResult printed = printer.store(input);
    code->close();
    return printed;
  });
}

/// The vector at `column` as `float x[vector]`; zeros after the end of the row.
LogicalResult RowEmission::printInput() {
  bool guarded = isAligned() && !isWhole();
  code->format("float x[%d]%s;", vector, guarded ? " = {}" : "");
  // A scope of its own: the epilogue prints values at the same place again.
  code->open(guarded ? absl::StrFormat("if (column < %d)", length) : "");
  RegionPrinter printer(context, shape, /*flat=*/false, vector);
  printer.keepPacked();
  printer.moveTo(*code, position());
  FailureOr<std::string> element = printer.element(input);
  if (failed(element))
    return failure();
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", vector);
  code->format("  x[j] = %s;", *element);
  code->close();
  return success();
}

LogicalResult RowEmission::forVectors(PrintVector body) {
  std::string exists;
  if (cached) {
    exists = openVector();
    code->format("float x[%d];", vector);
    code->line("widen(x, row_x[i]);");
  } else {
    // A warp leaves the loop as a whole.
    code->openFormat("for (long long column = first; column%s < %d; column += %d)",
                     chunkVectors > 0 ? absl::StrFormat(" - thread %% 32 * %d", vector) : "",
                     length, group * vector);
    if (failed(printInput()))
      return failure();
    exists = isWhole() ? "" : absl::StrFormat("if (column < %d)", length);
  }
  LogicalResult printed = body(exists);
  code->close();
  return printed;
}

/// Adds `term` of the vector's elements to `sums[j]`.
void RowEmission::addTerms(const std::string& sums, const std::string& term,
                           const std::string& exists) {
  // Where vectors are whole, one that exists has all of its elements.
  bool guarded = isAligned() && !exists.empty();
  if (guarded)
    code->open(exists);
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", vector);
  if (!isAligned())
    code->format("  if (column + j < %d)", length);
  code->format("  %s%s[j] += %s;", isAligned() ? "" : "  ", sums, term);
  if (guarded)
    code->close();
}

std::string RowEmission::sharedBuffer(int64_t floats) {
  if (group == 32)
    return "nullptr";
  std::string name = "shared" + std::to_string(buffers++);
  code->format("__shared__ float %s[%d];", name, floats);
  return name;
}

/// The sum of a row of several chunks: a warp halves the lanes of each of its chunks, and all
/// threads add the chunks' sums.
LogicalResult RowEmission::sumChunks(const std::string& name, const std::string& term) {
  int64_t chunk = chunkVectors * 32 * vector, chunks = llvm::divideCeil(length, chunk);
  int64_t rowsOfBlock = context.structure.threads / group, stride = llvm::alignTo(chunks, 4);
  code->format("__shared__ alignas(16) float %s_chunks[%d][%d];", name, rowsOfBlock, stride);
  std::string place = rowsOfBlock == 1 ? "0" : absl::StrFormat("threadIdx.x / %d", group);
  code->format("float* const %s_row = %s_chunks[%s];", name, name, place);
  auto declare = [&] { code->format("float terms[%d] = {};", vector); };
  auto combine = [&](const std::string& index) {
    code->line("const float sum = combineWarpLanes(terms);");
    code->format("if (thread %% 32 == 0%s)", chunks * chunk == iterations * group * vector
                                                 ? ""
                                                 : absl::StrFormat(" && %s < %d", index, chunks));
    code->format("  %s_row[%s] = sum;", name, index);
  };
  bool oneChunk = cached && chunkVectors == iterations; // a warp's
  code->open("");
  if (oneChunk)
    declare();
  LogicalResult printed = forVectors([&](const std::string& exists) {
    if (!oneChunk)
      declare();
    addTerms("terms", term, exists);
    if (!oneChunk)
      combine(absl::StrFormat("column / %d", chunk));
    return success();
  });
  if (oneChunk)
    combine("thread / 32");
  code->close();
  code->line(rowsOfBlock == 1 ? "__syncthreads();" : absl::StrFormat("syncGroup<%d>();", group));
  code->format("const float %s = addChunks<%d>(%s_row);", name, chunks, name);
  return printed;
}

LogicalResult RowEmission::sum(const std::string& name, const std::string& term) {
  code = &context.structure.begin(PhaseKind::MainLoop, {{MemorySpace::Registers, "row_x"}},
                                  {{MemorySpace::Registers, name}});
  if (!cached)
    context.structure.phases.back().reads = context.arguments(false);
  if (chunkVectors > 0)
    return sumChunks(name, term);
  code->format("float %s_lanes[%d] = {};", name, vector);
  LogicalResult printed = forVectors([&](const std::string& exists) {
    addTerms(name + "_lanes", term, exists);
    return success();
  });
  std::string shared = sharedBuffer(group * vector);
  code->format("const float %s = combineLanes<%d>(%s_lanes, %s);", name, group, name, shared);
  return printed;
}

std::string RowEmission::keep(const std::string& name, const std::string& expression) {
  if (!cached)
    return expression;
  code->format("float %s[%d][%d];", name, iterations, vector);
  [[maybe_unused]] LogicalResult printed = forVectors([&](const std::string&) {
    code->unroll();
    code->format("for (int j = 0; j < %d; ++j)", vector);
    code->format("  %s[i][j] = %s;", name, expression);
    return success();
  });
  return name + "[i][j]";
}

LogicalResult RowEmission::extremum(const std::string& name, bool largest) {
  code = &context.structure.begin(PhaseKind::MainLoop, {{MemorySpace::Registers, "row_x"}},
                                  {{MemorySpace::Registers, name}});
  if (!cached)
    context.structure.phases.back().reads = context.arguments(false);
  const char* function = largest ? "maximum" : "minimum";
  code->format("float %s_thread = __uint_as_float(0x%su);", name,
               largest ? "ff800000" : "7f800000"); // the infinity that loses
  LogicalResult printed = forVectors([&](const std::string&) {
    code->unroll();
    code->format("for (int j = 0; j < %d; ++j)", vector);
    code->format("  if (column + j < %d)", length);
    code->format("    %s_thread = %s(%s_thread, x[j]);", name, function, name);
    return success();
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

/// The results at the vector in `x`.
LogicalResult RowEmission::printEpilogue(ValueRange operands, ResultExpression result) {
  RegionPrinter printer(context, shape, /*flat=*/false, vector);
  printer.keepPacked();
  printer.moveTo(*code, position());
  printer.define(input, "x", cached ? "row_x[i]" : "");
  for (const auto& [operand, name] : preloaded) {
    code->format("float %s_x[%d];", name, vector);
    code->format("widen(%s_x, %s[i]);", name, name);
    printer.define(operand, name + "_x");
  }
  llvm::SmallVector<std::string> elements;
  for (Value operand : operands) {
    FailureOr<std::string> element = printer.element(operand);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  std::string type = deviceType(elementTypeOf(hero->getResult(0).getType()));
  code->format("float exact[%d], hero[%d];", vector, vector);
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", vector);
  code->format("  exact[j] = %s;", result(elements));
  code->format("const auto hero_packed = pack<%s>(exact);", type);
  code->line("widen(hero, hero_packed);");
  printer.define(hero->getResult(0), "hero", "hero_packed");
  for (Value yielded : context.kernel.getYield().getValues())
    if (stored.insert(yielded).second && failed(printer.store(yielded)))
      return failure();
  return success();
}

LogicalResult RowEmission::finish(ValueRange operands, ResultExpression result) {
  beginStore();
  return forVectors([&](const std::string& exists) {
    code->open(isAligned() ? exists : "");
    LogicalResult printed = printEpilogue(operands, result);
    code->close();
    return printed;
  });
}

} // namespace tenon::codegen::cuda
