#include "codegen/cuda/emitters/Rows.h"

#include "kernels/cuda/Rows.h"
#include "kernels/regions/Norms.h"
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
  taken = kernel->schedule.rows, preloads = kernel->preloads();
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
  if (taken > 1 &&
      (!isNorm(hero) || rows % taken != 0 || !cached || (group > 32 && chunkVectors == 0)))
    return context.kernel.emitOpError("expects ")
           << taken << " rows a group of a norm, to divide " << rows
           << " that stay in registers, each of one warp or in chunks";
  return context.expectTiles(llvm::divideCeil(rows, threads / group * taken));
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

/// Opens a loop over the group's rows `r`, with what has been stated of one; nothing for one row.
void RowEmission::openRows() {
  if (taken == 1)
    return;
  code->unroll();
  code->openFormat("for (int r = 0; r < %d; ++r)", taken);
  code->line("const long long row = firstRow + r;");
  for (const std::string& statement : statements)
    code->line(statement);
}

void RowEmission::closeRows() {
  if (taken > 1)
    code->close();
}

void RowEmission::state(const std::string& statement) {
  if (taken > 1)
    statements.push_back(statement);
  else
    code->line(statement);
}

void RowEmission::printPlace() {
  if (placed)
    return;
  placed = true;
  int64_t perBlock = context.structure.threads / group;
  const char* name = taken > 1 ? "firstRow" : "row";
  std::string rowsOfGroup = taken > 1 ? absl::StrFormat(" * %d", taken) : "";
  if (perBlock == 1) {
    code->line("const int thread = threadIdx.x;");
    code->format("const long long %s = tile%s;", name, rowsOfGroup);
  } else {
    code->format("const int thread = threadIdx.x %% %d;", group);
    std::string index = absl::StrFormat("tile * %d + threadIdx.x / %d", perBlock, group);
    code->format("const long long %s = %s;", name,
                 taken > 1 ? "(" + index + ")" + rowsOfGroup : index);
  }
  // In 64 bits, so that vectors lie constant steps from one address.
  code->line(
      chunkVectors > 1
          ? absl::StrFormat("const long long first = (thread / 32 * %d + thread %% 32) * %d;",
                            32 * chunkVectors, vector)
          : absl::StrFormat("const long long first = thread * %d;", vector));
}

/// True for a vector in memory of which the threads of a row read whole vectors.
bool RowEmission::isVectorInMemory(Value operand) const {
  return isAligned() && llvm::isa<BlockArgument>(operand) &&
         shapeOf(operand.getType()) == llvm::ArrayRef(length);
}

