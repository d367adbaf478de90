#include "kernels/cuda/ExpertSlices.h"
#include "codegen/cuda/emitters/ChoicePrinter.h"
#include "codegen/cuda/emitters/ExpertResults.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// GEMMs with the experts that rows choose, whose weights in blocks of Q4_K tensor cores
/// multiply with inputs of 16 bits, on sm_90 and later: the warps of a block share out the depth, a
/// slice of up to 8 groups of 32 elements each, hold x of it in registers, and take 16 lines of
/// weights at a time, which groups of warps bring through rings of bulk copies as soon as they know
/// the expert. Slices add up in ascending order, so every kernel adds a GEMM alike
/// (`device/expert_slices.cuh`).
///
/// A tile is some columns of one pair of a row and an expert or, beside a weighted sum, of all
/// pairs of a row. 16 lines are 8 of gate and 8 of up, 16 of one GEMM alone, or beside a sum 8 of
/// two experts, x of both of which a warp holds.
///
/// Parameters: those of `ExpertSlicesSchedule`. GEMMs have no order.
class ExpertSlicesEmission {
public:
  ExpertSlicesEmission(KernelContext& context, ExpertSlicesKernel& kernel)
      : context(context), kernel(kernel), region(kernel.region), shape(kernel.shape),
        first(region.gemms.front()) {}

  LogicalResult emit();

private:
  LogicalResult check();
  void declareConfig();
  void printPlace(CodeWriter& code);
  void printExperts(CodeWriter& code);
  void printExpert(CodeWriter& code);
  void printOctets(CodeWriter& code);
  void printInput(CodeWriter& code);
  void printSums(CodeWriter& code);
  bool isJoined() const { return shape.gemms > 1; }
  /// Where a choice takes long and registers hold x beside it: BF16 spills.
  bool asksForInputFirst() {
    return region.choice && elementTypeOf(first.getInput().getType()).isF16();
  }

  KernelContext& context;
  ExpertSlicesKernel& kernel;
  ExpertRegion& region;
  ExpertSliceShape shape;
  ExpertMatmulOp first;
};

} // namespace

LogicalResult ExpertSlicesEmission::check() {
  if (!context.architecture.isHopperOrLater())
    return context.kernel.emitOpError("expects sm_90 or later for the emitter expert_slices");
  for (ExpertMatmulOp op : region.gemms)
    if (op.getOrderAttr())
      return op.emitOpError("expects no order for the emitter expert_slices, but got ")
             << op.getOrderAttr();
  if (region.choice && failed(ChoicePrinter(context, *region.choice).check()))
    return failure();
  return context.expectTiles((region.sum ? region.rows : region.pairs()) * kernel.tilesOfPart());
}

void ExpertSlicesEmission::declareConfig() {
  CodeWriter& code = context.structure.declarations;
  code.open("struct Config");
  code.format("using Encoding = %s;", deviceType(elementTypeOf(first.getWeight().getType())));
  code.format("using Input = %s;", deviceType(elementTypeOf(first.getInput().getType())));
  code.format("static constexpr int depth = %d, lineBytes = %d, pitch = %d;", shape.depth,
              shape.lineBytes(), shape.pitch());
  code.format("static constexpr int units = %d, groups = %d, stages = %d;",
              shape.units(kernel.schedule.columns), kernel.groups(), kernel.schedule.stages);
  code.close(";");
}

/// The rings, still empty: the experts are known after the wait.
void ExpertSlicesEmission::printPlace(CodeWriter& code) {
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("ExpertSlices<Config> slices(memory);");
  code.format("static_assert(sizeof(decltype(slices)::Shared) <= %d);",
              kernel.resources().dynamicSmemBytes);
  code.format("const int firstColumn = static_cast<int>(tile %% %d) * %d;", kernel.tilesOfPart(),
              kernel.schedule.columns);
  code.format("const long long %s = tile / %d;", region.sum ? "row" : "pair", kernel.tilesOfPart());
}

/// `experts` of both octets of the warp, whose `pairs` of the row they are, and `earlyId`, that of
/// the row's pair of the thread's number.
void ExpertSlicesEmission::printExperts(CodeWriter& code) {
  std::string ids = context.pointer(first.getIds());
  code.line("int pairs[2], experts[2], earlyId;");
  code.unroll();
  code.open("for (int octet = 0; octet < 2; ++octet)");
  code.format("pairs[octet] = min(slices.group %% %d * 2 + octet, %d);", shape.parts,
              region.chosen - 1);
  code.format("experts[octet] = %s[row * %d + pairs[octet]];", ids, region.chosen);
  code.close();
  code.format("if (threadIdx.x < %d)", region.chosen);
  code.format("  earlyId = %s[row * %d + threadIdx.x];", ids, region.chosen);
}

