#include "kernels/cuda/HeldGemm.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/RegionPrinter.h"
#include "codegen/cuda/emitters/GemmTiles.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for 2 to 16 rows of x on tensor cores, on sm_90 and later, where the warps of a block
/// hold all of x in registers, each a slice of 256 elements of every row, so that x comes from the
/// second-level cache once and not once a tile. A block takes some rows of W at a time, a tile, of
/// each GEMM that the epilogue joins; the warps' sums are added in ascending order. Slices
/// follow from the depth alone, so every kernel adds a GEMM alike. Weights come through rings
/// that bulk copies fill, the first pieces before the kernel waits for the one before
/// (`device/held.cuh`).
///
/// Inputs lie in memory; or they are norms of such, which warps make in their registers: chunks of
/// a norm's order are their slices.
///
/// Parameters: those of `HeldGemmSchedule`. GEMMs have no order.
class HeldGemmEmission {
public:
  HeldGemmEmission(KernelContext& context, HeldGemmKernel& kernel)
      : context(context), region(kernel.region), op(region.first()), shape(kernel.shape),
        tiles{region, kernel.schedule.tileLines}, stages(kernel.schedule.stages),
        sumsOffset(shape.warps() * HeldGemmShape::ringBytes(stages)) {}

  LogicalResult emit();

private:
  LogicalResult readInputs();
  LogicalResult addSource(const GemmRegion::Input& input);
  void printStream(CodeWriter& code);
  void preloadOperands();
  void printSource(CodeWriter& code, const GemmSource& source);
  void printOfRows(CodeWriter& code, const std::string& target, const std::string& name,
                   const std::string& sums, const std::string& statement);
  void printStatistics(CodeWriter& code, const NormTerms& norm);
  void printNormed(CodeWriter& code, const NormTerms& norm);
  void printChange(CodeWriter& code);
  void printSums(CodeWriter& code);
  LogicalResult printResults(CodeWriter& code);
  std::string printResult(CodeWriter& code, const GemmRegion::Group& group, size_t index);

  std::string type() { return deviceType(elementTypeOf(op.getWeight().getType())); }

  KernelContext& context;
  GemmRegion& region;
  MatmulOp op; ///< the first GEMM
  HeldGemmShape shape;
  GemmTiles tiles;
  llvm::SmallVector<GemmSource, 2> sources;
  llvm::SmallDenseSet<Value, 4> preloaded; ///< operands of norms
  int64_t stages, sumsOffset;
};

} // namespace

LogicalResult HeldGemmEmission::addSource(const GemmRegion::Input& input) {
  std::optional<GemmSource> source = GemmSource::of(input);
  if (!source || elementTypeOf(source->memory.getType()) != elementTypeOf(op.getWeight().getType()))
    return op.emitOpError(
        "expects inputs in memory of the weights' type, or norms of such, for the "
        "emitter held_gemm");
  sources.push_back(*source);
  if (!source->norm)
    return success();
  FailureOr<OrderAttr> order = source->norm->order();
  if (failed(order))
    return failure();
  constexpr int64_t lanes = HeldGemmShape::sliceElements;
  if (order->getTree() != CombineTree::Halving || order->getLanes() != lanes ||
      order->getChunk() != lanes)
    return source->norm->op->emitOpError("expects an order of chunks of ")
           << lanes << " lanes for the emitter held_gemm, but got " << *order;
  return success();
}

LogicalResult HeldGemmEmission::readInputs() {
  if (!context.architecture.isHopperOrLater())
    return context.kernel.emitOpError("expects sm_90 or later for the emitter held_gemm");
  if (!region.prologueYields.empty())
    return op.emitOpError("expects results of products alone for the emitter held_gemm");
  if (failed(tiles.check("held_gemm")))
    return failure();
  for (const GemmRegion::Input& input : region.inputs)
    if (failed(addSource(input)))
      return failure();
  return success();
}

void HeldGemmEmission::printStream(CodeWriter& code) {
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("const int workers = gridDim.x;");
  tiles.printSeek(code, context, absl::StrFormat("HeldCursor<%s, %d>", type(), shape.depth),
                  /*depths=*/false);
  code.format(
      "HeldStream<%s, %d, %d, %d, decltype(seek)> stream(memory, static_cast<int>(tile), %d, "
      "workers, seek);",
      type(), shape.depth, shape.joined, stages, tiles.first(region.groups.size()));
}

