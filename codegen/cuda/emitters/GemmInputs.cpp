#include "codegen/cuda/emitters/GemmInputs.h"

#include "kernels/regions/Norms.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

/// Floats that a thread keeps of what it stages or preloads.
static constexpr int64_t mostFloats = 64;

std::string meetingOf(const GemvBlock& block) {
  return block.hasOtherWarps ? absl::StrFormat("syncGroup<%d>();", block.threads())
                             : "__syncthreads();";
}

GemmInputs::GemmInputs(KernelContext& context, GemmRegion& region, const GemvBlock& layout)
    : context(context), region(region), layout(layout),
      type(deviceType(elementTypeOf(region.inputs.front().value.getType()))),
      sumsOffset(layout.resultsOffset) {}

/// Shares out what `norm` takes, if no norm before it takes the same.
LogicalResult GemmInputs::addSource(unsigned input, const NormTerms& norm) {
  FailureOr<OrderAttr> order = norm.order();
  if (failed(order))
    return failure();
  auto known =
      llvm::find_if(sources, [&](const Source& source) { return source.value == norm.input; });
  if (known != sources.end())
    return known->order == *order
               ? success()
               : norm.op->emitOpError("expects norms of one value to have one order, but got ")
                     << *order;
  constexpr int64_t mostLanes = 8 * pairStep;
  int64_t lanes = order->getLanes(), depth = norm.length;
  bool whole = order->getChunk() == 0 || order->getChunk() >= depth;
  int64_t chunk = whole ? llvm::alignTo(depth, lanes) : order->getChunk();
  if (lanes % pairStep != 0 || !llvm::isPowerOf2_64(lanes) || lanes > mostLanes ||
      chunk % lanes != 0 || order->getTree() != CombineTree::Halving)
    return norm.op->emitOpError("expects an order of chunks of whole lanes, a power of two from ")
           << pairStep << " to " << mostLanes << ", but got " << *order;
  int64_t chunks = llvm::divideCeil(depth, chunk);
  int64_t ownChunks = llvm::divideCeil(chunks, layout.warps), pairs = chunk / pairStep;
  bool kept = region.rows * ownChunks * pairs * 2 <= mostFloats;
  Source& source = sources.emplace_back(
      Source{norm.input, input, *order, depth, chunk, chunks, ownChunks, pairs, kept, {}});
  findOperands(source);
  return success();
}

LogicalResult GemmInputs::check() {
  for (auto [index, input] : llvm::enumerate(region.inputs)) {
    std::optional<NormTerms> norm = NormTerms::of(input.norm);
    if (!norm)
      continue;
    if (failed(addSource(index, *norm)))
      return failure();
    auto shared = llvm::find_if(
        sums, [&](const SharedSums& other) { return other.norm.hasStatisticsOf(*norm); });
    if (shared == sums.end()) {
      auto source =
          llvm::find_if(sources, [&](const Source& other) { return other.value == norm->input; });
      unsigned number = source - sources.begin();
      shared = sums.insert(sums.end(), SharedSums{*norm, number, {}});
    }
    shared->inputs.push_back(index);
  }
  return success();
}

std::string GemmInputs::place(unsigned input, const std::string& m, const std::string& k) const {
  int64_t padded = layout.paddedDepth(region.inputs[input].depth);
  int64_t vector = layout.vector, narrow = layout.inputVector, lanes = 32 * vector;
  std::string row = region.rows == 1 ? "" : absl::StrFormat("%s * %d + ", m, padded);
  if (narrow == vector)
    return row + k;
  return absl::StrFormat("%s%s / %d * %d + %s %% %d / %d * %d + %s / %d %% 32 * %d", row, k, lanes,
                         lanes, k, vector, narrow, 32 * narrow, k, vector, narrow) +
         absl::StrFormat(" + %s %% %d", k, narrow);
}

/// Vectors of a row that a thread takes.
int64_t GemmInputs::vectors(int64_t depth) const {
  return llvm::divideCeil(depth, layout.inputVector * layout.threads());
}

/// The norm that a value of the prologue is made of; null where there is none.
Operation* GemmInputs::normOf(Value value) const {
  Operation* op = value.getDefiningOp();
  if (!op || isNorm(op))
    return op;
  for (Value operand : op->getOperands())
    if (Operation* norm = normOf(operand))
      return norm;
  return nullptr;
}

