#include "kernels/cuda/NarrowGemm.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/RegionPrinter.h"
#include "codegen/cuda/emitters/GemmTiles.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "kernels/regions/GemmRegion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for 2 to 16 rows of x on tensor cores: a block takes up to 16 rows of W, of each
/// GEMM that the epilogue joins, and its warps pieces of the depth in turn; their sums are added
/// in ascending order.
/// Weights come through rings in shared memory, the first pieces before the kernel waits for the
/// one before.
///
/// Inputs lie in memory, or are norms of such: then every block normalises them into shared memory,
/// a warp a row, in the order of the norm's own kernel. Warps load their pieces for each tile, or
/// hold them in registers from one to the next.
///
/// Parameters: those of `NarrowGemmSchedule`. GEMMs have no order.
class NarrowGemmEmission {
public:
  NarrowGemmEmission(KernelContext& context, NarrowGemmKernel& kernel)
      : context(context), region(kernel.region), op(region.first()), warps(kernel.warps()),
        stages(kernel.schedule.stages), lines(kernel.schedule.tileLines),
        heldPieces(kernel.schedule.heldPieces), joined(region.joined()) {}

  LogicalResult emit();

private:
  /// Where an input's rows begin.
  struct Source {
    std::string pointer; ///< expression
    int64_t pitch = 0;   ///< elements from a row to the next
    std::optional<NormTerms> norm;
  };

  LogicalResult readInputs();
  LogicalResult addSource(const GemmRegion::Input& input);
  void placeSources();
  void printStream(CodeWriter& code);
  LogicalResult printNorms(CodeWriter& code);
  LogicalResult printNormed(CodeWriter& code, const Source& source);
  void printHeldInput(CodeWriter& code);
  void printSums(CodeWriter& code);
  LogicalResult printResults(CodeWriter& code);

  NarrowGemmMemory memory() const { return {region.rows}; }
  GemmTiles tiles() const { return {region, lines}; }
  int64_t firstTile(size_t group) const { return tiles().first(group); }
  std::string type() { return deviceType(elementTypeOf(op.getWeight().getType())); }

  KernelContext& context;
  GemmRegion& region;
  MatmulOp op; ///< the first GEMM
  llvm::SmallVector<Source, 2> sources;
  int64_t warps, stages, lines, heldPieces, joined;
  int64_t rowTiles = 0, ringBytes = 0;
};

} // namespace

/// The order of a norm must be one that a warp can follow with vectors of 8.
LogicalResult NarrowGemmEmission::addSource(const GemmRegion::Input& input) {
  std::optional<GemmSource> found = GemmSource::of(input);
  if (!found)
    return op.emitOpError(
        "expects inputs in memory, or norms of such, for the emitter narrow_gemm");
  Source& source =
      sources.emplace_back(Source{context.pointer(found->memory), input.depth, found->norm});
  if (!source.norm)
    return success();
  FailureOr<OrderAttr> order = source.norm->order();
  if (failed(order))
    return failure();
  int64_t lanes = order->getLanes();
  if (order->getTree() != CombineTree::Halving || lanes % 256 != 0 || !llvm::isPowerOf2_64(lanes) ||
      lanes > 2048 || order->getChunk() % lanes != 0)
    return source.norm->op->emitOpError("expects an order of chunks of whole lanes, a power of two "
                                        "from 256 to 2048, but got ")
           << *order;
  return success();
}

LogicalResult NarrowGemmEmission::readInputs() {
  if (!region.prologueYields.empty())
    return op.emitOpError("expects results of products alone for the emitter narrow_gemm");
  if (failed(tiles().check("narrow_gemm")))
    return failure();
  for (const GemmRegion::Input& input : region.inputs)
    if (failed(addSource(input)))
      return failure();
  rowTiles = llvm::divideCeil(region.rows, 8);
  placeSources();
  return success();
}

