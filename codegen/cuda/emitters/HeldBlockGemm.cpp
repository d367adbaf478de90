#include "kernels/cuda/HeldBlockGemm.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/GemmTiles.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for 2 to 16 rows of x and weights in blocks of 256 elements (Q4_K, Q5_K) on tensor
/// cores, on sm_90 and later, where the warps of a block hold all of x in registers, 256 elements
/// of every row a warp; of long rows the warps of a cluster of blocks. A quant times its group's
/// integer is a factor, exactly; a line's scale and minimums stand behind the sums of 256 elements.
/// A block takes 16 lines of W at a time, of each GEMM that the epilogue joins, and brings whole
/// lines by bulk copies. Sums follow from the depth alone, so every kernel adds a GEMM alike
/// (`device/held_blocks.cuh`).
///
/// Parameters: those of `HeldBlockGemmSchedule`. GEMMs have no order.
class HeldBlockGemmEmission {
public:
  HeldBlockGemmEmission(KernelContext& context, HeldBlockGemmKernel& kernel)
      : context(context), kernel(kernel), region(kernel.region), shape(kernel.shape),
        tiles{region, HeldBlockShape::lines} {}

  LogicalResult emit();

private:
  LogicalResult check();
  void declareConfig();
  void printStream(CodeWriter& code);
  LogicalResult printStore(CodeWriter& code);

  KernelContext& context;
  HeldBlockGemmKernel& kernel;
  GemmRegion& region;
  HeldBlockShape shape;
  GemmTiles tiles;
};

} // namespace

LogicalResult HeldBlockGemmEmission::check() {
  if (!context.architecture.isHopperOrLater())
    return context.kernel.emitOpError("expects sm_90 or later for the emitter held_block_gemm");
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm& gemm : group.gemms)
      if (gemm.op.getOrderAttr())
        return gemm.op.emitOpError("expects no order for the emitter held_block_gemm, but got ")
               << gemm.op.getOrderAttr();
  return success();
}

void HeldBlockGemmEmission::declareConfig() {
  CodeWriter& code = context.structure.declarations;
  code.open("struct Config");
  code.format("using Encoding = %s;",
              deviceType(elementTypeOf(region.first().getWeight().getType())));
  code.format("static constexpr int depth = %d, slices = %d, cluster = %d;", shape.depth,
              shape.warps(), shape.cluster());
  code.format("static constexpr int rowTiles = %d, joined = %d, stages = %d, early = %d;",
              shape.rowTiles(), shape.joined, kernel.schedule.stages, kernel.schedule.early);
  code.format("static constexpr int received = %d;", shape.received(kernel.tilesOfWorker()));
  code.close(";");
}

void HeldBlockGemmEmission::printStream(CodeWriter& code) {
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  tiles.printSeek(code, context,
                  absl::StrFormat("HeldBlockCursor<Config::Encoding, %d>", shape.depth),
                  /*depths=*/false);
  code.format("HeldBlockStream<Config, decltype(seek)> stream(memory, static_cast<int>(tile) / %d, "
              "%d, static_cast<int>(gridDim.x) / %d, seek);",
              shape.cluster(), kernel.tiles(), shape.cluster());
  code.format("static_assert(sizeof(decltype(stream)::Shared) <= %d);",
              kernel.resources().dynamicSmemBytes);
}

/// The lambda `store`, which stores what a tile makes of the joined GEMMs' sums of row m of x and
/// a line.
LogicalResult HeldBlockGemmEmission::printStore(CodeWriter& code) {
  code.openFormat("auto store = [&](int index, int m, int inTile, const float (&sums)[%d])",
                  shape.joined);
  bool branches = region.groups.size() > 1;
  for (size_t number = 0; number < region.groups.size(); ++number) {
    if (branches)
      code.open(tiles.branch(number));
    auto result = [&](size_t index) {
      Type element = region.groups[number].gemms[index].op.getType().getElementType();
      std::string sum = absl::StrFormat("sums[%d]", index);
      if (!element.isF32())
        sum = absl::StrFormat("roundTo<%s>(%s)", deviceType(element), sum);
      std::string name = absl::StrFormat("result%d", index);
      code.format("const float %s[1] = {%s};", name, sum);
      return name;
    };
    std::string exists =
        region.rows < 8 * shape.rowTiles() ? absl::StrFormat(" && m < %d", region.rows) : "";
    if (failed(tiles.printResults(code, context, number, exists, result)))
      return failure();
    if (branches)
      code.close();
  }
  code.close(";");
  return success();
}

LogicalResult HeldBlockGemmEmission::emit() {
  if (failed(check()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"held_blocks.cuh"};
  structure.clusterBlocks = shape.cluster();
  declareConfig();
  printStream(
      structure.begin(PhaseKind::Load, tiles.weights(context), {{MemorySpace::Shared, "stream"}}));
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  CodeWriter& prologue =
      structure.begin(PhaseKind::Prologue, reads, {{MemorySpace::Registers, "held"}});
  prologue.format("HeldBlockOfX<%d> held;", shape.rowTiles());
  bool isWhole = shape.pieces() == shape.warps() * shape.cluster();
  prologue.format("held.load(%s, %s, %d, stream.begin(), [&] { stream.fillRest(); });",
                  context.pointer(region.inputs.front().value),
                  isWhole
                      ? absl::StrCat(region.rows)
                      : absl::StrFormat("stream.begin() < %d ? %d : 0", shape.depth, region.rows),
                  shape.depth);
  reads.push_back({MemorySpace::Shared, "stream"});
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  if (failed(printStore(code)))
    return failure();
  code.line("stream.multiply(held, store);");
  return success();
}

static LogicalResult emitHeldBlockGemm(KernelContext& context) {
  FailureOr<HeldBlockGemmKernel> kernel = context.read<HeldBlockGemmKernel>();
  return failed(kernel) ? failure() : HeldBlockGemmEmission(context, *kernel).emit();
}

extern constexpr Emitter heldBlockGemm = {HeldBlockGemmKernel::name, emitHeldBlockGemm};

} // namespace tenon::codegen::cuda::emitters
