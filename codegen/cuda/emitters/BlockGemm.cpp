#include "kernels/cuda/BlockGemm.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/GemmTiles.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for several rows of x and block-quantised weights on tensor cores: a block takes some
/// lines of W, of each GEMM that the epilogue joins, and up to 16 rows of x; its warps share out
/// the lines, and those of the same lines take pieces of the depth in turn, whose sums are added in
/// ascending order. Each quant is decoded once
/// for all rows of the tile (`device/block_gemm.cuh`). Tiles that differ in their rows alone follow
/// one another, so that memory is read for one of them.
///
/// Parameters: those of `BlockGemmSchedule`. GEMMs have no order.
class BlockGemmEmission {
public:
  BlockGemmEmission(KernelContext& context, BlockGemmKernel& kernel)
      : context(context), kernel(kernel), region(kernel.region), memory(kernel.memory()),
        tiles{region, kernel.schedule.tileLines}, parts(kernel.rowParts()) {}

  LogicalResult emit();

private:
  void declareConfig();
  void printStream(CodeWriter& code);
  void printSums(CodeWriter& code);
  LogicalResult printResults(CodeWriter& code);

  int64_t places() const { return tiles.first(region.groups.size()) * parts; }
  int64_t streamBytes() const {
    return kernel.schedule.stages * memory.stageBytes() + memory.factorBytes();
  }

  KernelContext& context;
  BlockGemmKernel& kernel;
  GemmRegion& region;
  BlockGemmMemory memory;
  GemmTiles tiles;
  int64_t parts; ///< of the rows
};

} // namespace

void BlockGemmEmission::declareConfig() {
  constexpr int64_t piece = BlockGemmMemory::pieceElements, chunkBytes = 16;
  bool isWhole =
      kernel.encoding().blockSize > piece || kernel.encoding().bytesFor(piece) % chunkBytes == 0;
  for (int64_t depth : region.depths())
    isWhole &= depth % piece == 0;
  CodeWriter& code = context.structure.declarations;
  code.open("struct Config");
  code.format("using Element = %s;",
              deviceType(elementTypeOf(region.first().getInput().getType())));
  code.format("using Encoding = %s;",
              deviceType(elementTypeOf(region.first().getWeight().getType())));
  code.format("static constexpr int warps = %d, lineWarps = %d, units = %d;", kernel.warps(),
              kernel.schedule.lineWarps, memory.units());
  code.format("static constexpr int parts = %d, joined = %d, stages = %d, sums = %d;", parts,
              region.joined(), kernel.schedule.stages, memory.sums());
  code.format("static constexpr bool whole = %s;", isWhole ? "true" : "false");
  code.close(";");
}

void BlockGemmEmission::printStream(CodeWriter& code) {
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("const int workers = gridDim.x;");
  tiles.printSeek(code, context, "BlockCursor<Config>", /*depths=*/true);
  code.format("BlockStream<Config, decltype(seek)> stream(memory, static_cast<int>(tile), %d, "
              "workers, seek);",
              places());
}

/// The warp's part of the sums of the tile `index`, of each joined GEMM.
void BlockGemmEmission::printSums(CodeWriter& code) {
  code.format("float sums[%d][%d][%d][4] = {};", region.joined(), memory.units(),
              memory.rowTiles());
  for (auto [number, group] : llvm::enumerate(region.groups)) {
    if (region.groups.size() > 1)
      code.open(tiles.branch(number));
    for (auto [index, gemm] : llvm::enumerate(group.gemms)) {
      int64_t depth = region.inputs[gemm.input].depth;
      code.format("stream.multiply(sums[%d], %s + firstRow * %d, rows, %d, %d);", index,
                  context.pointer(region.inputs[gemm.input].value), depth, depth, depth);
    }
    if (region.groups.size() > 1)
      code.close();
  }
}

/// Adds the warps' parts and stores; a thread has one element of each run of 16 lines.
LogicalResult BlockGemmEmission::printResults(CodeWriter& code) {
  int64_t lineWarps = kernel.schedule.lineWarps;
  code.line("const int ofTile = threadIdx.x / 16;");
  code.unroll();
  code.openFormat("for (int unit = 0; unit < %d; ++unit)", memory.units());
  code.format("float added[%d][%d];", region.joined(), lineWarps);
  code.unroll();
  code.openFormat("for (int gemm = 0; gemm < %d; ++gemm)", region.joined());
  code.line("__syncthreads();");
  code.format("storeParts<%d>(parts, sums[gemm][unit]);", memory.rowTiles());
  code.line("__syncthreads();");
  code.unroll();
  code.format("for (int lineWarp = 0; lineWarp < %d; ++lineWarp)", lineWarps);
  code.line("  if (ofTile < rows)");
  code.format("    added[gemm][lineWarp] = sumSlices<%d, %d, %d>(parts, lineWarp, ofTile, "
              "threadIdx.x %% 16);",
              memory.rowTiles(), kernel.warps() / lineWarps, lineWarps);
  code.close();
  code.line("if (ofTile >= rows)");
  code.line("  continue;");
  code.line("const int m = firstRow + ofTile;");
  code.unroll();
  code.openFormat("for (int lineWarp = 0; lineWarp < %d; ++lineWarp)", lineWarps);
  code.format("const int inTile = 16 * (lineWarp * %d + unit) + threadIdx.x %% 16;",
              memory.units());
  for (size_t number = 0; number < region.groups.size(); ++number) {
    code.open(tiles.branch(number));
    auto result = [&](size_t index) {
      Type element = region.groups[number].gemms[index].op.getType().getElementType();
      std::string sum = absl::StrFormat("added[%d][lineWarp]", index);
      if (!element.isF32())
        sum = absl::StrFormat("roundTo<%s>(%s)", deviceType(element), sum);
      std::string name = absl::StrFormat("result%d", index);
      code.format("const float %s[1] = {%s};", name, sum);
      return name;
    };
    if (failed(tiles.printResults(code, context, number, "", result)))
      return failure();
    code.close();
  }
  code.close();
  code.close();
  return success();
}

LogicalResult BlockGemmEmission::emit() {
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm& gemm : group.gemms)
      if (gemm.op.getOrderAttr())
        return gemm.op.emitOpError("expects no order for the emitter block_gemm, but got ")
               << gemm.op.getOrderAttr();
  PhaseStructure& structure = context.structure;
  structure.headers = {"block_gemm.cuh"};
  declareConfig();
  printStream(
      structure.begin(PhaseKind::Load, tiles.weights(context), {{MemorySpace::Shared, "stream"}}));
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  reads.push_back({MemorySpace::Shared, "stream"});
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.format("float* parts = reinterpret_cast<float*>(memory + %d);",
              kernel.warps() * streamBytes());
  code.openFormat("for (int at = static_cast<int>(tile); at < %d; at += workers)", places());
  code.format("const int index = at / %d, firstRow = at %% %d * %d;", parts, parts,
              kernel.schedule.tileRows);
  code.format("const int rows = min(%d, %d - firstRow);", kernel.schedule.tileRows, region.rows);
  printSums(code);
  LogicalResult printed = printResults(code);
  code.close();
  return printed;
}

static LogicalResult emitBlockGemm(KernelContext& context) {
  FailureOr<BlockGemmKernel> kernel = context.read<BlockGemmKernel>();
  return failed(kernel) ? failure() : BlockGemmEmission(context, *kernel).emit();
}

extern constexpr Emitter blockGemm = {BlockGemmKernel::name, emitBlockGemm};

} // namespace tenon::codegen::cuda::emitters
