#include "kernels/cuda/HeldBlockGemv.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/GemmInputs.h"
#include "codegen/cuda/emitters/GemmResults.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for one row of x and quantised weights on tensor cores, on sm_90 and later, where the
/// warps of a block hold x, a slice of 256 elements or a few of them each. A block
/// owns consecutive lines, which a warp of its own brings, 16 at a time; the columns of an
/// instruction are groups of a slice (`device/held_row.cuh`).
///
/// Warps load an x that lies in memory themselves; another one, behind a norm or elementwise
/// operations, is made in shared memory by every block (GemmInputs); so is one that is taken in
/// another order (`device/reordered_input.cuh`). They add up
/// lines and meet; the epilogue of a block's lines follows (GemmResults).
///
/// Parameters: those of `HeldBlockGemvSchedule`. GEMMs have no order.
class HeldBlockGemvEmission {
public:
  HeldBlockGemvEmission(KernelContext& context, HeldBlockGemvKernel& kernel)
      : context(context), kernel(kernel), region(kernel.region) {}

  LogicalResult emit();

private:
  LogicalResult check();
  void declareConfig();
  void printAddresses(CodeWriter& code);
  void printStream(CodeWriter& code);
  void loadOrder();

  KernelContext& context;
  HeldBlockGemvKernel& kernel;
  GemmRegion& region;
};

} // namespace

LogicalResult HeldBlockGemvEmission::check() {
  if (!context.architecture.isHopperOrLater())
    return context.kernel.emitOpError("expects sm_90 or later for the emitter held_block_gemv");
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm& gemm : group.gemms)
      if (gemm.op.getOrderAttr())
        return gemm.op.emitOpError("expects no order for the emitter held_block_gemv, but got ")
               << gemm.op.getOrderAttr();
  return success();
}

void HeldBlockGemvEmission::declareConfig() {
  const HeldRowShape& shape = kernel.shape;
  CodeWriter& code = context.structure.declarations;
  code.open("struct Config");
  code.format("using Encoding = %s;",
              deviceType(elementTypeOf(region.first().getWeight().getType())));
  code.format("using Input = %s;",
              deviceType(elementTypeOf(region.inputs.front().value.getType())));
  code.format("static constexpr int depth = %d, joined = %d;", shape.depth, shape.joined);
  code.format("static constexpr int segments = %d, parts = %d, groups = %d;", shape.segments(),
              shape.parts(), shape.groups());
  code.format("static constexpr bool joins = %s;", region.groups.size() > 1 ? "true" : "false");
  code.format("static constexpr int stages = %d, batches = %d, onWay = %d;", kernel.schedule.stages,
              kernel.schedule.batches, kernel.schedule.onWay);
  code.close(";");
}

/// The lambda `at`, where a line of a GEMM begins.
void HeldBlockGemvEmission::printAddresses(CodeWriter& code) {
  code.open("auto at = [&](int line, [[maybe_unused]] int gemm) -> const unsigned char*");
  for (GemmRegion::Group& group : region.groups)
    for (size_t index = 0; index < group.gemms.size(); ++index) {
      llvm::SmallVector<std::string> conditions;
      if (&group != &region.groups.back())
        conditions.push_back(absl::StrFormat("line < %d", group.firstLine + group.columns));
      if (index + 1 < group.gemms.size())
        conditions.push_back(absl::StrFormat("gemm == %d", index));
      if (!conditions.empty())
        code.format("if (%s)", llvm::join(conditions, " && "));
      code.format("%sreturn reinterpret_cast<const unsigned char*>(%s) + (line - %d) * %dLL;",
                  conditions.empty() ? "" : "  ",
                  context.pointer(group.gemms[index].op.getWeight()), group.firstLine,
                  kernel.shape.encoding.bytesFor(kernel.shape.depth));
    }
  code.close(";");
}

