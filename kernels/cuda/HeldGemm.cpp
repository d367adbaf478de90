#include "kernels/cuda/HeldGemm.h"

#include "kernels/cuda/NarrowGemm.h"
#include "kernels/cuda/Rows.h"

using namespace mlir;

namespace tenon::kernels {

static bool hasNorm(const GemmRegion& region) {
  return llvm::any_of(region.inputs, [](const GemmRegion::Input& input) { return input.norm; });
}

Verdict HeldGemmShape::accepts(const GemmRegion& region) {
  llvm::SmallVector<int64_t, 2> depths = region.depths();
  if (region.rows > mostRows || !llvm::all_equal(depths) || depths.front() % 8 != 0 ||
      depths.front() > mostWarps * sliceElements)
    return Refusal{
        "warps hold at most 16 rows of one depth of at most 4096 elements, a multiple of "
        "8"};
  for (const GemmRegion::Group& group : region.groups)
    for (const GemmRegion::Gemm& gemm : group.gemms)
      if (gemm.input != group.gemms.front().input)
        return Refusal{"warps hold one input of a group of products"};
  return Verdict::accept();
}

VerdictOr<HeldGemmKernel> HeldGemmKernel::read(KernelOp kernel) {
  VerdictOr<GemmRegion> region = readGemms(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<HeldGemmSchedule> schedule = parseSchedule<HeldGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (Verdict verdict = HeldGemmShape::accepts(*region); !verdict)
    return verdict.refusal();
  if (region->joined() > mostJoined)
    return Refusal{"expects at most 4 products in a group, but got " +
                   std::to_string(region->joined())};
  HeldGemmShape shape = HeldGemmShape::of(*region, schedule->tileLines);
  if (schedule->threads != 32 * shape.warps())
    return Refusal{"expects " + std::to_string(32 * shape.warps()) +
                   " threads, a warp a slice of 256 elements, but got " +
                   std::to_string(schedule->threads)};
  return HeldGemmKernel{*std::move(region), *schedule, shape};
}

/// Rings of pieces of W, sums of each warp's part of the depth, sums of norms in front.
BlockResources HeldGemmKernel::resources() const {
  constexpr int64_t halfBytes = 2, lanes = 32;
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.registers = BlockResources::mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread =
      schedule.stages * HeldGemmShape::unitLines * HeldGemmShape::pieceElements * halfBytes / lanes;
  resources.dynamicSmemBytes = shape.bytes(schedule.stages, hasNorm(region));
  return resources;
}

PriceTerms HeldGemmKernel::priceTerms() const {
  PriceTerms terms;
  terms.prologue = PriceTerms::Prologue::Registers;
  return terms;
}

namespace {

/// Rows of W of a tile: as many as take a block several times as long as its warps wait for one
/// another after them, but leave no block more than a twenty-fifth more than the fewest would.
int64_t linesFor(const GemmRegion& region, const CudaTarget& target) {
  constexpr int64_t fewest = 4, tileBytes = 128 << 10, halfBytes = 2;
  int64_t unitBytes =
      HeldGemmShape::unitLines * halfBytes * region.joined() * region.depths().front();
  int64_t lines = std::clamp<int64_t>(tileBytes / unitBytes * HeldGemmShape::unitLines,
                                      HeldGemmShape::unitLines, HeldGemmShape::mostLines);
  auto share = [&](int64_t lines) -> int64_t {
    return llvm::divideCeil(region.tiles(lines), target.sms) * lines;
  };
  while (lines > fewest && 25 * share(lines) > 26 * share(1))
    --lines;
  return lines;
}

/// Stages of rings of as many bytes as the target states, or as fit beside sums and norms.
int64_t stagesFor(const GemmRegion& region, int64_t lines, const CudaTarget& target) {
  HeldGemmShape shape = HeldGemmShape::of(region, lines);
  int64_t stageBytes = shape.warps() * HeldGemmShape::stageBytes;
  int64_t left = target.smemBytesPerBlock - shape.bytes(/*stages=*/0, hasNorm(region));
  return std::clamp<int64_t>(
      llvm::divideCeil(target.bulkRingBytes, stageBytes), 1,
      std::clamp<int64_t>(left / stageBytes, 1, HeldGemmSchedule::mostStages));
}

/// True where warps can hold the input: it lies in memory, or is the norm of such of the same type,
/// whose chunks are theirs.
bool isHoldable(const GemmRegion::Input& input, const CudaTarget& target) {
  if (!readsMemory(input) || !input.norm)
    return readsMemory(input);
  return getElementTypeOrSelf(input.norm->getOperand(0)) == getElementTypeOrSelf(input.value) &&
         hasChunksOf(*input.norm, HeldGemmShape::sliceElements, target);
}

} // namespace

/// Measured on an H200, 2026-11-21 (dependent launch, narrow_gemm and this): decode of 4 and 16
/// rows, ms, llama-3.1-8b bf16, rows of 4,096, 16 warps, 3.990 and 3.912, 4.621 and 4.257;
/// pythia-2.8b f16, rows of 2,560, 10 warps, 1.788 and 1.995, 2.494 and 3.262; gate and up of 4
/// rows of 3,072, 12 warps, 8 % longer: fewer warps wait for their copies.
bool suitsHeldGemm(const GemmRegion& region, const CudaTarget& target) {
  constexpr int64_t fewestWarps = 16, fewestRows = 3, rowsOfTile = 8;
  if (!target.bulkCopies || region.rows < fewestRows || !HeldGemmShape::accepts(region) ||
      !region.prologueYields.empty())
    return false;
  // Sums stand in registers beside x.
  int64_t mostJoined = region.rows > rowsOfTile ? 2 : 4;
  HeldGemmShape shape = HeldGemmShape::of(region, HeldGemmShape::unitLines);
  auto suits = [](const GemmRegion::Group& group) {
    return llvm::all_of(group.gemms,
                        [](const GemmRegion::Gemm& gemm) { return suitsTensorCores(gemm.op); });
  };
  return shape.warps() >= fewestWarps && region.joined() <= mostJoined &&
         llvm::all_of(region.groups, suits) &&
         llvm::all_of(region.inputs,
                      [&](const GemmRegion::Input& input) { return isHoldable(input, target); });
}

HeldGemmSchedule chooseHeldGemm(const GemmRegion& region, const CudaTarget& target) {
  HeldGemmSchedule schedule;
  schedule.tileLines = linesFor(region, target);
  schedule.threads = 32 * HeldGemmShape::of(region, schedule.tileLines).warps();
  schedule.stages = stagesFor(region, schedule.tileLines, target);
  schedule.tiles = std::min(region.tiles(schedule.tileLines), target.sms);
  return schedule;
}

namespace kinds {
extern constexpr KernelKind heldGemm = kindOf<HeldGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
