#include "ir/Views.h"
#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/ProductLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

/// What bulk copies ask of a product.
struct BulkShape {
  explicit BulkShape(MatmulOp op)
      : encoding(*getEncoding(op.getWeight().getType().getElementType())),
        depth(op.getWeight().getType().getShape().back()),
        columns(op.getWeight().getType().getShape().end()[-2]),
        rows(op.getInput().getType().getNumElements() / depth), rowBytes(encoding.bytesFor(depth)),
        vector(encoding.name == "f32" ? 4 : 8) {}

  const Encoding& encoding;
  int64_t depth, columns, rows, rowBytes, vector;
};

} // namespace

/// Why bulk copies do not bring these weights; empty where they can.
static std::string refuseBulkCopies(const BulkShape& shape, const CudaTarget& target) {
  constexpr int64_t mostSums = 64; // that a thread's registers hold
  if (!target.bulkCopies)
    return "bulk copies begin with sm_90";
  if (shape.rows * shape.vector > mostSums)
    return "the emitter of products takes at most 8 rows";
  if (shape.depth % 8 != 0 || shape.rowBytes % 16 != 0)
    return "bulk copies take rows of weights of multiples of 16 bytes";
  return "";
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

/// The order of a product, which follows from its weight and input alone: chunks of about 4 KB.
/// Blocks are multiplied on tensor cores where the input has 16 bits, in chunks that a warp holds of
/// x, of whole rounds if possible.
static OrderAttr chooseOrder(MatmulOp op) {
  BulkShape shape(op);
  Type input = op.getInput().getType().getElementType();
  int64_t lanes = 32 * shape.vector;
  if (shape.encoding.isBlockQuantized() && !input.isF32()) {
    constexpr int64_t mostElements = 3072, round = 1024;
    int64_t chunk = chooseChunk(shape, llvm::divideCeil(shape.depth, mostElements), round);
    return OrderAttr::get(op.getContext(), chunk, lanes, CombineTree::TensorCores);
  }
  constexpr int64_t mostBytes = 5120;
  int64_t chunk = chooseChunk(shape, llvm::divideCeil(shape.rowBytes, mostBytes), /*unit=*/1);
  return OrderAttr::get(op.getContext(), chunk, lanes, CombineTree::Halving);
}

static bool isAttention(Operation* op) {
  auto kernel = llvm::dyn_cast_or_null<KernelOp>(op);
  return kernel && llvm::any_of(kernel.getBlock(), llvm::IsaPred<AttentionOp>);
}

/// Whether attention reads `value`, itself or a view of it.
static bool feedsAttention(Value value) {
  llvm::SmallVector<Value> views = {value};
  while (!views.empty())
    for (Operation* user : views.pop_back_val().getUsers()) {
      if (isAttention(user))
        return true;
      if (isView(user))
        llvm::append_range(views, user->getResults());
    }
  return false;
}

/// Whether attention stands right before or behind a kernel, so that blocks of both share
/// multiprocessors.
static bool isBesideAttention(KernelOp kernel) {
  auto comesFromAttention = [](Value input) {
    return isAttention(getViewSource(input).getDefiningOp());
  };
  return llvm::any_of(kernel.getInputs(), comesFromAttention) ||
         llvm::any_of(kernel->getResults(), feedsAttention);
}

namespace {

/// Finds the schedule of a region.
class BulkSchedule {
public:
  BulkSchedule(const ProductRegion& region, const CudaTarget& target, bool isBeside)
      : region(region), target(target), vector(BulkShape(region.first()).vector), holds(!isBeside) {
  }

  ScheduleAttr choose();

private:
  static constexpr int64_t mostWarps = 16, leastStages = 2;

  ScheduleAttr makeWith(int64_t stages, int64_t early, bool held);
  ScheduleAttr make(int64_t stages, int64_t early);
  void chooseBatch();

  const ProductRegion& region;
  const CudaTarget& target;
  int64_t vector, warps = mostWarps, batch = 1;
  bool holds;           ///< x, where the emitter can
  ProductLayout layout; ///< of the last schedule that was made
};

} // namespace

/// Null where the emitter cannot do it or shared memory does not hold it.
ScheduleAttr BulkSchedule::makeWith(int64_t stages, int64_t early, bool held) {
  ScheduleAttr schedule =
      makeSchedule(region.first()->getContext(), "gemv_bulk", std::min(target.sms, region.lines),
                   {{"threads", 32 * warps},
                    {"vector", vector},
                    {"stages", stages},
                    {"early", early < stages ? early : 0},
                    {"held", held ? 1 : 0},
                    {"batch", batch > 1 ? batch : 0}});
  bool fits = layOutProducts(region, schedule, layout, chooseOrder).empty() &&
              layout.smemBytes <= target.smemBytesPerBlock;
  return fits ? schedule : ScheduleAttr();
}

ScheduleAttr BulkSchedule::make(int64_t stages, int64_t early) {
  ScheduleAttr held = holds ? makeWith(stages, early, /*held=*/true) : ScheduleAttr();
  return held ? held : makeWith(stages, early, /*held=*/false);
}

/// On tensor cores: as many warps as leave each one part of x, and two of its segments at once, which
/// the instructions that multiply take for the price of one.
void BulkSchedule::chooseBatch() {
  if (!layout.onTensorCores || layout.segments > mostWarps)
    return;
  warps = mostWarps / layout.segments * layout.segments;
  int64_t ofWarp = llvm::divideCeil(layout.linesPerTile * layout.segments, warps);
  batch = ofWarp > 1 ? 2 : 1;
  holds = ofWarp > batch;
  if (!make(leastStages, leastStages))
    batch = 1;
}

/// One block a multiprocessor, of more than half of its shared memory (of quants about half), so
/// that no two of a kernel's blocks ever share one: where they fit, blocks that start while those of the kernel before leave
/// do, others have no weights on their way meanwhile, and the step takes up to a third longer
/// (H200, 2026-11-21, Pythia-2.8B f16: rings of 80 KB 2.23 ms a step, of 160 KB 1.67).
///
/// Before the kernel waits, a part of a ring is filled, lest x wait for the rest: less of blocks, of which a
/// byte is more work behind x. Warps hold x where they can, but not beside attention, whose blocks need the
/// registers, nor on tensor cores for a single turn.
ScheduleAttr BulkSchedule::choose() {
  constexpr int64_t mostStages = 8;
  if (!make(leastStages, leastStages))
    return ScheduleAttr();
  chooseBatch();
  if (!make(leastStages, leastStages))
    return ScheduleAttr();
  auto stagesOf = [&](int64_t bytes) -> int64_t {
    return llvm::divideCeil(bytes, warps * layout.stageBytes);
  };
  bool quants = layout.onTensorCores;
  int64_t ring = stagesOf(quants ? target.quantsRingBytes : target.bulkRingBytes);
  int64_t stages = std::clamp(ring, leastStages, mostStages);
  int64_t early = stagesOf(quants ? target.quantsEarlyBytes : target.bulkEarlyBytes);
  if (ScheduleAttr schedule = make(stages, early))
    return schedule;
  return make(leastStages, early);
}

/// The schedule of a region; null where its inputs do not fit into shared memory beside the rings.
static ScheduleAttr scheduleRegion(const ProductRegion& region, const CudaTarget& target,
                                   bool isBeside) {
  return BulkSchedule(region, target, isBeside).choose();
}

ScheduleAttr scheduleBulkCopies(MatmulOp op, const CudaTarget& target) {
  op.setOrderAttr(chooseOrder(op));
  return scheduleRegion(regionOfProduct(op), target,
                        isBesideAttention(op->getParentOfType<KernelOp>()));
}

/// Measured on an H200, 2026-11-21 (bench/cuda, f16, one row, µs, rings against registers):
/// 2048x2048 3.6, 4.1; 3072x2048 5.0, 5.6; 2048x8192 11.3, 13.2; 4096x4096 10.3, 13.0.
bool suitsBulkCopies(MatmulOp op, const CudaTarget& target) {
  constexpr int64_t mostRows = 2;
  if (op.getWeight().getType().getRank() != 2)
    return false;
  BulkShape shape(op);
  return refuseBulkCopies(shape, target).empty() && shape.rows <= mostRows &&
         shape.rowBytes >= 1024 && shape.columns >= 2 * target.sms &&
         scheduleRegion(regionOfProduct(op), target, /*isBeside=*/false);
}

namespace cuda_rules {

static bool hasProduct(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), llvm::IsaPred<MatmulOp>);
}

