#include "kernels/cuda/ExpertGemv.h"

#include <limits>

#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/ExpertChoice.h"
#include "kernels/cuda/ExpertGemm.h"
#include "kernels/cuda/ExpertSlices.h"
#include "kernels/cuda/Gemv.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static const Encoding& encodingOf(ExpertMatmulOp op) {
  return *getEncoding(op.getWeight().getType().getElementType());
}

static constexpr int64_t ringAlignment = 128, floatBytes = 4;

/// An instruction of tensor cores takes two lines: a row of two GEMMs, or two rows of one.
ExpertStage::ExpertStage(const ExpertRegion& region)
    : onTensorCores(encodingOf(region.gemms.front()).isBlockQuantized()),
      matrix(encodingOf(region.gemms.front()), region.columns, region.depth) {
  constexpr int64_t copyBytes = BulkRows::copyBytes;
  matrix.skips &= onTensorCores;
  if (onTensorCores) {
    pieces = static_cast<int64_t>(region.gemms.size());
    rows = pieces == 1 ? 2 : 1;
    while (!matrix.skips && rows * matrix.rowBytes % copyBytes != 0 && rows < copyBytes)
      rows *= 2;
  }
  pieceBytes = llvm::alignTo(matrix.mostBytes(rows * matrix.rowBytes), ringAlignment);
}

int64_t ExpertStage::turns(int64_t columns, int64_t gemms) const {
  return llvm::divideCeil(columns, rows) * gemms / pieces;
}

int64_t ExpertStage::ringBytes(int64_t stages) const {
  constexpr int64_t barrierBytes = 8;
  return llvm::alignTo(stages * (bytes() + barrierBytes), ringAlignment);
}

