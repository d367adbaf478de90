#include "kernels/cuda/GemvBulk.h"

#include <numeric>

#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/Gemv.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

/// What bulk copies ask of a GEMM.
struct BulkShape {
  explicit BulkShape(MatmulOp op)
      : encoding(*getEncoding(op.getWeight().getType().getElementType())),
        depth(op.getWeight().getType().getShape().back()),
        columns(op.getWeight().getType().getShape().end()[-2]),
        rows(op.getInput().getType().getNumElements() / depth), matrix(encoding, columns, depth),
        vector(encoding.name == "f32" ? 4 : 8) {
    matrix.skips &= isOnTensorCores(op);
  }

  /// Blocks are multiplied on tensor cores where the input has 16 bits.
  bool isOnTensorCores(MatmulOp op) const {
    return encoding.isBlockQuantized() && !op.getInput().getType().getElementType().isF32();
  }

  const Encoding& encoding;
  int64_t depth, columns, rows;
  BulkRows matrix;
  int64_t vector;
};

} // namespace

VerdictOr<GemvBulkKernel> GemvBulkKernel::read(KernelOp kernel) {
  VerdictOr<GemmRegion> region = readGemmRegion(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<GemvBulkSchedule> schedule = parseSchedule<GemvBulkSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  VerdictOr<GemvBulkLayout> layout = layOutGemvBulk(*region, *schedule);
  if (!layout)
    return layout.refusal();
  return GemvBulkKernel{*std::move(region), *schedule, *std::move(layout)};
}

/// Rings of the warps, the inputs and the sums (GemvBulkLayout).
BlockResources GemvBulkKernel::resources() const {
  bool isBlockQuantized =
      getEncoding(region.first().getWeight().getType().getElementType())->isBlockQuantized();
  constexpr int64_t least = 72, leastOfBlocks = 112; // words of a block and their parts
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.registers = std::max(registersOfSums(region.rows * layout.vector),
                                 isBlockQuantized ? leastOfBlocks : least);
  // Weights of norms and x wait in registers; the rings leave a multiprocessor one block all the
  // same.
  bool hasNorm =
      llvm::any_of(region.inputs, [](const GemmRegion::Input& input) { return input.norm; });
  // Rows of x share the loads of quants, beyond the registers that a second block would leave.
  bool sharesQuants = layout.onTensorCores && region.rows > 1;
  resources.blocksPerSm = sharesQuants ? 1 : 0;
  if (hasNorm || layout.held || sharesQuants)
    resources.registers = BlockResources::mostRegisters;
  resources.dynamicSmemBytes = layout.smemBytes;
  resources.bytesAThread = layout.stages * layout.stageBytes / 32;
  return resources;
}

/// Beside one row, of which steps of models have these measured; more rows are priced as if nothing
/// were hidden. Of quants on tensor cores instructions, 2.6 for each element that a thread has (307
/// to 342 for 4,096 elements of Q4_K, docs/decisions/0009-blocks-on-tensor-cores.md).
PriceTerms GemvBulkKernel::priceTerms() const {
  constexpr int64_t lanes = 32, tenth = 10, ofElement = 26;
  PriceTerms terms;
  terms.keepsRingsFull = region.rows == 1;
  if (layout.onTensorCores && region.rows == 1) {
    int64_t elements = 0;
    for (const GemmRegion::Group& group : region.groups)
      for (GemmRegion::Gemm gemm : group.gemms)
        elements += gemm.op.getWeight().getType().getNumElements();
    terms.warpInstructions = elements * ofElement / (tenth * lanes);
  }
  return terms;
}

static Verdict accepts(const BulkShape& shape, const CudaTarget& target) {
  constexpr int64_t mostSums = 64; // that a thread's registers hold
  if (!target.bulkCopies)
    return Refusal{"bulk copies begin with sm_90"};
  if (shape.rows * shape.vector > mostSums)
    return Refusal{"the emitter of products takes at most 8 rows"};
  if (shape.depth % 8 != 0 || !(shape.matrix.areAligned() || shape.matrix.skips))
    return Refusal{
        "bulk copies take rows of weights of multiples of 16 bytes, or of 4 whose quants "
        "tensor cores multiply"};
  return Verdict::accept();
}

Verdict acceptsBulkCopies(MatmulOp op, const CudaTarget& target) {
  return accepts(BulkShape(op), target);
}

/// Elements of the chunks in which warps bring a row, at least `least` of them, in whole lanes and
/// blocks and multiples of 16 bytes; of equal length in multiples of `unit` where there is such a
/// cut.
static int64_t chooseChunk(const BulkShape& shape, int64_t least, int64_t unit) {
  int64_t step = std::lcm(32 * shape.vector, shape.encoding.blockSize);
  while (shape.encoding.bytesFor(step) % 16 != 0)
    step *= 2;
  for (int64_t parts = least; parts <= 2 * least; ++parts)
    if (shape.depth % (parts * std::lcm(step, unit)) == 0)
      return parts == 1 ? 0 : shape.depth / parts;
  int64_t chunk = llvm::alignTo(llvm::divideCeil(shape.depth, least), step);
  return chunk >= shape.depth ? 0 : chunk;
}

/// The order of a GEMM, which follows from its weight and input alone: chunks of about 4 KB.
/// On tensor cores they are those that a warp holds of x, of whole rounds if possible.
OrderAttr orderForBulkCopies(MatmulOp op) {
  BulkShape shape(op);
  int64_t lanes = 32 * shape.vector;
  if (shape.isOnTensorCores(op)) {
    constexpr int64_t mostElements = 3072, round = 1024;
    int64_t chunk = chooseChunk(shape, llvm::divideCeil(shape.depth, mostElements), round);
    return OrderAttr::get(op.getContext(), chunk, lanes, CombineTree::TensorCores);
  }
  constexpr int64_t mostBytes = 5120;
  int64_t chunk =
      chooseChunk(shape, llvm::divideCeil(shape.matrix.rowBytes, mostBytes), /*unit=*/1);
  return OrderAttr::get(op.getContext(), chunk, lanes, CombineTree::Halving);
}

namespace {

/// Finds the schedule of a region.
class BulkSchedule {
public:
  BulkSchedule(const GemmRegion& region, const CudaTarget& target, Neighbours neighbours)
      : region(region), target(target), vector(BulkShape(region.first()).vector),
        holds(!neighbours.attention) {}

  VerdictOr<GemvBulkSchedule> choose();

private:
  static constexpr int64_t mostWarps = 16, leastStages = 2;

  bool makeWith(int64_t stages, int64_t early, bool held);
  bool make(int64_t stages, int64_t early);
  void chooseBatch();

  const GemmRegion& region;
  const CudaTarget& target;
  int64_t vector, warps = mostWarps, batch = 1;
  bool holds;                ///< x, where the emitter can
  GemvBulkSchedule schedule; ///< the last that was made
  GemvBulkLayout layout;     ///< of it
};

} // namespace

/// False where the emitter cannot do it or shared memory does not hold it.
bool BulkSchedule::makeWith(int64_t stages, int64_t early, bool held) {
  schedule.tiles = std::min(target.sms, region.lines);
  schedule.threads = 32 * warps;
  schedule.vector = vector;
  schedule.stages = stages;
  schedule.early = early < stages ? early : 0;
  schedule.held = held ? 1 : 0;
  schedule.batch = batch;
  VerdictOr<GemvBulkLayout> found = layOutGemvBulk(region, schedule, orderForBulkCopies);
  if (!found)
    return false;
  layout = *std::move(found);
  return layout.smemBytes <= target.smemBytesPerBlock;
}

bool BulkSchedule::make(int64_t stages, int64_t early) {
  return (holds && makeWith(stages, early, /*held=*/true)) ||
         makeWith(stages, early, /*held=*/false);
}

/// On tensor cores: as many warps as leave each one part of x, and two of its segments at once,
/// which the instructions that multiply take for the price of one. A warp of few segments takes
/// them one by one where two at once, of which a stage is on its way before the kernel waits, are
/// many bytes: x waits for them (H200, 2026-11-26, gpt-oss-20b, rows of 2,880 and 4,096 elements in
/// Q8_0: Q, K and V 1.434 and 1.397 ms a step, the output projection too 1.357; of the 8B in Q8_0,
/// where all products but that one have more segments, all one by one 2.256 and 2.278).
void BulkSchedule::chooseBatch() {
  if (!layout.onTensorCores || layout.segments > mostWarps)
    return;
  warps = mostWarps / layout.segments * layout.segments;
  int64_t ofWarp = llvm::divideCeil(layout.linesPerTile * layout.segments, warps);
  constexpr int64_t fewSegments = 3;
  bool waits = 2 * warps * layout.pieceBytes > target.bulkEarlyBytes;
  batch = ofWarp == 1 || (waits && ofWarp <= fewSegments) ? 1 : 2;
  holds = ofWarp > batch;
  if (!make(leastStages, leastStages))
    batch = 1;
}

/// One block a multiprocessor, of more than half of its shared memory (of quants about half), so
/// that no two of a kernel's blocks ever share one: where they fit, blocks that start while those
/// of the kernel before leave do, others have no weights on their way meanwhile, and the step takes
/// up to a third longer (H200, 2026-11-21, Pythia-2.8B f16: rings of 80 KB 2.23 ms a step, of 160
/// KB 1.67).
///
/// Before the kernel waits, a part of a ring is filled, lest x wait for the rest: less of blocks,
/// of which a byte is more work after x. Warps hold x where they can, but not beside attention,
/// whose blocks need the registers, nor on tensor cores for a single turn.
///
/// Blocks of one line have one stage: there is nothing to bring while their warps multiply, and
/// they are there earlier (H200, 2026-11-28, routers of Qwen3-30B-A3B Q4_K: 0.31 µs a layer).
VerdictOr<GemvBulkSchedule> BulkSchedule::choose() {
  constexpr int64_t mostStages = 8;
  const Refusal refusal = {"the inputs do not fit into shared memory beside the weights"};
  if (!make(leastStages, leastStages))
    return refusal;
  chooseBatch();
  if (!make(leastStages, leastStages))
    return refusal;
  if (!layout.onTensorCores && layout.linesPerTile == 1 && layout.segments <= warps) {
    if (!make(1, 1))
      return refusal;
    return schedule;
  }
  auto stagesOf = [&](int64_t bytes) -> int64_t {
    return llvm::divideCeil(bytes, warps * layout.stageBytes);
  };
  bool quants = layout.onTensorCores;
  int64_t ring = stagesOf(quants ? target.quantsRingBytes : target.bulkRingBytes);
  int64_t stages = std::clamp(ring, leastStages, mostStages);
  int64_t early = stagesOf(quants ? target.quantsEarlyBytes : target.bulkEarlyBytes);
  if (!make(stages, early) && !make(leastStages, early))
    return refusal;
  return schedule;
}

VerdictOr<GemvBulkSchedule> chooseGemvBulk(const GemmRegion& region, const CudaTarget& target,
                                           Neighbours neighbours) {
  return BulkSchedule(region, target, neighbours).choose();
}

/// Measured on an H200, 2026-11-21 (bench/cuda, f16, one row, µs, rings against registers):
/// 2048x2048 3.6, 4.1; 3072x2048 5.0, 5.6; 2048x8192 11.3, 13.2; 4096x4096 10.3, 13.0.
bool suitsBulkCopies(MatmulOp op, const CudaTarget& target) {
  constexpr int64_t mostRows = 2;
  if (op.getWeight().getType().getRank() != 2)
    return false;
  BulkShape shape(op);
  return accepts(shape, target) && shape.rows <= mostRows && shape.matrix.rowBytes >= 1024 &&
         shape.columns >= 2 * target.sms && chooseGemvBulk(regionOfGemm(op), target, Neighbours());
}

/// True where a block of that schedule fits a multiprocessor.
static bool fits(KernelOp kernel, const GemmRegion& region, const GemvBulkSchedule& schedule,
                 const CudaTarget& target) {
  VerdictOr<GemvBulkLayout> layout = layOutGemvBulk(region, schedule);
  return layout && fitsBlock(kernel, GemvBulkKernel{region, schedule, *layout}.resources(), target);
}

llvm::SmallVector<ScheduleAttr> gemvBulkAlternatives(KernelOp kernel, const CudaTarget& target) {
  llvm::SmallVector<ScheduleAttr> others;
  if (kernel.getScheduleAttr().getEmitter() != GemvBulkKernel::name)
    return others;
  VerdictOr<GemvBulkKernel> own = GemvBulkKernel::read(kernel);
  if (!own)
    return others;
  auto addOther = [&](const GemvBulkSchedule& schedule) {
    ScheduleAttr other = printSchedule(kernel->getContext(), GemvBulkKernel::name, schedule);
    if (other != kernel.getScheduleAttr() && !llvm::is_contained(others, other) &&
        fits(kernel, own->region, schedule, target))
      others.push_back(other);
  };
  auto add = [&](int64_t warps, int64_t depth, int64_t early) {
    GemvBulkSchedule other = own->schedule;
    other.threads = 32 * warps;
    other.stages = depth;
    other.early = early < depth ? early : 0;
    addOther(other);
  };
  int64_t ownWarps = own->layout.warps, stages = own->schedule.stages;
  for (int64_t depth : {stages / 2, stages, 2 * stages}) {
    constexpr int64_t leastStages = 2; // one to read from, one on its way
    if (depth < leastStages)
      continue;
    for (int64_t warps : {4, 8, 12, 16, 20})
      add(warps, depth, own->schedule.early == 0 ? depth : own->schedule.early);
    for (int64_t early : {depth / 2, depth})
      add(ownWarps, depth, early);
  }
  if (own->schedule.batch > 1) {
    GemvBulkSchedule wide = own->schedule;
    wide.batch = 4, wide.stages = 2, wide.early = 1;
    addOther(wide);
  }
  return others;
}

namespace kinds {
extern constexpr KernelKind gemvBulk = kindOf<GemvBulkKernel>();
} // namespace kinds

} // namespace tenon::kernels