/// `id` of the tile's pair and whether it `exists`. Where the block chooses it, x is asked for before
/// it is known: behind the expert's weights, all of which are on their way at once, x would be the
/// last to arrive (docs/notebook/2026-11-28-x-before-the-experts.md).
void ExpertSlicesEmission::printExpert(CodeWriter& code) {
  if (region.choice) {
    ChoicePrinter choice(context, *region.choice);
    choice.printScoresOfPair(code);
    if (asksForInputFirst())
      printInput(code);
    choice.printOfPair(code, region.chosen * kernel.tilesOfPart());
    code.format("const int id = chosen[pair %% %d];", region.chosen);
  } else {
    code.format("const int id = %s[pair];", context.pointer(first.getIds()));
  }
  code.line("const bool exists = isExpert(id);");
  code.line("const int expert = exists ? id : 0;");
}

/// Where the 8 lines of an octet begin; those after the end repeat the last ones.
void ExpertSlicesEmission::printOctets(CodeWriter& code) {
  code.open("auto octetAt = [&](int unit, int octet) -> const unsigned char*");
  std::string column = absl::StrFormat("unit / %d * %d%s", shape.parts, shape.unitColumns,
                                       region.sum || isJoined() ? "" : " + 8 * octet");
  code.format("const int column = min(firstColumn + %s, %d);", column,
              region.columns - ExpertSliceShape::octet);
  std::string weight = context.pointer(first.getWeight());
  if (isJoined())
    weight = absl::StrFormat("(octet == 0 ? %s : %s)", weight,
                             context.pointer(region.gemms.back().getWeight()));
  code.format("return reinterpret_cast<const unsigned char*>(%s) +", weight);
  code.format("       (static_cast<long long>(%s) * %d + column) * %d;",
              region.sum ? "(isExpert(experts[octet]) ? experts[octet] : 0)" : "expert",
              region.columns, shape.lineBytes());
  code.close(";");
}

/// Asks for the warp's slice of x.
void ExpertSlicesEmission::printInput(CodeWriter& code) {
  std::string x = context.pointer(first.getInput());
  code.format("SliceOfX<Config::Encoding, Config::Input, %d> held;", shape.depth);
  auto rowOf = [&](const std::string& pair) {
    return absl::StrFormat("%s + (%s) / %d * %d", x, pair, region.sharing(), region.depth);
  };
  if (region.sum)
    code.format("held.load(%s, %s, slices.slice);",
                rowOf(absl::StrFormat("row * %d + pairs[0]", region.chosen)),
                rowOf(absl::StrFormat("row * %d + pairs[1]", region.chosen)));
  else
    code.format("held.load(%s, %s, slices.slice);", rowOf("pair"), rowOf("pair"));
}

/// The sums of the columns that a thread makes results of, in `parts`.
void ExpertSlicesEmission::printSums(CodeWriter& code) {
  int64_t columns = kernel.schedule.columns;
  code.line("__syncthreads();");
  code.format("__shared__ float parts[%d][%d][%d];", shape.gemms, region.sum ? region.chosen : 1,
              columns);
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", columns, context.structure.threads);
  if (region.sum) {
    code.unroll();
    code.format("for (int j = 0; j < %d; ++j)", region.chosen);
    code.format("  parts[0][j][i] = isExpert(ids[j]) ? slices.sumOf(i / 8 * %d + j / 2, "
                "j %% 2 * 8 + i %% 8) : 0.0f;",
                shape.parts);
  } else if (isJoined()) {
    code.unroll();
    code.format("for (int p = 0; p < %d; ++p)", shape.gemms);
    code.line("  parts[p][0][i] = slices.sumOf(i / 8, p * 8 + i % 8);");
  } else {
    code.line("parts[0][0][i] = slices.sumOf(i / 16, i % 16);");
  }
  code.close();
}

LogicalResult ExpertSlicesEmission::emit() {
  if (failed(check()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"expert_slices.cuh"};
  if (region.choice)
    structure.headers.push_back("expert_choice.cuh");
  declareConfig();
  printPlace(structure.begin(PhaseKind::Load, {}, {{MemorySpace::Shared, "slices"}}));
  std::vector<Access> reads = context.arguments(true);
  llvm::append_range(reads, context.arguments(false));
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  ExpertResults results(context, region, kernel.schedule.columns, /*pairsAtOnce=*/0);
  code.format("auto isExpert = [](int id) { return id >= 0 && id < %d; };", region.experts);
  if (region.sum)
    printExperts(code);
  else
    printExpert(code);
  if (failed(results.preload(code)))
    return failure();
  printOctets(code);
  code.line("slices.fill(octetAt);");
  if (!asksForInputFirst())
    printInput(code);
  results.keep(code);
  if (region.sum) {
    code.format("__shared__ int ids[%d];", region.chosen);
    code.format("if (threadIdx.x < %d)", region.chosen);
    code.line("  ids[threadIdx.x] = earlyId;");
  }
  code.line("held.prepare();");
  code.line("slices.multiply(held, octetAt);");
  printSums(code);
  return results.print(code);
}

static LogicalResult emitExpertSlices(KernelContext& context) {
  FailureOr<ExpertSlicesKernel> kernel = context.read<ExpertSlicesKernel>();
  return failed(kernel) ? failure() : ExpertSlicesEmission(context, *kernel).emit();
}

extern constexpr Emitter expertSlices = {ExpertSlicesKernel::name, emitExpertSlices};

} // namespace tenon::codegen::cuda::emitters