VerdictOr<ExpertGemvKernel> ExpertGemvKernel::read(KernelOp kernel) {
  VerdictOr<ExpertRegion> region = readExpertRegion(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<ExpertGemvSchedule> schedule =
      parseSchedule<ExpertGemvSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return ExpertGemvKernel{*std::move(region), *schedule};
}

/// The sums of a warp with a ring.
static int64_t sumBytes(const ExpertRegion& region, int64_t columns) {
  return floatBytes * static_cast<int64_t>(region.gemms.size()) * columns;
}

/// Blocks with rings that share a multiprocessor: two beside a weighted sum where the x of a warp,
/// one round of tensor cores or less, leaves registers to them, so that twice as many warps hide
/// what each waits for (docs/notebook/2026-11-26-down-in-two-blocks.md).
static int64_t blocksOfRings(const ExpertRegion& region) {
  constexpr int64_t mostOfTwo = 1024;
  bool holdsLittle = region.depth <= mostOfTwo && ExpertStage(region).rows <= 2;
  return region.sum && holdsLittle ? 2 : 1;
}

/// Rings of the warps, the sums, weights of a weighted sum; registers hold x.
static BlockResources resourcesOfRings(const ExpertGemvKernel& kernel) {
  ExpertStage stage(kernel.region);
  int64_t warps = kernel.schedule.threads / 32;
  BlockResources resources;
  resources.threads = kernel.schedule.threads;
  resources.blocksPerSm =
      blocksOfRings(kernel.region); // or ptxas spills to leave registers to more
  // x: of each round of tensor cores 17 and what is made of quants; else the elements of a lane.
  constexpr int64_t least = 72, ofRound = 18, round = 1024, ofManyRows = 16, registersOfTwo = 64;
  int64_t depth = kernel.region.depth;
  if (stage.onTensorCores)
    resources.registers = least + ofRound * static_cast<int64_t>(llvm::divideCeil(depth, round)) +
                          (stage.rows > 2 ? ofManyRows : 0);
  else
    resources.registers = least + depth / 32;
  if (resources.blocksPerSm > 1)
    resources.registers = std::min(resources.registers, registersOfTwo);
  resources.dynamicSmemBytes = warps * stage.ringBytes(kernel.schedule.stages);
  int64_t sums = warps * sumBytes(kernel.region, kernel.schedule.columnsPerWarp);
  if (kernel.region.sum || kernel.region.choice)
    sums += floatBytes * kernel.region.chosen;
  resources.staticSmemBytes = llvm::alignTo(sums, ringAlignment); // the rings lie after them
  resources.bytesAThread = kernel.schedule.stages * stage.bytes() / 32;
  return resources;
}

/// As `gemv`: partial sums of each warp, the words of blocks and their parts; where tiles are of
/// experts the list of their pairs, too.
BlockResources ExpertGemvKernel::resources() const {
  if (schedule.stages > 0)
    return resourcesOfRings(*this);
  constexpr int64_t unrolled = 4, leastOfBlocks = 128, wordBytes = 16;
  int64_t pairs = std::max<int64_t>(schedule.pairsAtOnce, 1);
  auto gemms = static_cast<int64_t>(region.gemms.size());
  int64_t columns = gemms * schedule.columnsPerWarp;
  BlockResources resources;
  resources.threads = schedule.threads;
  // Several rows of x are on their way at once.
  int64_t ofRows = schedule.pairsAtOnce > 0 ? 32 : 0;
  resources.registers = registersOfSums(pairs * columns * schedule.vector) + ofRows;
  // Where a row is one step, what blocks decode to is multiplied and combined pair by pair.
  bool isOneStep = region.depth <= 32 * schedule.vector;
  if (encodingOf(region.gemms.front()).isBlockQuantized())
    resources.registers = std::clamp<int64_t>(isOneStep ? 0 : resources.registers + 16,
                                              leastOfBlocks, BlockResources::mostRegisters);
  resources.bytesAThread = unrolled * wordBytes * columns;
  int64_t warps = schedule.threads / 32;
  resources.staticSmemBytes = floatBytes * (region.sum ? region.chosen : warps * pairs) * columns;
  if (region.sum || region.choice)
    resources.staticSmemBytes += floatBytes * region.chosen;
  if (schedule.pairsAtOnce > 0)
    resources.staticSmemBytes += 4 * (std::min(mostListed, region.pairs()) + 1);
  return resources;
}

/// Instructions of a warp that multiplies quants on tensor cores, counted in what ptxas makes of
/// two rows: 3.5 for each element of MXFP4 that a thread has, whose words lie at any address, and
/// 2.6 of Q4_K.
PriceTerms ExpertGemvKernel::priceTerms() const {
  PriceTerms terms;
  if (schedule.stages == 0 || !ExpertStage(region).onTensorCores)
    return terms;
  constexpr int64_t lanes = 32, tenth = 10, ofWords = 26, ofAnyAddress = 35;
  bool atAnyAddress = BulkRows::quantsAlignment(encodingOf(region.gemms.front())) == 1;
  int64_t elements = region.pairs() * static_cast<int64_t>(region.gemms.size()) * region.columns *
                     region.depth / lanes;
  terms.warpInstructions = elements * (atAnyAddress ? ofAnyAddress : ofWords) / tenth;
  return terms;
}

BlockResources WeightedSumKernel::resources() const {
  return {.threads = schedule.threads, .registers = 64, .bytesAThread = 64};
}

namespace kinds {
extern constexpr KernelKind expertGemv = kindOf<ExpertGemvKernel>();
extern constexpr KernelKind weightedSum = kindOf<WeightedSumKernel>();
} // namespace kinds

} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

static bool hasExperts(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), llvm::IsaPred<ExpertMatmulOp>);
}

/// A choice of experts alone.
static bool isChoice(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), llvm::IsaPred<SoftmaxOp>) &&
         llvm::any_of(kernel.getBlock(), llvm::IsaPred<TopKOp>) && !hasExperts(kernel);
}

static Verdict accepts(KernelOp kernel, const CudaTarget& target) {
  constexpr int64_t mostSummed = 64;
  if (isChoice(kernel)) {
    VerdictOr<ChoiceRegion> choice = readExpertChoice(kernel);
    return choice ? Verdict::accept() : Verdict(choice.refusal());
  }
  if (!hasExperts(kernel))
    return Verdict::accept();
  VerdictOr<ExpertRegion> region = readExpertRegion(kernel);
  if (!region)
    return region.refusal();
  if (region->sum && !region->fewShareExperts())
    return Refusal{"a block that sums what a row's experts give reads them for that row alone, too "
                   "often for " +
                   std::to_string(region->rows) + " rows"};
  if (region->choice && !region->fewShareExperts())
    return Refusal{"a block that chooses a row's experts multiplies them for that row alone, too "
                   "often for " +
                   std::to_string(region->rows) + " rows"};
  if (region->sum && region->chosen > mostSummed)
    return Refusal{"a block sums what at most " + std::to_string(mostSummed) +
                   " experts give, not " + std::to_string(region->chosen)};
  if (region->sum && suitsExpertSlices(*region, target) && !holdsSummed(*region))
    return Refusal{"the warps of a block hold no more than 24 slices of what a row's experts "
                   "multiply, which they are to sum"};
  return Verdict::accept();
}

