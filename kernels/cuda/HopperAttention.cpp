#include "kernels/cuda/HopperAttention.h"

#include "kernels/Schedules.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static constexpr int64_t planeElements = 64, elementBytes = 2;

bool HopperAttentionSchedule::isPossible() const {
  constexpr int64_t unit = 16, swizzledRows = 8;
  return llvm::has_single_bit<uint64_t>(heads) && rows() % (heads * swizzledRows) == 0 &&
         keys % unit == 0;
}

/// Whether each row has a sequence of its own, so that chunks are found at run time.
static bool findsChunks(const AttentionExtents& extents) { return extents.rowsOfSequence == 1; }

int64_t HopperAttentionSchedule::units(const AttentionExtents& extents) const {
  int64_t sequences = findsChunks(extents) ? 1 : extents.sequences;
  return sequences * llvm::divideCeil(extents.rows / sequences, positions()) *
         (extents.heads / heads);
}

int64_t HopperAttentionSchedule::mostUnits(const AttentionExtents& extents) const {
  return findsChunks(extents) ? extents.rows * (extents.heads / heads) : units(extents);
}

int64_t HopperAttentionSchedule::rounds(const AttentionExtents& extents) const {
  return findsChunks(extents) ? llvm::divideCeil(mostUnits(extents), tiles) : 0;
}

int64_t HopperAttentionSchedule::stageBytes(int64_t keySize, int64_t valueSize) const {
  return keys * elementBytes *
         (llvm::alignTo(keySize, planeElements) + llvm::alignTo(valueSize, planeElements));
}

int64_t HopperAttentionSchedule::smemBytes(const AttentionExtents& extents) const {
  constexpr int64_t unit = 1024, barrierBytes = 8, wordBytes = 4;
  constexpr int64_t listWords = 3 + 32; // beside a row a round: counts, what threads exchange
  int64_t keySize = extents.keySize, valueSize = extents.valueSize, most = rounds(extents);
  int64_t queryBytes = rows() * elementBytes * llvm::alignTo(keySize, planeElements);
  int64_t rangeBytes = wordBytes * (2 * positions() + 4);
  int64_t listBytes = most > 0 ? llvm::alignTo(wordBytes * (most + listWords), unit) : 0;
  return listBytes + llvm::alignTo(stages * (stageBytes(keySize, valueSize) + 4 * barrierBytes) +
                                       queryStages * (queryBytes + rangeBytes + 2 * barrierBytes),
                                   unit);
}

/// Whether scores are the scaled products alone, and their sum what weights are divided by.
static bool hasPlainScores(AttentionOp op) {
  return !op.getBias() && !op.getSlopes() && !op.getSinks();
}

VerdictOr<HopperAttentionKernel> HopperAttentionKernel::read(KernelOp kernel) {
  auto op = soleOp<AttentionOp>(kernel);
  if (!op)
    return Refusal{"expects a region of one tenon.attention for the emitter hopper_attention"};
  VerdictOr<HopperAttentionSchedule> schedule =
      parseSchedule<HopperAttentionSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (!schedule->isPossible())
    return Refusal{"expects a tile that warpgroups can have, but got " +
                   typed::print(kernel.getScheduleAttr())};
  if (!hasPlainScores(op))
    return Refusal{"expects attention without bias, slopes and sinks for the emitter "
                   "hopper_attention"};
  constexpr int64_t mostSize = 256;
  AttentionExtents extents(op);
  if (extents.keySize > mostSize || extents.valueSize > mostSize)
    return Refusal{"expects heads of at most 256 elements for the emitter hopper_attention"};
  int64_t sharing = extents.sharing();
  if (sharing % schedule->heads != 0)
    return Refusal{"expects heads_per_tile to divide the " + std::to_string(sharing) +
                   " query heads of a key head, but got " + std::to_string(schedule->heads)};
  int64_t units = schedule->mostUnits(extents);
  if (schedule->tiles > units)
    return Refusal{"expects at most a block for each of " + std::to_string(units) +
                   " tiles, but got " + std::to_string(schedule->tiles)};
  return HopperAttentionKernel{op, *schedule};
}

BlockResources HopperAttentionKernel::resources() const {
  AttentionExtents extents(op);
  BlockResources resources;
  resources.threads = schedule.threads();
  resources.registers = BlockResources::mostRegisters;
  resources.blocksPerSm = 1;
  resources.tensorCores = true;
  resources.dynamicSmemBytes = schedule.smemBytes(extents);
  resources.bytesAThread =
      schedule.stages * schedule.stageBytes(extents.keySize, extents.valueSize) / resources.threads;
  return resources;
}

/// Weights take exponentials beside the tensor cores: their rate falls with the head's size as a
/// GEMM's does with the width of its tile. 128 rows and 128 keys of heads of 64, 80, 128 and 256
/// took a multiprocessor 1.21, 1.43, 1.57 and 2.42 µs, and by this 1.19, 1.29, 1.59 and 3.18 (H200,
/// 2026-11-23, docs/notebook/2026-11-23-hopper-attention.md).
PriceTerms HopperAttentionKernel::priceTerms() const {
  AttentionExtents extents(op);
  PriceTerms terms;
  terms.warpgroups = {schedule.units(extents), schedule.rows(), extents.keySize};
  return terms;
}

/// Query heads of a tile, a power of two of those that share a key head: the fewer positions a tile
/// has, the fewer keys are only some of its rows', and blocks that run at one time read the same
/// keys. Three warpgroups take fewer keys and values from the L2 cache for each row, where their
/// tiles are so many that the last ones leave no multiprocessor idle for long. Measured, causal, 32
/// query and 8 key heads, two warpgroups and three, µs: heads of 64 at 512, 1,024, 2,048 and 8,192
/// rows 9.4, 17.1, 49.5, 642 and 11.3, 18.1, 46.3, 528; heads of 128 11.7, 21.9, 65.5, 882 and
/// 14.4, 23.2, 65.7, 783 (H200, 2026-11-23, docs/notebook/2026-11-23-hopper-attention.md). Three
/// with soft-caps would spill.
std::optional<HopperAttentionSchedule> chooseHopperAttention(AttentionOp op,
                                                             const CudaTarget& target) {
  constexpr int64_t mostHeads = 8; // leaves whole swizzled rows of each
  AttentionExtents extents(op);
  int64_t size = std::max(extents.keySize, extents.valueSize);
  int64_t heads = dividingPower(extents.sharing(), mostHeads);
  // Consumers, heads, keys, stages, stages of queries.
  HopperAttentionSchedule small = {0, 2, heads, 128, 3, 2}, large = {0, 3, heads, 128, 3, 2};
  int64_t rounds = 2; // of large tiles at least
  if (size > 128) {
    small = large = {0, 2, heads, 80, 2, 1};
  } else if (size > 64) {
    small = {0, 2, heads, 128, 2, 2};
    large = {0, 3, heads, 80, 2, 2};
    rounds = 4;
  }
  bool isLarge = op.getSoftcap().isZero() && large.units(extents) >= rounds * target.sms;
  HopperAttentionSchedule schedule = isLarge ? large : small;
  schedule.tiles = std::min(schedule.mostUnits(extents), target.sms);
  if (!target.warpgroups || !hasPlainScores(op) ||
      schedule.smemBytes(extents) > target.smemBytesPerBlock)
    return std::nullopt;
  return schedule;
}

namespace kinds {
extern constexpr KernelKind hopperAttention = kindOf<HopperAttentionKernel>();
} // namespace kinds

} // namespace tenon::kernels
