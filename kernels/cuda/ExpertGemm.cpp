#include "kernels/cuda/ExpertGemm.h"

using namespace mlir;

namespace tenon::kernels {

static Type elementOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getElementType();
}

/// What the kind asks of a region, whatever the target.
static Verdict accepts(const ExpertRegion& region) {
  ExpertMatmulOp first = region.gemms.front();
  Type input = elementOf(first.getInput()), weight = elementOf(first.getWeight());
  if (!input.isF16() && !input.isBF16())
    return Refusal{"expert_gemm takes inputs of 16 bits"};
  if (!getEncoding(weight)->isBlockQuantized() && weight != input)
    return Refusal{"expert_gemm takes weights in blocks, or of the type of the inputs"};
  if (region.depth % 8 != 0)
    return Refusal{"expert_gemm takes a depth of a multiple of 8, but the region has " +
                   std::to_string(region.depth)};
  if (region.sum || region.choice)
    return Refusal{"expert_gemm neither sums what a row's experts give nor chooses them"};
  return Verdict::accept();
}

VerdictOr<ExpertGemmKernel> ExpertGemmKernel::read(KernelOp kernel) {
  VerdictOr<ExpertRegion> region = readExpertRegion(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<ExpertGemmSchedule> schedule =
      parseSchedule<ExpertGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (Verdict verdict = accepts(*region); !verdict)
    return verdict.refusal();
  if (schedule->tileRows != 64 && schedule->tileRows != 128)
    return Refusal{"expects tile_rows 64 or 128, but got " + std::to_string(schedule->tileRows)};
  return ExpertGemmKernel{*std::move(region), *schedule};
}

bool ExpertGemmKernel::takesQuads() const {
  constexpr std::string_view encodings[] = {"q4_k", "q5_k", "q6_k", "q8_0", "mxfp4"};
  const Encoding& encoding =
      *getEncoding(elementOf(ExpertMatmulOp(region.gemms.front()).getWeight()));
  bool atAnyAddress = encoding.name == "mxfp4";
  return llvm::is_contained(encodings, encoding.name) &&
         (atAnyAddress || encoding.bytesFor(region.depth) % 16 == 0);
}

BlockResources ExpertGemmKernel::resources() const {
  constexpr int64_t stages = 3, pitchBytes = 2 * (32 + 8);
  BlockResources resources;
  resources.threads = threads;
  resources.blocksPerSm = schedule.tileRows == 64 ? 2 : 1;
  resources.registers = BlockResources::mostRegisters;
  resources.tensorCores = true;
  resources.dynamicSmemBytes =
      stages * (schedule.tileRows + tileColumns) * pitchBytes + 4 * (listed() + 1);
  resources.bytesAThread = (stages - 1) * (schedule.tileRows / 64 + 2) * 16;
  return resources;
}

/// Rows of a tile, of all experts, where each has the same number of them.
static int64_t rowsOfTiles(const ExpertGemmKernel& kernel) {
  const ExpertRegion& region = kernel.region;
  auto ofExpert = static_cast<int64_t>(llvm::divideCeil(region.pairs(), region.experts));
  return llvm::divideCeil(ofExpert, kernel.schedule.tileRows);
}

/// Instructions of warps beside weights in blocks, about 11 for each of a thread's elements,
/// counted in what ptxas makes of q4_k, products among them; of words at any address a third more,
/// as in expert_gemv.
PriceTerms ExpertGemmKernel::priceTerms() const {
  constexpr int64_t ofElement = 11, ofAnyAddress = 15, lanes = 32;
  const Encoding& encoding =
      *getEncoding(elementOf(ExpertMatmulOp(region.gemms.front()).getWeight()));
  PriceTerms terms;
  terms.gathersRows = true;
  if (encoding.isBlockQuantized())
    terms.warpInstructions = region.experts * rowsOfTiles(*this) * gemms() * region.columns *
                             region.depth / lanes *
                             (encoding.name == "mxfp4" ? ofAnyAddress : ofElement);
  return terms;
}

/// From so many pairs of an expert on a tile is worth its place in shared memory.
bool suitsExpertGemm(const ExpertRegion& region) {
  constexpr int64_t leastPairs = 4;
  ExpertRegion alone = region;
  alone.sum = nullptr, alone.choice = std::nullopt;
  return accepts(alone) && region.pairs() >= leastPairs * region.experts;
}

ExpertGemmSchedule chooseExpertGemm(const ExpertRegion& region) {
  constexpr int64_t narrow = 64, wide = 128;
  ExpertGemmSchedule schedule;
  schedule.tileRows = region.pairs() > narrow * region.experts ? wide : narrow;
  ExpertGemmKernel kernel{region, schedule};
  schedule.tiles = region.experts * kernel.tilesOfExpert();
  return schedule;
}

namespace kinds {
extern constexpr KernelKind expertGemm = kindOf<ExpertGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