/// One row is memory's business alone, and two nearly: bulk copies serve them better.
static bool suitsNarrowGemm(const ProductRegion& region, const CudaTarget& target) {
  return (region.rows > 2 || !target.bulkCopies) && refuseNarrowGemm(region, target).empty();
}

/// The schedule of a region of several rows, `product` of it or all.
static ScheduleAttr scheduleOnTensorCores(const ProductRegion& region, MatmulOp product,
                                          const CudaTarget& target) {
  if (!suitsHeldGemm(region, target))
    return product ? scheduleNarrowGemm(product, target) : scheduleNarrowGemm(region, target);
  if (!product)
    return scheduleHeldGemm(region, target);
  product.removeOrderAttr(); // tensor cores have none
  return scheduleHeldGemm(regionOfProduct(product), target);
}

static std::string explain(KernelOp kernel, const CudaTarget& target) {
  if (!hasProduct(kernel))
    return "";
  ProductRegion region;
  if (std::string reason = readProductRegion(kernel, region); !reason.empty())
    return reason;
  constexpr int64_t mostBulkRows = 8; // of 16 bits; more are the business of tensor cores
  if (suitsHopperGemm(region, target))
    return "";
  if (suitsNarrowGemm(region, target) || suitsHeldGemm(region, target))
    return "";
  for (const ProductRegion::Group& group : region.groups)
    for (ProductRegion::Product product : group.products)
      if (std::string reason = refuseBulkCopies(BulkShape(product.op), target); !reason.empty())
        return region.rows > mostBulkRows ? refuseNarrowGemm(region, target) : reason;
  return scheduleRegion(region, target, /*isBeside=*/false)
             ? ""
             : "the inputs do not fit into shared memory beside the weights";
}