void RowEmission::preload(ValueRange operands) {
  if (!preloads || !cached)
    return;
  for (Value operand : operands) {
    if (preloaded.contains(operand) || !isVectorInMemory(operand))
      continue;
    auto argument = llvm::cast<BlockArgument>(operand);
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
  if (rows % (structure.threads / group * taken) != 0) {
    code->format("if (%s >= %d)", taken > 1 ? "firstRow" : "row", rows);
    code->line("  return;");
  }
  if (!cached)
    return success();
  code->format("Packed<%d, %s> row_x%s[%d]%s;", vector, deviceType(elementTypeOf(input.getType())),
               taken > 1 ? absl::StrFormat("[%d]", taken) : "", iterations,
               isWhole() ? "" : " = {}");
  openRows();
  std::string exists = openVector();
  code->open(exists); // a scope of its own
  RegionPrinter printer(context, shape, /*flat=*/false, vector);
  printer.keepPacked();
  printer.moveTo(*code, position());
  FailureOr<std::string> row = printer.packed(input);
  if (failed(row))
    return failure();
  code->format("%s = %s;", keptVector(), *row);
  code->close();
  code->close();
  closeRows();
  return success();
}

LogicalResult RowEmission::storeInput() {
  if (!cached || context.destinations(input).empty() || llvm::isa<BlockArgument>(input))
    return success();
  code = &context.structure.begin(PhaseKind::Prologue, {{MemorySpace::Registers, "row_x"}},
                                  context.results());
  stored.insert(input);
  openRows();
  LogicalResult stores = forVectors([&](const std::string& exists) {
    code->open(exists);
    RegionPrinter printer(context, shape, /*flat=*/false, vector);
    printer.moveTo(*code, position());
    printer.define(input, "x", keptVector());
    LogicalResult printed = printer.store(input);
    code->close();
    return printed;
  });
  closeRows();
  return stores;
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
    code->format("widen(x, %s);", keptVector());
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
  code->format("__shared__ alignas(16) float %s_chunks[%d][%d];", name, rowsOfBlock,
               taken * stride);
  std::string place = rowsOfBlock == 1 ? "0" : absl::StrFormat("threadIdx.x / %d", group);
  std::string sums = name + (taken > 1 ? "_group" : "_row");
  code->format("float* const %s = %s_chunks[%s];", sums, name, place);
  if (taken > 1)
    sums += absl::StrFormat(" + r * %d", stride);
  openRows();
  if (taken > 1)
    code->format("float* const %s_row = %s;", name, sums);
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
  closeRows();
  code->line(rowsOfBlock == 1 ? "__syncthreads();" : absl::StrFormat("syncGroup<%d>();", group));
  state(absl::StrFormat("const float %s = addChunks<%d>(%s);", name, chunks, sums));
  return printed;
}

LogicalResult RowEmission::sum(const std::string& name, const std::string& term) {
  code = &context.structure.begin(PhaseKind::MainLoop, {{MemorySpace::Registers, "row_x"}},
                                  {{MemorySpace::Registers, name}});
  if (!cached)
    context.structure.phases.back().reads = context.arguments(false);
  if (chunkVectors > 0)
    return sumChunks(name, term);
  if (taken > 1)
    code->format("float %s_rows[%d];", name, taken);
  openRows();
  code->format("float %s_lanes[%d] = {};", name, vector);
  LogicalResult printed = forVectors([&](const std::string& exists) {
    addTerms(name + "_lanes", term, exists);
    return success();
  });
  std::string shared = sharedBuffer(group * vector);
  code->format("%s = combineLanes<%d>(%s_lanes, %s);",
               taken > 1 ? name + "_rows[r]" : "const float " + name, group, name, shared);
  closeRows();
  if (taken > 1)
    state(absl::StrFormat("const float %s = %s_rows[r];", name, name));
  return printed;
}

std::string RowEmission::keep(const std::string& name, const std::string& expression) {
  if (!cached || taken > 1)
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

/// Brings those of `operands` that are vectors in memory, at the column that all rows of the group
/// share.
void RowEmission::printSharedOperands(llvm::ArrayRef<RowHero> heroes) {
  for (const RowHero& hero : heroes) {
    for (Value operand : hero.operands) {
      if (taken == 1 || sharedOperands.contains(operand) || !isVectorInMemory(operand))
        continue;
      std::string pointer = context.pointer(operand), name = "shared_" + pointer;
      code->format("float %s[%d];", name, vector);
      code->format("loadVector(%s, %s + column);", name, pointer);
      sharedOperands[operand] = name;
    }
  }
}

/// The result of `hero` at the vector in `x`, as `name` and `name`_packed.
LogicalResult RowEmission::printHero(RegionPrinter& printer, const RowHero& hero,
                                     const std::string& name, const std::string& exact) {
  llvm::SmallVector<std::string> elements;
  for (Value operand : hero.operands) {
    FailureOr<std::string> element = printer.element(operand);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  code->format("float %s[%d], %s[%d];", exact, vector, name, vector);
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", vector);
  code->format("  %s[j] = %s;", exact, hero.result(elements));
  code->format("const auto %s_packed = pack<%s>(%s);", name,
               deviceType(elementTypeOf(hero.op->getResult(0).getType())), exact);
  code->format("widen(%1$s, %1$s_packed);", name);
  printer.define(hero.op->getResult(0), name, name + "_packed");
  return success();
}

/// The results at the vector in `x`.
LogicalResult RowEmission::printEpilogue(llvm::ArrayRef<RowHero> heroes) {
  RegionPrinter printer(context, shape, /*flat=*/false, vector);
  printer.keepPacked();
  printer.moveTo(*code, position());
  printer.define(input, "x", cached ? keptVector() : "");
  for (const auto& [operand, name] : sharedOperands)
    printer.define(operand, name);
  for (const auto& [operand, name] : preloaded) {
    code->format("float %s_x[%d];", name, vector);
    code->format("widen(%s_x, %s[i]);", name, name);
    printer.define(operand, name + "_x");
  }
  for (auto [index, hero] : llvm::enumerate(heroes)) {
    std::string number = index == 0 ? "" : std::to_string(index);
    if (failed(printHero(printer, hero, "hero" + number, "exact" + number)))
      return failure();
  }
  for (Value yielded : context.kernel.getYield().getValues())
    if (stored.insert(yielded).second && failed(printer.store(yielded)))
      return failure();
  return success();
}

LogicalResult RowEmission::finish(llvm::ArrayRef<RowHero> heroes) {
  beginStore();
  if (taken == 1)
    return forVectors([&](const std::string& exists) {
      code->open(isAligned() ? exists : "");
      LogicalResult printed = printEpilogue(heroes);
      code->close();
      return printed;
    });
  // All rows of the group take one vector after the other, with what it is scaled and shifted by.
  std::string exists = openVector();
  code->open(isAligned() ? exists : "");
  printSharedOperands(heroes);
  openRows();
  code->format("float x[%d];", vector);
  code->format("widen(x, %s);", keptVector());
  LogicalResult printed = printEpilogue(heroes);
  closeRows();
  code->close();
  code->close();
  return printed;
}

} // namespace tenon::codegen::cuda