/// Declares `target` of rows g and g + 8, each by `statement`, which defines the name less its
/// plural s from `name`, an element of `sums`.
void HeldGemmEmission::printOfRows(CodeWriter& code, const std::string& target,
                                   const std::string& name, const std::string& sums,
                                   const std::string& statement) {
  code.format("float %s[%d];", target, shape.rowTiles());
  code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)", shape.rowTiles());
  code.format("const float %s = %s[i];", name, sums);
  code.line(statement);
  code.format("%s[i] = %s;", target, target.substr(0, target.size() - 1));
  code.close();
}

/// `means`, where the norm has one, and `factors` of rows g and g + 8, of what the warps hold.
void HeldGemmEmission::printStatistics(CodeWriter& code, const NormTerms& norm) {
  auto sum = [&](const char* name, int64_t buffer, const std::string& term) {
    code.format("float %s[%d];", name, shape.rowTiles());
    code.format("sumHeldRows<%s, %d>(%s, held, %d, statistics + %d,", type(), shape.warps(), name,
                norm.length, buffer * shape.chunkFloats());
    code.format("    [&](float x, [[maybe_unused]] int i) { %sreturn %s; });",
                buffer == 0 ? "" : "const float mean = means[i]; ", term);
  };
  if (norm.hasMean()) {
    sum("totals", 0, "x");
    printOfRows(code, "means", "total", "totals", norm.meanStatement());
  }
  sum("sums", norm.hasMean() ? 1 : 0, norm.squareOf("x"));
  printOfRows(code, "factors", "squares", "sums", norm.factorStatement());
}

/// Weights and biases of norms in the order of their rows: thread l of a warp has elements 8 l ...
/// of the warp's slice, which other threads get from it.
void HeldGemmEmission::preloadOperands() {
  for (const GemmSource& source : sources) {
    if (!source.norm)
      continue;
    for (Value operand : source.norm->operands) {
      auto argument = llvm::cast<BlockArgument>(operand);
      std::string name = "norm_" + context.pointer(argument),
                  type = deviceType(elementTypeOf(operand.getType()));
      if (!preloaded.insert(operand).second)
        continue;
      CodeWriter& code = context.structure.begin(PhaseKind::Load, {context.access(argument)},
                                                 {{MemorySpace::Registers, name}});
      code.format("Packed<8, %s> %s = {};", type, name);
      code.format("if (static_cast<int>(threadIdx.x) * 8 < %d)", shape.depth);
      code.format("  %s = loadPacked<8>(%s + threadIdx.x * 8);", name, context.pointer(argument));
    }
  }
}

/// The norm of `held`, in its place.
void HeldGemmEmission::printNormed(CodeWriter& code, const NormTerms& norm) {
  code.unroll();
  code.open("for (int j = 0; j < 8; ++j)");
  llvm::SmallVector<std::string> elements;
  for (auto [index, operand] : llvm::enumerate(norm.operands)) {
    std::string name = absl::StrFormat("operand%d", index);
    code.format("float %s[8];", name);
    code.format("widen(%s, shufflePacked(norm_%s, 4 * j + threadIdx.x %% 4));", name,
                context.pointer(llvm::cast<BlockArgument>(operand)));
    elements.push_back(name + "[e]");
  }
  code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)", shape.rowTiles());
  code.format("Packed<8, %s> packed;", type());
  code.line("packed.words[0] = held[j][i];");
  code.line("float x[8], y[8];");
  code.line("widen(x, packed);");
  if (norm.hasMean())
    code.line("const float mean = means[i];");
  code.line("const float factor = factors[i];");
  code.unroll();
  code.line("for (int e = 0; e < 8; ++e)");
  code.format("  y[e] = %s;", norm.resultOf("x[e]", elements));
  code.format("held[j][i] = pack<%s>(y).words[0];", type());
  code.close();
  code.close();
}

/// The warp's slice of an input into `held`. Elements after the end of a row are zeros, or what a
/// norm makes of them; weights have none there.
void HeldGemmEmission::printSource(CodeWriter& code, const GemmSource& source) {
  code.format("loadHeld<%d>(held, %s, %d);", shape.depth, context.pointer(source.memory),
              region.rows);
  if (!source.norm)
    return;
  code.format("float* statistics = reinterpret_cast<float*>(memory + %d);",
              sumsOffset + shape.sumBytes());
  printStatistics(code, *source.norm);
  printNormed(code, *source.norm);
}

/// Loads what the tile's GEMMs take when `held` has another input: tiles come in the order of
/// their groups.
void HeldGemmEmission::printChange(CodeWriter& code) {
  if (sources.size() == 1)
    return;
  code.line("int needed;");
  for (auto [number, group] : llvm::enumerate(region.groups)) {
    if (std::string branch = tiles.branch(number); !branch.empty())
      code.line(branch);
    code.format("  needed = %d;", group.gemms.front().input);
  }
  code.open("if (needed != present)");
  code.line("present = needed;");
  for (auto [number, source] : llvm::enumerate(sources)) {
    code.openFormat("if (needed == %d)", number);
    printSource(code, source);
    code.close();
  }
  code.close();
}