/// Packed as they lie in memory: what widens them would wait for them before x is asked for.
void GemmInputs::preload() {
  for (const SharedSums& shared : sums) {
    const Source& source = sources[shared.source];
    int64_t pairs = source.ownChunks * source.pairs;
    for (unsigned input : shared.inputs) {
      NormTerms norm = *NormTerms::of(region.inputs[input].norm);
      for (Value operand : norm.operands) {
        auto argument = llvm::dyn_cast<BlockArgument>(operand);
        if (!argument || preloaded.contains(operand) || 2 * pairs > mostFloats ||
            shapeOf(operand.getType()) != llvm::ArrayRef(source.depth))
          continue;
        std::string name = "norm_" + context.pointer(argument);
        CodeWriter& code = context.structure.begin(PhaseKind::Load, {context.access(argument)},
                                                   {{MemorySpace::Registers, name}});
        code.format("Packed<2, %s> %s[%d];", deviceType(elementTypeOf(operand.getType())), name,
                    pairs);
        openChunks(code, source);
        [[maybe_unused]] LogicalResult printed = forPairs(code, source, [&](RegionPrinter&) {
          code.format("loadPacked(%s[pair], %s + k);", name, context.pointer(argument));
          return success();
        });
        closeChunks(code);
        preloaded[operand] = name;
      }
    }
  }
}

/// A loop over the chunks of a warp, `chunk` of the row.
void GemmInputs::openChunks(CodeWriter& code, const Source& source) {
  if (source.kept)
    code.unroll();
  code.openFormat("for (int own = 0; own < %d; ++own)", source.ownChunks);
  code.format("const int chunk = own * %d + warp;", layout.warps);
  code.openFormat("if (chunk < %d)", source.chunks);
}

void GemmInputs::closeChunks(CodeWriter& code) {
  code.close();
  code.close();
}

/// A loop over a thread's pairs of a chunk: the pair number `pair` of the thread has elements k and
/// k + 1 of row m.
LogicalResult GemmInputs::forPairs(CodeWriter& code, const Source& source, PrintElements body) {
  if (source.kept)
    code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)", source.pairs);
  code.format("[[maybe_unused]] const int pair = own * %d + i;", source.pairs);
  code.format("const int k = chunk * %d + i * %d + lane * 2;", source.chunk, pairStep);
  bool whole = source.depth % source.chunk == 0;
  if (!whole)
    code.openFormat("if (k < %d)", source.depth);
  RegionPrinter printer(context, shapeOf(source.value.getType()), /*flat=*/false, /*width=*/2);
  printer.moveTo(code, {"static_cast<long long>(m)", "k", ""});
  LogicalResult printed = body(printer);
  if (!whole)
    code.close();
  code.close();
  return printed;
}

void GemmInputs::openRows(CodeWriter& code) {
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
}

/// Element `j` of a pair of what norms take, from registers or computed again.
FailureOr<std::string> GemmInputs::elementOf(RegionPrinter& printer, unsigned source) {
  if (sources[source].kept)
    printer.define(sources[source].value, absl::StrFormat("source%d[m][pair]", source));
  return printer.element(sources[source].value);
}

/// A loop over a thread's vectors of row m of an input: iteration i has elements [k, k +
/// inputVector).
LogicalResult GemmInputs::forVectors(CodeWriter& code, unsigned input, PrintElements body) {
  int64_t depth = region.inputs[input].depth, count = vectors(depth), vector = layout.inputVector;
  if (count * vector <= mostFloats)
    code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)", count);
  code.format("const int k = (i * %d + static_cast<int>(threadIdx.x)) * %d;", layout.threads(),
              vector);
  code.openFormat("if (k < %d)", depth);
  RegionPrinter printer(context, shapeOf(region.inputs[input].value.getType()), /*flat=*/false,
                        vector);
  printer.moveTo(code, {"static_cast<long long>(m)", "k", ""});
  LogicalResult printed = body(printer);
  code.close();
  code.close();
  return printed;
}

/// The results of the prologue at the positions of an input that `norm`, or no norm, makes; each
/// once.
LogicalResult GemmInputs::storeYields(CodeWriter& code, RegionPrinter& printer, unsigned input,
                                      Operation* norm) {
  for (Value value : region.prologueYields) {
    if (stored.contains(value) || normOf(value) != norm ||
        shapeOf(value.getType()) != shapeOf(region.inputs[input].value.getType()))
      continue;
    stored.insert(value);
    if (failed(printer.element(value)))
      return failure();
    code.open("if (tile == 0)");
    if (failed(printer.store(value)))
      return failure();
    code.close();
  }
  return success();
}

/// Vectors that a weighted sum adds.
static int64_t addends(WeightedSumOp op) { return op.getInput().getType().getShape()[1]; }