static bool matches(KernelOp kernel, const CudaTarget& target) {
  return soleOp<WeightedSumOp>(kernel) ||
         ((hasExperts(kernel) || isChoice(kernel)) && accepts(kernel, target));
}

/// Elements that a thread takes at once.
static int64_t vectorOf(const ExpertRegion& region) {
  ExpertMatmulOp first = region.gemms.front();
  return dividingPower(region.depth, first.getWeight().getType().getElementType().isF32() ? 4 : 8);
}

/// Warps hold more than 2,048 elements of x, or 3,072 of 16 bits beside one row at a time, in the
/// registers of two.
static int64_t mostRingWarps(const ExpertRegion& region) {
  constexpr int64_t mostWarps = ExpertGemvKernel::mostWarps, mostHeldNarrow = 3072;
  ExpertStage stage(region);
  bool takesFewRows = stage.onTensorCores && stage.rows <= 2;
  int64_t mostHeld = takesFewRows ? mostHeldNarrow : ExpertGemvKernel::mostHeld;
  return region.depth <= mostHeld ? mostWarps : mostWarps / 2;
}

/// Whether warps bring the rows of a GEMM's experts through rings. Of rows in blocks, which
/// tensor cores multiply then, it follows from the GEMM alone, lest a kernel of several add in
/// another order.
///
/// Rows are multiples of 16 bytes, which every encoding's blocks lie well in, or at
/// addresses that suit their quants; those of blocks of 256 elements need no more than their
/// blocks, and a few of them together are such a multiple.
static bool suitsRings(const ExpertRegion& region, const CudaTarget& target) {
  constexpr int64_t mostTogether = 1024, superblock = 256;
  ExpertMatmulOp op = region.gemms.front();
  if (!target.bulkCopies || !region.fewShareExperts() || region.chosen > mostRingWarps(region))
    return false;
  const Encoding& encoding = encodingOf(op);
  if (!encoding.isBlockQuantized())
    return region.depth % (32 * vectorOf(region)) == 0 &&
           region.depth <= ExpertGemvKernel::mostHeld;
  Type input = op.getInput().getType().getElementType();
  ExpertStage stage(region);
  bool takesRowsTogether = encoding.blockSize == superblock && region.depth <= mostTogether;
  return (input.isF16() || input.isBF16()) && region.depth <= ExpertGemvKernel::mostHeldQuants &&
         (stage.matrix.areAligned() || stage.matrix.skips ||
          (takesRowsTogether && region.columns * stage.matrix.rowBytes % BulkRows::copyBytes == 0));
}

/// One block a multiprocessor, or two, or almost: as many columns of a pair, or of all pairs of a
/// row, which its warps share so that few have more to do than others. All that a warp brings is on
/// its way at once where the rings hold it.
static ExpertGemvSchedule chooseRings(const ExpertRegion& region, const CudaTarget& target) {
  constexpr int64_t mostColumns = 128;
  int64_t mostWarps = mostRingWarps(region);
  ExpertStage stage(region);
  int64_t parts = region.sum ? region.rows : region.pairs(), blocks = blocksOfRings(region);
  auto columns = static_cast<int64_t>(
      llvm::divideCeil(region.columns, std::max<int64_t>(blocks * target.sms / parts, 1)));
  int64_t together = stage.rowsTogether();
  int64_t sharing = region.sum ? region.chosen : 1; // warps that take the same columns
  int64_t least = std::numeric_limits<int64_t>::max();
  ExpertGemvSchedule schedule;
  schedule.vector = vectorOf(region);
  for (int64_t groups = mostWarps / sharing; 2 * groups * sharing >= mostWarps; --groups) {
    int64_t ofWarp = llvm::alignTo(llvm::divideCeil(columns, groups), together);
    ofWarp = std::min(ofWarp, mostColumns);
    int64_t warps = groups * sharing;
    int64_t turns = stage.turns(ofWarp, static_cast<int64_t>(region.gemms.size()));
    bool holdsTwo = blocks * warps * (stage.ringBytes(2) + sumBytes(region, ofWarp)) <=
                    target.smemBytesPerBlock;
    int64_t held = target.bulkRingBytes / (blocks * warps * stage.ringBytes(1));
    int64_t stages = std::min(turns, std::max<int64_t>(held, holdsTwo ? 2 : 1));
    // With one stage a warp waits for what it brings next: as for twice the columns.
    int64_t cost = groups * ofWarp * (stages == 1 && turns > 1 ? 2 : 1);
    if (cost >= least)
      continue;
    least = cost;
    schedule.threads = 32 * warps;
    schedule.columnsPerWarp = ofWarp;
    schedule.tiles = parts * llvm::divideCeil(region.columns, groups * ofWarp);
    schedule.stages = stages;
  }
  return schedule;
}

