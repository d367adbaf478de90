#include "ir/ProductRegion.h"
#include "passes/schedule/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule {

namespace {

/// Rings of two stages of 4 KB a warp; deeper ones gained nothing on an H200, 2026-11-21.
constexpr int64_t stages = 2, stageBytes = 4096, mostWarps = 24;

/// What bulk copies ask of a product.
struct BulkShape {
  explicit BulkShape(MatmulOp op)
      : encoding(*getEncoding(op.getWeight().getType().getElementType())),
        depth(op.getWeight().getType().getShape().back()),
        columns(op.getWeight().getType().getShape().end()[-2]),
        rows(op.getInput().getType().getNumElements() / depth), rowBytes(encoding.bytesFor(depth)),
        vector(encoding.name == "f32" ? 4 : 8),
        inputBytes(rows * llvm::alignTo(depth, 32 * vector) *
                   getEncoding(op.getInput().getType().getElementType())->blockBytes) {}

  const Encoding& encoding;
  int64_t depth, columns, rows, rowBytes, vector, inputBytes;
};

/// Shared memory of a block with `warps` warps.
int64_t smemBytes(const BulkShape& shape, int64_t warps) {
  return warps * stages * (stageBytes + 8) + shape.inputBytes + 1024;
}

/// Why bulk copies do not bring these weights; empty where they can.
std::string refuseBulkCopies(const BulkShape& shape, const CudaTarget& target) {
  constexpr int64_t mostSums = 64; // that a thread's registers hold
  if (!target.bulkCopies)
    return "bulk copies begin with sm_90";
  if (shape.rows * shape.vector > mostSums)
    return "the emitter of products takes at most 8 rows";
  if (shape.depth % 8 != 0 || shape.rowBytes % 16 != 0)
    return "bulk copies take rows of weights of multiples of 16 bytes";
  if (smemBytes(shape, /*warps=*/4) > target.smemBytesPerSm)
    return "the input does not fit into shared memory beside the weights";
  return "";
}

/// Warps of the one block of each multiprocessor: 16, or as many from 12 to 24 as give all warps the
/// same number of rows of W, or nearly. Measured on an H200, 2026-11-21 (bench/cuda, f16, one row,
/// µs): one block of 16 warps against two of 8: 1024x4096 3.4, 4.8; 4096x4096 9.8, 11.0; 6144x4096
/// 14.6, 15.8; 10240x2560 16.9, 19.1; 2048x2048 3.7, 3.5. Against 128 blocks of 8 and of 4 warps:
/// 1024x4096 3.4, 4.9; 512x2048 2.3, 2.5. Even against 16 warps: 2560x2560 5.6, 5.9; 2560x10240
/// 14.9, 18.0; 3072x2048 4.3, 5.1.
int64_t chooseWarps(const BulkShape& shape, int64_t lines, const CudaTarget& target) {
  constexpr int64_t wantedWarps = 16, leastWarps = 12;
  int64_t best = 4, bestCost = std::numeric_limits<int64_t>::max();
  for (int64_t warps = leastWarps; warps <= mostWarps; ++warps) {
    if (smemBytes(shape, warps) > target.smemBytesPerSm)
      break;
    int64_t rounds = llvm::divideCeil(lines, target.sms * warps);
    int64_t cost = rounds * std::max(warps, rounds == 1 ? wantedWarps : 0);
    bool nearer = std::abs(warps - wantedWarps) < std::abs(best - wantedWarps);
    if (cost < bestCost || (cost == bestCost && nearer))
      best = warps, bestCost = cost;
  }
  return best;
}

} // namespace

/// Measured on an H200, 2026-11-21 (bench/cuda, f16, one row, µs, rings against registers):
/// 2048x2048 3.6, 4.1; 3072x2048 5.0, 5.6; 2048x8192 11.3, 13.2; 4096x4096 10.3, 13.0; but
/// 16384x2048 18.7, 17.5; 28672x4096 57.3, 55.2; 128256x2048 135, 119. Blocks, which cost more to
/// decode, gain at many rows too: q8_0 28672x4096 52.8, 72.4.
bool suitsBulkCopies(MatmulOp op, const CudaTarget& target) {
  constexpr int64_t mostRows = 2, mostPlainColumns = 16384;
  if (op.getWeight().getType().getRank() != 2)
    return false;
  BulkShape shape(op);
  return refuseBulkCopies(shape, target).empty() && shape.rows <= mostRows &&
         shape.rowBytes >= 1024 && shape.columns >= 2 * target.sms &&
         (shape.encoding.isBlockQuantized() || shape.columns < mostPlainColumns);
}

ScheduleAttr scheduleBulkCopies(MatmulOp op, int64_t lines, int64_t joined,
                                const CudaTarget& target) {
  BulkShape shape(op);
  int64_t lanes = 32 * shape.vector;
  int64_t step = std::lcm(lanes, shape.encoding.blockSize);
  int64_t piece = std::max<int64_t>(stageBytes / shape.encoding.bytesFor(step), 1) * step;
  while (shape.encoding.bytesFor(piece) % 16 != 0)
    piece -= step;
  op.setOrderAttr(makeOrder(op.getContext(), lanes));
  int64_t warps = chooseWarps(shape, lines * joined, target);
  int64_t tiles = std::min<int64_t>(target.sms, llvm::divideCeil(lines, warps));
  return makeSchedule(op.getContext(), "gemv_bulk", tiles,
                      {{"threads", 32 * warps},
                       {"vector", shape.vector},
                       {"piece_elements", piece},
                       {"stages", stages}});
}

namespace cuda_rules {

static bool hasProduct(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), llvm::IsaPred<MatmulOp>);
}

static std::string explain(KernelOp kernel, const CudaTarget& target) {
  if (!hasProduct(kernel))
    return "";
  ProductRegion region;
  if (std::string reason = readProductRegion(kernel, region); !reason.empty())
    return reason;
  if (region.inputs.size() > 1)
    return "the emitter of several products takes one input";
  return refuseBulkCopies(BulkShape(region.first()), target);
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
  for (const ProductRegion::Group& group : region.groups)
    for (ProductRegion::Product product : group.products)
      product.op->setAttr(partAttrName, scheduleBulkCopies(product.op, group.columns, 1, target));
  for (const ProductRegion::Input& input : region.inputs)
    if (input.norm)
      input.norm->setAttr(partAttrName, scheduleRows(*input.norm));
  return scheduleBulkCopies(region.first(), region.lines, region.joined(), target);
}

const CudaScheduleRule products = {matches, choose, nullptr, explain};

} // namespace cuda_rules

} // namespace tenon::passes::schedule