void HeldBlockGemvEmission::printStream(CodeWriter& code) {
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("[[maybe_unused]] const int lane = threadIdx.x % 32, warp = warpOfBlock();");
  code.format("const int firstLine = static_cast<int>(tile) * %d / %d;", region.lines,
              kernel.block.tiles);
  code.format("const int lastLine = (static_cast<int>(tile) + 1) * %d / %d;", region.lines,
              kernel.block.tiles);
  printAddresses(code);
  code.line("using Stream = HeldRowStream<Config, decltype(at)>;");
  code.format("static_assert(sizeof(Stream::Shared) <= %d);", kernel.block.inputOffsets.front());
  code.line("Stream stream(memory, firstLine, lastLine, at);");
  code.line("if (stream.brings())");
  code.line("  return stream.bringAll();");
}

/// Asks for the order of x, which is constant in programs that have one.
void HeldBlockGemvEmission::loadOrder() {
  BlockArgument order = region.inputs.front().order;
  CodeWriter& code = context.structure.begin(PhaseKind::Load, {context.access(order)},
                                             {{MemorySpace::Registers, "reordered"}});
  code.line("ReorderedInput<Stream> reordered;");
  code.format("reordered.load(stream, %s);", context.pointer(order));
}

LogicalResult HeldBlockGemvEmission::emit() {
  GemmInputs inputs(context, region, kernel.block);
  GemmResults results(context, region, kernel.block);
  if (failed(check()) || failed(inputs.check()))
    return failure();
  PhaseStructure& structure = context.structure;
  bool isReordered = region.isReordered();
  structure.headers = {"blocks.cuh", "reduce.cuh",
                       isReordered ? "reordered_input.cuh" : "held_row.cuh"};
  declareConfig();
  std::vector<Access> weights;
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm gemm : group.gemms)
      weights.push_back(context.access(gemm.op.getWeight()));
  printStream(structure.begin(PhaseKind::Load, weights, {{MemorySpace::Shared, "ring"}}));
  if (!loadsInput(region))
    inputs.preload();
  if (isReordered)
    loadOrder();
  if (failed(results.preloadConstants()))
    return failure();
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  // What the prologue makes for others is stored at once: what follows is a phase of stores too.
  bool stores = !region.prologueYields.empty();
  CodeWriter& prologue =
      stores ? structure.begin(PhaseKind::Store, reads, context.results())
             : structure.begin(PhaseKind::Prologue, reads, {{MemorySpace::Shared, "input"}});
  if (failed(results.preloadOthers(prologue)))
    return failure();
  if (loadsInput(region)) {
    prologue.format("stream.fetch(%s);", context.pointer(region.inputs.front().value));
  } else {
    if (failed(inputs.print(prologue, "")))
      return failure();
    prologue.line(isReordered ? "reordered.fetch(stream, input0);" : "stream.fetch(input0);");
  }
  prologue.line("stream.prepare();");
  CodeWriter& code = structure.begin(
      stores ? PhaseKind::Store : PhaseKind::MainLoop,
      {{MemorySpace::Shared, "ring"}, {MemorySpace::Shared, "input"}, weights.front()},
      {{MemorySpace::Shared, "sums"}});
  code.format("float* const sums = reinterpret_cast<float*>(memory + %d);",
              kernel.block.resultsOffset);
  code.line("stream.multiply(sums);");
  code.line(meetingOf(kernel.block));
  reads.push_back({MemorySpace::Shared, "sums"});
  return results.print(structure.begin(PhaseKind::Store, reads, context.results()));
}

static LogicalResult emitHeldBlockGemv(KernelContext& context) {
  FailureOr<HeldBlockGemvKernel> kernel = context.read<HeldBlockGemvKernel>();
  return failed(kernel) ? failure() : HeldBlockGemvEmission(context, *kernel).emit();
}

extern constexpr Emitter heldBlockGemv = {HeldBlockGemvKernel::name, emitHeldBlockGemv};

} // namespace tenon::codegen::cuda::emitters