/// The warp's part of the sums of the tile `index`, of each joined GEMM, into shared memory.
void HeldGemmEmission::printSums(CodeWriter& code) {
  code.format("float sums[%d][%d][4] = {};", shape.joined, shape.units());
  bool branches = region.groups.size() > 1;
  if (branches)
    code.line("int count;");
  for (auto [number, group] : llvm::enumerate(region.groups)) {
    if (branches)
      code.line(tiles.branch(number));
    code.format("%scount = min(%d, %d - (index - %d) * %d);", branches ? "  " : "const int ",
                shape.lines, group.columns, tiles.first(number), shape.lines);
  }
  code.unroll();
  code.format("for (int gemm = 0; gemm < %d; ++gemm)", shape.joined);
  code.line("  stream.multiply(sums[gemm], held, count);");
  code.line("__syncthreads();");
  code.unroll();
  code.format("for (int gemm = 0; gemm < %d; ++gemm)", shape.joined);
  code.format("  storeHeldSums<%d>(parts + (threadIdx.x / 32 * %d + gemm) * %d, sums[gemm]);",
              shape.rowTiles(), shape.joined, shape.sumFloats());
  code.line("__syncthreads();");
}

/// The GEMM `index` at `place`, the sum of all warps.
std::string HeldGemmEmission::printResult(CodeWriter& code, const GemmRegion::Group& group,
                                          size_t index) {
  std::string sum = absl::StrFormat("addHeldSums<%d>(parts + place + %d, %d)", shape.warps(),
                                    index * shape.sumFloats(), shape.joined * shape.sumFloats());
  MatmulOp gemm = group.gemms[index].op;
  Type element = gemm.getType().getElementType();
  if (!element.isF32())
    sum = absl::StrFormat("roundTo<%s>(%s)", deviceType(element), sum);
  std::string name = absl::StrFormat("result%d", index);
  code.format("const float %s[1] = {%s};", name, sum);
  return name;
}

/// Adds the warps' sums and stores; a thread has one element of the tile at a time.
LogicalResult HeldGemmEmission::printResults(CodeWriter& code) {
  int64_t unit = 64 * shape.rowTiles();
  code.openFormat("for (int place = threadIdx.x; place < %d; place += %d)", shape.sumFloats(),
                  context.structure.threads);
  code.format("const int m = place / 8 %% %d, inTile = place / %d * 8 + place %% 8;",
              8 * shape.rowTiles(), unit);
  std::string exists =
      region.rows < 8 * shape.rowTiles() ? absl::StrFormat(" && m < %d", region.rows) : "";
  bool branches = region.groups.size() > 1;
  for (size_t number = 0; number < region.groups.size(); ++number) {
    if (branches)
      code.open(tiles.branch(number));
    auto result = [&](size_t index) { return printResult(code, region.groups[number], index); };
    if (failed(tiles.printResults(code, context, number, exists, result)))
      return failure();
    if (branches)
      code.close();
  }
  code.close();
  return success();
}

LogicalResult HeldGemmEmission::emit() {
  if (failed(readInputs()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"held.cuh"};
  printStream(
      structure.begin(PhaseKind::Load, tiles.weights(context), {{MemorySpace::Shared, "stream"}}));
  preloadOperands();
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  CodeWriter& prologue =
      structure.begin(PhaseKind::Prologue, reads, {{MemorySpace::Registers, "held"}});
  prologue.format("uint4 held[8][%d];", shape.rowTiles());
  if (sources.size() > 1)
    prologue.line("int present = -1;");
  else
    printSource(prologue, sources.front());
  reads.push_back({MemorySpace::Shared, "stream"});
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.format("float* parts = reinterpret_cast<float*>(memory + %d);", sumsOffset);
  code.openFormat("for (int index = static_cast<int>(tile); index < %d; index += workers)",
                  tiles.first(region.groups.size()));
  printChange(code);
  printSums(code);
  LogicalResult printed = printResults(code);
  code.close();
  return printed;
}

static LogicalResult emitHeldGemm(KernelContext& context) {
  FailureOr<HeldGemmKernel> kernel = context.read<HeldGemmKernel>();
  return failed(kernel) ? failure() : HeldGemmEmission(context, *kernel).emit();
}

extern constexpr Emitter heldGemm = {HeldGemmKernel::name, emitHeldGemm};

} // namespace tenon::codegen::cuda::emitters
