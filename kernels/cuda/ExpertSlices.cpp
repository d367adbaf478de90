#include "kernels/cuda/ExpertSlices.h"

using namespace mlir;

namespace tenon::kernels {

static constexpr int64_t floatBytes = 4, barrierBytes = 8, ringAlignment = 128, copyBytes = 16;

static const Encoding& encodingOf(const ExpertRegion& region) {
  return *getEncoding(ExpertMatmulOp(region.gemms.front()).getWeight().getType().getElementType());
}

static int64_t pairsOfExperts(const ExpertRegion& region) {
  return llvm::divideCeil(region.chosen, 2);
}

ExpertSliceShape::ExpertSliceShape(const ExpertRegion& region)
    : encoding(encodingOf(region)), depth(region.depth),
      gemms(static_cast<int64_t>(region.gemms.size())),
      parts(region.sum ? pairsOfExperts(region) : 1),
      unitColumns(region.sum || gemms > 1 ? octet : 2 * octet) {}

int64_t ExpertSliceShape::slices() const { return llvm::divideCeil(depth, sliceElements); }

int64_t ExpertSliceShape::lineBytes() const { return encoding.bytesFor(depth); }

int64_t ExpertSliceShape::pitch() const {
  return lineBytes() + (lineBytes() / copyBytes % 2 == 0 ? copyBytes : 0);
}

int64_t ExpertSliceShape::units(int64_t columns) const {
  return llvm::divideCeil(columns, unitColumns) * parts;
}

int64_t ExpertSliceShape::stageBytes() const { return 2 * octet * pitch(); }

int64_t ExpertSliceShape::bytes(int64_t columns, int64_t groups, int64_t stages) const {
  int64_t sums = units(columns) * slices() * 2 * octet * floatBytes;
  return llvm::alignTo(groups * stages * (stageBytes() + 2 * barrierBytes) + sums, ringAlignment);
}

/// What the kind asks of a region, whatever the target.
static Verdict accepts(const ExpertRegion& region) {
  const Encoding& encoding = encodingOf(region);
  Type input = ExpertMatmulOp(region.gemms.front()).getInput().getType().getElementType();
  if ((!input.isF16() && !input.isBF16()) || encoding.name != "q4_k")
    return Refusal{"expert_slices takes weights of q4_k and inputs of 16 bits"};
  if (region.columns % ExpertSliceShape::octet != 0)
    return Refusal{"expert_slices takes columns in eights, but the region has " +
                   std::to_string(region.columns)};
  return Verdict::accept();
}

/// Of a group that takes so many units in turn: the stage of one is filled again behind the next.
static int64_t leastStages(int64_t turns) { return std::min<int64_t>(turns, 2); }

VerdictOr<ExpertSlicesKernel> ExpertSlicesKernel::read(KernelOp kernel) {
  VerdictOr<ExpertRegion> region = readExpertRegion(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<ExpertSlicesSchedule> schedule =
      parseSchedule<ExpertSlicesSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (Verdict verdict = accepts(*region); !verdict)
    return verdict.refusal();
  ExpertSliceShape shape(*region);
  int64_t warps = shape.slices() * shape.parts;
  if (schedule->threads % (32 * warps) != 0)
    return Refusal{"expects whole groups of " + std::to_string(warps) + " warps, but got " +
                   std::to_string(schedule->threads) + " threads"};
  if (schedule->columns % shape.unitColumns != 0)
    return Refusal{"expects tiles of a multiple of " + std::to_string(shape.unitColumns) +
                   " columns, but got " + std::to_string(schedule->columns)};
  int64_t groups = schedule->threads / 32 / shape.slices();
  int64_t least = leastStages(llvm::divideCeil(shape.units(schedule->columns), groups));
  if (schedule->stages < least)
    return Refusal{"expects at least " + std::to_string(least) +
                   " stages of several units a group, but got " + std::to_string(schedule->stages)};
  return ExpertSlicesKernel{*std::move(region), *schedule, shape};
}

BlockResources ExpertSlicesKernel::resources() const {
  constexpr int64_t ofX = 96; // 32 of x, the sums of two sets of groups, a line of both octets
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.blocksPerSm = 1;
  resources.registers = ofX;
  resources.tensorCores = true;
  resources.dynamicSmemBytes = shape.bytes(schedule.columns, groups(), schedule.stages);
  int64_t results = shape.gemms * (region.sum ? region.chosen : 1) * schedule.columns;
  resources.staticSmemBytes = floatBytes * (results + 2 * region.chosen);
  resources.bytesAThread = groups() * schedule.stages * shape.stageBytes() / schedule.threads;
  return resources;
}

/// Instructions of a warp that multiplies a slice of 16 lines, counted in what ptxas makes of them.
PriceTerms ExpertSlicesKernel::priceTerms() const {
  constexpr int64_t ofUnit = 210;
  PriceTerms terms;
  terms.warpInstructions = schedule.tiles * shape.units(schedule.columns) * shape.slices() * ofUnit;
  return terms;
}

/// Where each pair of a row has its own x a weighted sum may follow, whose warps hold all of it.
bool suitsExpertSlices(const ExpertRegion& region, const CudaTarget& target) {
  int64_t held = region.sharing() == 1 ? pairsOfExperts(region) : 1;
  return target.bulkCopies && accepts(region) && region.fewShareExperts() &&
         ExpertSliceShape(region).slices() * held <= ExpertSliceShape::mostWarps;
}

bool holdsSummed(const ExpertRegion& region) {
  ExpertSliceShape shape(region);
  return shape.slices() * shape.parts <= ExpertSliceShape::mostWarps;
}

/// A block a multiprocessor, or almost, as many columns of a pair or of all that a row sums each;
/// as many groups of warps as have units, and no more than share them out evenly.
ExpertSlicesSchedule chooseExpertSlices(const ExpertRegion& region, const CudaTarget& target) {
  ExpertSliceShape shape(region);
  constexpr int64_t mostStages = 16;
  int64_t parts = region.sum ? region.rows : region.pairs();
  auto columns = static_cast<int64_t>(
      llvm::divideCeil(region.columns, std::max<int64_t>(target.sms / parts, 1)));
  ExpertSlicesSchedule schedule;
  schedule.columns = llvm::alignTo(columns, shape.unitColumns);
  schedule.tiles = parts * llvm::divideCeil(region.columns, schedule.columns);
  int64_t units = shape.units(schedule.columns), ofPart = units / shape.parts;
  int64_t most = std::max<int64_t>((region.sum ? ExpertSliceShape::mostWarps : target.pairWarps) /
                                       (shape.slices() * shape.parts),
                                   1);
  int64_t turns = llvm::divideCeil(ofPart, std::min(most, ofPart));
  int64_t groups = llvm::divideCeil(ofPart, turns) * shape.parts;
  schedule.threads = 32 * groups * shape.slices();
  int64_t room = target.smemBytesPerBlock - ringAlignment;
  schedule.stages = std::min(turns, mostStages);
  while (schedule.stages > leastStages(turns)) {
    BlockResources needs = ExpertSlicesKernel{region, schedule, shape}.resources();
    if (needs.staticSmemBytes + needs.dynamicSmemBytes <= room)
      break;
    --schedule.stages;
  }
  return schedule;
}

namespace kinds {
extern constexpr KernelKind expertSlices = kindOf<ExpertSlicesKernel>();
} // namespace kinds

} // namespace tenon::kernels