/// Regions that the rule `matmul` leaves: several products, or something before them.
static bool matches(KernelOp kernel, const CudaTarget& target) {
  return hasProduct(kernel) && explain(kernel, target).empty();
}

/// Each operation keeps the schedule that it has alone, so that the region can be cut into kernels
/// with the same orders.
static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target) {
  ProductRegion region;
  [[maybe_unused]] std::string reason = readProductRegion(kernel, region);
  assert(reason.empty() && "the rule matches");
  if (suitsHopperGemm(region, target)) {
    for (ProductRegion::Product product : region.groups.front().products) {
      product.op.removeOrderAttr(); // tensor cores have none
      product.op->setAttr(partAttrName, scheduleHopperGemm(regionOfProduct(product.op), target));
    }
    return scheduleHopperGemm(region, target);
  }
  bool several = suitsNarrowGemm(region, target) || suitsHeldGemm(region, target);
  for (const ProductRegion::Group& group : region.groups)
    for (ProductRegion::Product product : group.products)
      product.op->setAttr(partAttrName, several ? scheduleOnTensorCores(region, product.op, target)
                                                : scheduleBulkCopies(product.op, target));
  for (const ProductRegion::Input& input : region.inputs)
    if (input.norm)
      input.norm->setAttr(partAttrName, scheduleRows(*input.norm, target));
  return several ? scheduleOnTensorCores(region, nullptr, target)
                 : scheduleRegion(region, target, isBesideAttention(kernel));
}

const CudaScheduleRule products = {matches, choose, nullptr, explain, bulkAlternatives};

} // namespace cuda_rules

} // namespace tenon::kernels