void GemmInputs::findOperands(Source& source) const {
  if (!source.kept)
    return;
  llvm::SetVector<Value> found;
  found.insert(source.value);
  int64_t words = 0, pairs = region.rows * source.ownChunks * source.pairs;
  for (size_t next = 0; next < found.size(); ++next) {
    Value value = found[next];
    auto sum = value.getDefiningOp<WeightedSumOp>();
    bool isElements = llvm::isa<BlockArgument>(value) &&
                      shapeOf(value.getType()) == shapeOf(source.value.getType()) &&
                      llvm::isa<FloatType>(elementTypeOf(value.getType()));
    constexpr int64_t wordBytes = 4;
    auto wordsOf = [&](Value read) {
      return pairs * static_cast<int64_t>(llvm::divideCeil(
                         2 * elementBytes(elementTypeOf(read.getType())), wordBytes));
    };
    if (sum)
      words += (wordsOf(sum.getInput()) + region.rows) * addends(sum);
    else if (isElements)
      words += wordsOf(value);
    if (sum || isElements)
      source.operands.push_back(value);
    else if (value.getDefiningOp<ElementwiseOpInterface>())
      found.insert_range(value.getDefiningOp()->getOperands());
  }
  if (words > mostFloats)
    source.operands.clear();
}

/// Loads what a source is computed of before anything waits for it: of operand i of source s
/// `operand<s>_<i>` is an array of `Packed`, of a weighted sum one for each of its vectors, whose
/// weights are `weights<s>_<i>`.
void GemmInputs::loadOperands(CodeWriter& code, unsigned number) {
  const Source& source = sources[number];
  for (auto [index, value] : llvm::enumerate(source.operands)) {
    auto sum = value.getDefiningOp<WeightedSumOp>();
    Value read = sum ? Value(sum.getInput()) : value;
    code.format("Packed<2, %s> operand%d_%d[%d][%d][%d];",
                deviceType(elementTypeOf(read.getType())), number, index, region.rows,
                source.ownChunks * source.pairs, sum ? addends(sum) : 1);
    if (sum)
      code.format("%s weights%d_%d[%d][%d];", deviceType(elementTypeOf(sum.getWeights().getType())),
                  number, index, region.rows, addends(sum));
  }
  openRows(code);
  for (auto [index, value] : llvm::enumerate(source.operands)) {
    auto sum = value.getDefiningOp<WeightedSumOp>();
    if (!sum)
      continue;
    code.unroll();
    code.format("for (int vector = 0; vector < %d; ++vector)", addends(sum));
    code.format("  weights%d_%d[m][vector] = %s[m * %d + vector];", number, index,
                context.pointer(sum.getWeights()), addends(sum));
  }
  openChunks(code, source);
  [[maybe_unused]] LogicalResult printed = forPairs(code, source, [&](RegionPrinter& printer) {
    for (auto [index, value] : llvm::enumerate(source.operands)) {
      if (auto sum = value.getDefiningOp<WeightedSumOp>()) {
        code.unroll();
        code.format("for (int vector = 0; vector < %d; ++vector)", addends(sum));
        code.format(
            "  loadPacked(operand%d_%d[m][pair][vector], %s + (m * %d + vector) * %dLL + k);",
            number, index, context.pointer(sum.getInput()), addends(sum), source.depth);
      } else {
        code.format("loadPacked(operand%d_%d[m][pair][0], %s);", number, index,
                    printer.address(llvm::cast<BlockArgument>(value)));
      }
    }
    return success();
  });
  closeChunks(code);
  code.close();
}

/// Says where the operands of a source are at a pair.
void GemmInputs::defineOperands(CodeWriter& code, RegionPrinter& printer, unsigned number) {
  for (auto [index, value] : llvm::enumerate(sources[number].operands)) {
    std::string name = absl::StrFormat("wide%d", index);
    code.format("float %s[2];", name);
    if (auto sum = value.getDefiningOp<WeightedSumOp>()) {
      code.format("addWeighted(%s, operand%d_%d[m][pair], weights%d_%d[m]);", name, number, index,
                  number, index);
      code.unroll();
      code.line("for (int j = 0; j < 2; ++j)");
      code.format("  %s[j] = roundTo<%s>(%s[j]);", name, deviceType(sum.getType().getElementType()),
                  name);
    } else {
      code.format("widen(%s, operand%d_%d[m][pair][0]);", name, number, index);
    }
    printer.define(value, name);
  }
}

/// Step 1 for what norms take: computes it, and what of it the first tile stores, whose stores
/// would hold up loads after them.
LogicalResult GemmInputs::compute(CodeWriter& code, unsigned number) {
  const Source& source = sources[number];
  if (source.kept)
    code.format("float source%d[%d][%d][2];", number, region.rows, source.ownChunks * source.pairs);
  openRows(code);
  openChunks(code, source);
  LogicalResult printed = forPairs(code, source, [&](RegionPrinter& printer) -> LogicalResult {
    defineOperands(code, printer, number);
    FailureOr<std::string> element = printer.element(source.value);
    if (failed(element))
      return failure();
    if (source.kept) {
      code.unroll();
      code.line("for (int j = 0; j < 2; ++j)");
      code.format("  source%d[m][pair][j] = %s;", number, *element);
    }
    return storeYields(code, printer, source.input, nullptr);
  });
  closeChunks(code);
  code.close();
  return printed;
}

