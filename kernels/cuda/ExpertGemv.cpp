#include "kernels/cuda/ExpertGemv.h"

#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/ExpertChoice.h"
#include "kernels/cuda/Gemv.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

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

/// As `gemv`: partial sums of each warp, the words of blocks and their parts; where tiles are of
/// experts the list of their pairs, too.
BlockResources ExpertGemvKernel::resources() const {
  constexpr int64_t unrolled = 4, leastOfBlocks = 128, floatBytes = 4, wordBytes = 16;
  int64_t pairs = std::max<int64_t>(schedule.pairsAtOnce, 1);
  auto products = static_cast<int64_t>(region.products.size());
  int64_t columns = products * schedule.columnsPerWarp;
  ExpertMatmulOp first = region.products.front();
  BlockResources resources;
  resources.threads = schedule.threads;
  // Several rows of x are on their way at once.
  int64_t ofRows = schedule.pairsAtOnce > 0 ? 16 : 0;
  resources.registers = registersOfSums(pairs * columns * schedule.vector) + ofRows;
  // Where a row is one step, what blocks decode to is multiplied and combined pair by pair.
  bool isOneStep = region.depth <= 32 * schedule.vector;
  if (getEncoding(first.getWeight().getType().getElementType())->isBlockQuantized())
    resources.registers = std::clamp<int64_t>(isOneStep ? 0 : resources.registers + 16,
                                              leastOfBlocks, BlockResources::mostRegisters);
  resources.bytesAThread = unrolled * wordBytes * columns;
  int64_t warps = schedule.threads / 32;
  resources.staticSmemBytes = floatBytes * (region.sum ? region.chosen : warps * pairs) * columns;
  if (schedule.pairsAtOnce > 0)
    resources.staticSmemBytes += 4 * (std::min(mostListed, region.pairs()) + 1);
  return resources;
}

BlockResources WeightedSumKernel::resources() const {
  return {.threads = schedule.threads, .registers = 64, .bytesAThread = 64};
}

namespace kinds {
extern const KernelKind expertGemv = kindOf<ExpertGemvKernel>();
extern const KernelKind weightedSum = kindOf<WeightedSumKernel>();
} // namespace kinds

} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

static bool hasExperts(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), llvm::IsaPred<ExpertMatmulOp>);
}

static bool isChoice(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), llvm::IsaPred<SoftmaxOp>) &&
         llvm::any_of(kernel.getBlock(), llvm::IsaPred<TopKOp>);
}

/// A few rows seldom choose the same expert.
static bool fewShareExperts(const ExpertRegion& region) {
  return region.rows == 1 || 4 * region.pairs() <= region.experts;
}

static Verdict accepts(KernelOp kernel, const CudaTarget&) {
  constexpr int64_t mostSummed = 64;
  if (isChoice(kernel)) {
    VerdictOr<ExpertChoiceKernel> choice = readExpertChoice(kernel);
    return choice ? Verdict::accept() : Verdict(choice.refusal());
  }
  if (!hasExperts(kernel))
    return Verdict::accept();
  VerdictOr<ExpertRegion> region = readExpertRegion(kernel);
  if (!region)
    return region.refusal();
  if (region->sum && !fewShareExperts(*region))
    return Refusal{"a block that sums what a row's experts give reads them for that row alone, too "
                   "often for " +
                   std::to_string(region->rows) + " rows"};
  if (region->sum && region->chosen > mostSummed)
    return Refusal{"a block sums what at most " + std::to_string(mostSummed) +
                   " experts give, not " + std::to_string(region->chosen)};
  return Verdict::accept();
}

static bool matches(KernelOp kernel, const CudaTarget& target) {
  return soleOp<WeightedSumOp>(kernel) ||
         ((hasExperts(kernel) || isChoice(kernel)) && accepts(kernel, target));
}

/// Of a few rows a tile is some columns of one pair or, to be summed, of all pairs of a row, a warp
/// each. Of more rows a tile is some columns of one expert, for all pairs that it takes part in, as
/// many at once as chance gives it and registers hold.
static ExpertGemvSchedule chooseGemv(const ExpertRegion& region) {
  constexpr int64_t threads = 256, warps = threads / 32, mostSums = 64;
  ExpertMatmulOp first = region.products.front();
  auto products = static_cast<int64_t>(region.products.size());
  ExpertGemvSchedule schedule;
  schedule.threads = threads;
  schedule.vector =
      dividingPower(region.depth, first.getWeight().getType().getElementType().isF32() ? 4 : 8);
  if (region.sum) {
    schedule.threads = 32 * std::min(region.chosen, warps);
    schedule.columnsPerWarp = 4;
    schedule.tiles = region.rows * llvm::divideCeil(region.columns, schedule.columnsPerWarp);
    return schedule;
  }
  schedule.columnsPerWarp = 1;
  bool byPair = fewShareExperts(region);
  if (!byPair) {
    int64_t expected = llvm::divideCeil(region.pairs(), region.experts);
    int64_t fitting = std::max<int64_t>(mostSums / (products * schedule.vector), 1);
    schedule.pairsAtOnce = std::min<int64_t>(llvm::PowerOf2Ceil(expected), fitting);
  }
  int64_t parts = byPair ? region.pairs() : region.experts;
  schedule.tiles = parts * llvm::divideCeil(region.columns, warps * schedule.columnsPerWarp);
  return schedule;
}

static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours) {
  if (isChoice(kernel))
    return printSchedule(kernel.getContext(), ExpertChoiceKernel::name,
                         chooseExpertChoice(*readExpertChoice(kernel), target));
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
  ExpertGemvSchedule schedule = chooseGemv(*region);
  OrderAttr order = makeOrder(kernel.getContext(), 32 * schedule.vector);
  for (ExpertMatmulOp product : region->products)
    product.setOrderAttr(order);
  return printSchedule(kernel.getContext(), ExpertGemvKernel::name, schedule);
}

const CudaScheduleRule experts = {matches, choose, nullptr, accepts};

} // namespace tenon::kernels::cuda_rules