/// Of a few rows a tile is some columns of one pair or, to be summed, of all pairs of a row, a warp
/// each. Of more rows a tile is some columns of one expert, for all pairs that it takes part in, as
/// many at once as chance gives it and registers hold.
static ExpertGemvSchedule chooseGemv(const ExpertRegion& region) {
  constexpr int64_t threads = 256, warps = threads / 32, mostSums = 64;
  auto gemms = static_cast<int64_t>(region.gemms.size());
  ExpertGemvSchedule schedule;
  schedule.threads = threads;
  schedule.vector = vectorOf(region);
  if (region.sum) {
    schedule.threads = 32 * std::min(region.chosen, warps);
    schedule.columnsPerWarp = 4;
    schedule.tiles = region.rows * llvm::divideCeil(region.columns, schedule.columnsPerWarp);
    return schedule;
  }
  schedule.columnsPerWarp = 1;
  bool byPair = region.fewShareExperts();
  if (!byPair) {
    int64_t expected = llvm::divideCeil(region.pairs(), region.experts);
    int64_t fitting = std::max<int64_t>(mostSums / (gemms * schedule.vector), 1);
    schedule.pairsAtOnce = std::min<int64_t>({static_cast<int64_t>(llvm::PowerOf2Ceil(expected)),
                                              fitting, ExpertGemvSchedule::mostPairs});
  }
  int64_t parts = byPair ? region.pairs() : region.experts;
  schedule.tiles = parts * llvm::divideCeil(region.columns, warps * schedule.columnsPerWarp);
  return schedule;
}

static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours) {
  if (isChoice(kernel)) {
    constexpr int64_t warp = 32;
    VerdictOr<ChoiceRegion> choice = readExpertChoice(kernel);
    setChoiceOrders(*choice, target);
    return printSchedule(kernel.getContext(), ExpertChoiceKernel::name,
                         ExpertChoiceSchedule{choice->rows, warp});
  }
  if (auto op = soleOp<WeightedSumOp>(kernel)) {
    constexpr int64_t threads = 64;
    int64_t elements = op.getType().getNumElements();
    int64_t vector = dividingPower(op.getType().getShape().back(), widestVector(kernel));
    return printSchedule(
        kernel.getContext(), WeightedSumKernel::name,
        WeightedSumSchedule{static_cast<int64_t>(llvm::divideCeil(elements, threads * vector)),
                            threads, vector});
  }
  VerdictOr<ExpertRegion> region = readExpertRegion(kernel);
  assert(region && "the rule matches");
  for (ExpertMatmulOp gemm : region->gemms)
    gemm.removeOrderAttr(); // kinds on tensor cores have none, but for `expert_gemv`
  if (region->choice)
    setChoiceOrders(*region->choice, target);
  if (suitsExpertSlices(*region, target))
    return printSchedule(kernel.getContext(), ExpertSlicesKernel::name,
                         chooseExpertSlices(*region, target));
  if (!region->sum && !region->choice && suitsExpertGemm(*region))
    return printSchedule(kernel.getContext(), ExpertGemmKernel::name, chooseExpertGemm(*region));
  bool inRings = suitsRings(*region, target);
  bool onTensorCores = inRings && ExpertStage(*region).onTensorCores;
  ExpertGemvSchedule schedule = inRings ? chooseRings(*region, target) : chooseGemv(*region);
  OrderAttr order = OrderAttr::get(kernel.getContext(), /*chunk=*/0, 32 * schedule.vector,
                                   onTensorCores ? CombineTree::TensorCores : CombineTree::Halving);
  for (ExpertMatmulOp gemm : region->gemms)
    gemm.setOrderAttr(order);
  return printSchedule(kernel.getContext(), ExpertGemvKernel::name, schedule);
}

const CudaScheduleRule experts = {matches, choose, nullptr, accepts};

} // namespace tenon::kernels::cuda_rules