/// The argument that an input is, as it lies in memory; null where it is computed.
static BlockArgument argumentOf(const GemmRegion::Input& input) {
  return llvm::dyn_cast<BlockArgument>(input.value);
}

/// A declaration of vectors of an input, `extent` an array's: as they lie in memory, where nothing
/// is computed, for loads after would wait for what is widened.
std::string GemmInputs::stagedVectors(unsigned input, const std::string& extent) const {
  int64_t vector = layout.inputVector;
  if (argumentOf(region.inputs[input]))
    return absl::StrFormat("Packed<%d, %s> staged%d%s;", vector, type, input, extent);
  return absl::StrFormat("float staged%d%s[%d];", input, extent, vector);
}

/// Loads or computes a vector of an input into `name`.
LogicalResult GemmInputs::stageVector(CodeWriter& code, RegionPrinter& printer, unsigned input,
                                      const std::string& name) {
  if (BlockArgument argument = argumentOf(region.inputs[input])) {
    code.format("loadPacked(%s, %s);", name, printer.address(argument));
    return storeYields(code, printer, input, nullptr);
  }
  FailureOr<std::string> element = printer.element(region.inputs[input].value);
  if (failed(element) || failed(storeYields(code, printer, input, nullptr)))
    return failure();
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", layout.inputVector);
  code.format("  %s[j] = %s;", name, *element);
  return success();
}

void GemmInputs::storeStaged(CodeWriter& code, unsigned input, const std::string& name) {
  bool packed = static_cast<bool>(argumentOf(region.inputs[input]));
  code.format("%s(input%d + %s, %s);", packed ? "storePacked" : "storeVector", input,
              place(input, "m", "k"), name);
}

/// Step 1 for other inputs: all loads of a row are on their way before the first is stored.
LogicalResult GemmInputs::stage(CodeWriter& code, const std::string& behindLoads) {
  int64_t floats = 0;
  llvm::SmallVector<unsigned> staged;
  for (auto [index, input] : llvm::enumerate(region.inputs))
    if (!input.norm) {
      staged.push_back(index);
      floats += vectors(input.depth) * layout.inputVector;
    }
  bool apart = floats <= mostFloats;
  if ((staged.empty() || !apart) && !behindLoads.empty())
    code.line(behindLoads);
  if (staged.empty())
    return success();
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
  if (apart)
    for (unsigned index : staged)
      code.line(stagedVectors(index, absl::StrFormat("[%d]", vectors(region.inputs[index].depth))));
  for (unsigned index : staged) {
    LogicalResult printed = forVectors(code, index, [&](RegionPrinter& printer) -> LogicalResult {
      if (apart)
        return stageVector(code, printer, index, absl::StrFormat("staged%d[i]", index));
      std::string name = absl::StrFormat("staged%d", index);
      code.line(stagedVectors(index, ""));
      if (failed(stageVector(code, printer, index, name)))
        return failure();
      storeStaged(code, index, name);
      return success();
    });
    if (failed(printed))
      return failure();
  }
  if (apart && !behindLoads.empty()) {
    code.line("if (m == 0)");
    code.line("  " + behindLoads);
  }
  for (unsigned index : staged)
    if (apart && failed(forVectors(code, index, [&](RegionPrinter&) {
          storeStaged(code, index, absl::StrFormat("staged%d[i]", index));
          return success();
        })))
      return failure();
  code.close();
  return success();
}

LogicalResult GemmInputs::print(CodeWriter& code, const std::string& behindLoads) {
  for (auto [index, offset] : llvm::enumerate(layout.inputOffsets))
    code.format("%s* const input%d = reinterpret_cast<%s*>(memory + %d);", type, index, type,
                offset);
  auto isLoaded = [&](unsigned source) { return !sources[source].operands.empty(); };
  for (unsigned source = 0; source < sources.size(); ++source)
    if (isLoaded(source))
      loadOperands(code, source);
    else if (failed(compute(code, source)))
      return failure();
  if (failed(stage(code, behindLoads)))
    return failure();
  for (unsigned source = 0; source < sources.size(); ++source)
    if (isLoaded(source) && failed(compute(code, source)))
      return failure();
  for (const SharedSums& shared : sums)
    if (failed(applyNorms(code, shared)))
      return failure();
  code.line(meetingOf(layout));
  return success();
}

} // namespace tenon::codegen::cuda