/// Shared memory: the rings, the parts of sums, the inputs that are made here.
void NarrowGemmEmission::placeSources() {
  ringBytes = warps * stages * NarrowGemmMemory::pieceBytes;
  int64_t offset = ringBytes + warps * memory().partBytes();
  for (Source& source : sources) {
    if (!source.norm)
      continue;
    source.pointer = absl::StrFormat("reinterpret_cast<%s*>(memory + %d)", type(), offset);
    source.pitch = NarrowGemmMemory::inputPitch(source.norm->length);
    offset += memory().inputBytes(source.norm->length);
  }
}

void NarrowGemmEmission::printStream(CodeWriter& code) {
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("const int workers = gridDim.x;");
  tiles().printSeek(code, context, absl::StrFormat("NarrowCursor<%s>", type()), /*depths=*/true);
  code.format("NarrowStream<%s, %d, %d, %d, decltype(seek)> stream(memory, "
              "static_cast<int>(tile), %d, workers, seek);",
              type(), warps, joined, stages, firstTile(region.groups.size()));
}

/// One row of a norm's result into shared memory, by a warp that knows mean and factor.
LogicalResult NarrowGemmEmission::printNormed(CodeWriter& code, const Source& source) {
  const NormTerms& norm = *source.norm;
  code.openFormat("for (int k = threadIdx.x %% 32 * 8; k < %d; k += 256)", norm.length);
  RegionPrinter printer(context, shapeOf(norm.input.getType()), /*flat=*/false, /*width=*/8);
  printer.moveTo(code, {"static_cast<long long>(m)", "k", ""});
  FailureOr<std::string> x = printer.element(norm.input);
  llvm::SmallVector<std::string> elements;
  for (Value operand : norm.operands) {
    FailureOr<std::string> element = printer.element(operand);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  if (failed(x))
    return failure();
  code.line("float y[8];");
  code.unroll();
  code.line("for (int j = 0; j < 8; ++j)");
  code.format("  y[j] = %s;", norm.resultOf(*x, elements));
  code.format("storeVector(%s + m * %d + k, y);", source.pointer, source.pitch);
  code.close();
  return success();
}

/// Norms of one value that differ in weight and bias alone share mean and factor.
LogicalResult NarrowGemmEmission::printNorms(CodeWriter& code) {
  code.openFormat("for (int m = threadIdx.x / 32; m < %d; m += %d)", region.rows, warps);
  llvm::SmallPtrSet<Operation*, 2> printed;
  for (const Source& first : sources) {
    if (!first.norm || printed.contains(first.norm->op))
      continue;
    const NormTerms& norm = *first.norm;
    code.open("");
    code.format("const %s* row = %s + m * %d;", type(), context.pointer(norm.input), norm.length);
    auto sum = [&](const char* name, const std::string& term) {
      code.format("const float %s = sumRow<%d, %d>(row, %d, [&](float x) { return %s; });", name,
                  norm.order()->getLanes(), norm.order()->getChunk(), norm.length, term);
    };
    if (norm.hasMean()) {
      sum("total", "x");
      code.line(norm.meanStatement());
    }
    sum("squares", norm.squareOf("x"));
    code.line(norm.factorStatement());
    for (const Source& source : sources)
      if (source.norm && norm.hasStatisticsOf(*source.norm)) {
        printed.insert(source.norm->op);
        if (failed(printNormed(code, source)))
          return failure();
      }
    code.close();
  }
  code.close();
  code.line("__syncthreads();");
  return success();
}

/// The pieces of the input of the tile `index`, unless the warp has them from the tile before.
void NarrowGemmEmission::printHeldInput(CodeWriter& code) {
  for (auto [number, group] : llvm::enumerate(region.groups)) {
    unsigned input = group.gemms.front().input;
    if (number > 0 && region.groups[number - 1].gemms.front().input == input)
      continue;
    size_t last = number;
    while (last + 1 < region.groups.size() && region.groups[last + 1].gemms.front().input == input)
      ++last;
    code.openFormat("if (index >= %d && index < %d && held != %d)", firstTile(number),
                    firstTile(last + 1), input);
    code.format("stream.loadPieces(x, %s, %d, %d, %d);", sources[input].pointer, region.rows,
                sources[input].pitch, region.inputs[input].depth);
    code.format("held = %d;", input);
    code.close();
  }
}

/// The warp's part of the sums of the tile `index`, of each joined GEMM.
void NarrowGemmEmission::printSums(CodeWriter& code) {
  code.format("float sums[%d][%d][4] = {};", joined, rowTiles);
  if (heldPieces != 0) {
    printHeldInput(code);
    for (int64_t index = 0; index < joined; ++index)
      code.format("stream.multiply(sums[%d], x, %d);", index, region.inputs.front().depth);
    return;
  }
  for (auto [number, group] : llvm::enumerate(region.groups)) {
    if (region.groups.size() > 1)
      code.open(tiles().branch(number));
    for (auto [index, gemm] : llvm::enumerate(group.gemms)) {
      const Source& source = sources[gemm.input];
      code.format("stream.multiply(sums[%d], %s, %d, %d, %d);", index, source.pointer, region.rows,
                  source.pitch, region.inputs[gemm.input].depth);
    }
    if (region.groups.size() > 1)
      code.close();
  }
}

/// Adds the warps' parts and stores; a thread has one element of the tile.
LogicalResult NarrowGemmEmission::printResults(CodeWriter& code) {
  code.line("const int m = threadIdx.x / 16, inTile = threadIdx.x % 16;");
  code.format("float results[%d][1];", joined);
  code.unroll();
  code.openFormat("for (int gemm = 0; gemm < %d; ++gemm)", joined);
  code.line("__syncthreads();");
  code.format("storeParts<%d>(parts, sums[gemm]);", rowTiles);
  code.line("__syncthreads();");
  code.format("if (m < %d)", region.rows);
  code.format("  results[gemm][0] = sumParts<%d, %d>(parts, m, inTile);", rowTiles, warps);
  code.close();
  code.format("if (m >= %d)", region.rows);
  code.line("  continue;");
  for (size_t number = 0; number < region.groups.size(); ++number) {
    code.open(tiles().branch(number));
    auto result = [&](size_t index) {
      Type element = region.groups[number].gemms[index].op.getType().getElementType();
      std::string name = absl::StrFormat("results[%d]", index);
      if (!element.isF32())
        code.format("%s[0] = roundTo<%s>(%s[0]);", name, deviceType(element), name);
      return name;
    };
    if (failed(tiles().printResults(code, context, number, "", result)))
      return failure();
    code.close();
  }
  return success();
}

LogicalResult NarrowGemmEmission::emit() {
  if (failed(readInputs()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"narrow.cuh"};
  printStream(structure.begin(PhaseKind::Load, tiles().weights(context),
                              {{MemorySpace::Shared, "stream"}}));
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  if (llvm::any_of(sources, [](const Source& source) { return source.norm.has_value(); })) {
    CodeWriter& norms =
        structure.begin(PhaseKind::Prologue, reads, {{MemorySpace::Shared, "memory"}});
    if (failed(printNorms(norms)))
      return failure();
  }
  reads.push_back({MemorySpace::Shared, "stream"});
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.format("float* parts = reinterpret_cast<float*>(memory + %d);", ringBytes);
  if (heldPieces != 0) {
    code.format("uint4 x[%d][2][%d];", heldPieces, rowTiles);
    code.line("int held = -1; // number of the input");
  }
  code.openFormat("for (int index = static_cast<int>(tile); index < %d; index += workers)",
                  firstTile(region.groups.size()));
  printSums(code);
  LogicalResult printed = printResults(code);
  code.close();
  return printed;
}

static LogicalResult emitNarrowGemm(KernelContext& context) {
  FailureOr<NarrowGemmKernel> kernel = context.read<NarrowGemmKernel>();
  return failed(kernel) ? failure() : NarrowGemmEmission(context, *kernel).emit();
}

extern constexpr Emitter narrowGemm = {NarrowGemmKernel::name, emitNarrowGemm};

} // namespace tenon::codegen::cuda::emitters
