#include "kernels/cuda/TensorDecodeAttention.h"

#include "kernels/cuda/DecodeRing.h"
#include "kernels/regions/AttentionExtents.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static constexpr int64_t floatBytes = 4, wordBytes = 16, halfBytes = 2;

/// Whether the caches hold quants, and scales.
static bool areQuants(AttentionOp op) { return KvCache(op.getKey().getType()).isQuantized(); }

/// Bytes of shared memory that a step of a warp takes in its ring.
static int64_t stageBytes(AttentionOp op) {
  KvCache keys(op.getKey().getType()), values(op.getValue().getType());
  if (!areQuants(op))
    return decodeStageBytes(keys.size, values.size);
  return decodeQuantStageBytes(keys.headBytes() - floatBytes, values.headBytes() - floatBytes);
}

VerdictOr<TensorDecodeKernel> TensorDecodeKernel::read(KernelOp kernel) {
  constexpr int64_t mostSize = 256;
  VerdictOr<AttentionRegion> region = readAttentionRegion(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<TensorDecodeSchedule> schedule =
      parseSchedule<TensorDecodeSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (schedule->sets > 1 && schedule->stages > 0)
    return Refusal{"expects keys and values in a ring or in two sets of registers, but got " +
                   typed::print(kernel.getScheduleAttr())};
  AttentionExtents extents(region->attention);
  if (areQuants(region->attention) &&
      (schedule->stages == 0 || schedule->sets > 1 || schedule->runBytes > 0))
    return Refusal{"expects quants in a ring, but got " + typed::print(kernel.getScheduleAttr())};
  if (areQuants(region->attention) && region->writesCache())
    return Refusal{"expects caches of plain elements where attention writes them, but got " +
                   detail::formatType(region->attention.getKey().getType())};
  if (int64_t size = std::max(extents.keySize, extents.valueSize); size > mostSize)
    return Refusal{"expects heads of at most 256 elements, but got " + std::to_string(size)};
  if (region->writesCache() && region->query.rows > mostMadeRows)
    return Refusal{"expects at most " + std::to_string(mostMadeRows) +
                   " rows with cache writes, but got " + std::to_string(region->query.rows)};
  return TensorDecodeKernel{*std::move(region), *schedule};
}

/// Of each warp the ring, or the sums that take its place, largest score and total; the last key's
/// scores; the queries; the keys and values that the kernel makes, with their places, and the last
/// one.
static int64_t decodeBytes(AttentionOp op, const AttentionExtents& sizes, int64_t heads,
                           int64_t warps, int64_t stages, int64_t madeRows) {
  constexpr int64_t mostHeads = 8, sumPadding = 4, queryPadding = 16, placeBytes = 4;
  int64_t scaleBytes = areQuants(op) ? 2 * floatBytes : 0; // of the last key and value
  int64_t stored = madeRows + 1;
  int64_t sums = floatBytes * heads * (sizes.valueSize + sumPadding);
  int64_t ring = std::max(stages * stageBytes(op), sums);
  int64_t ofWarps = warps * (ring + floatBytes * 2 * mostHeads) + floatBytes * mostHeads;
  int64_t rows = halfBytes * (heads * (sizes.keySize + queryPadding) +
                              stored * (sizes.keySize + sizes.valueSize));
  return llvm::alignTo(ofWarps + rows + placeBytes * stored + scaleBytes, wordBytes);
}

/// Of the parts of a row the largest scores and totals; in a cluster also this block's run of the
/// sums, a barrier, and how long runs are.
static int64_t exchangeBytes(const AttentionExtents& sizes, int64_t heads, int64_t splits,
                             bool cluster) {
  constexpr int64_t barrierBytes = 8, lengthBytes = 8;
  int64_t runs = cluster ? heads * sizes.valueSize * floatBytes + splits * wordBytes +
                               barrierBytes + lengthBytes
                         : 0;
  return llvm::alignTo(runs + 2 * floatBytes * splits * heads, wordBytes);
}

/// Turns of the row's pairs, and what each warp normalises: a head and the lanes of its sum.
static int64_t chainBytes(AttentionRegion region, int64_t warps) {
  int64_t bytes = 0, size = 0, lanes = 0;
  for (RopeOp rope : region.distinctRopes())
    bytes += llvm::alignTo(2 * floatBytes * rope.getInverseFrequencies().getType().getNumElements(),
                           wordBytes);
  for (HeadRegion::Chain* chain : {&region.query, &region.key, &region.value})
    if (chain->norm && chain->norm.getOrderAttr()) {
      size = std::max(size, chain->size);
      lanes = std::max(lanes, chain->norm.getOrderAttr().getLanes());
    }
  return bytes + warps * floatBytes * llvm::alignTo(size + lanes, wordBytes / floatBytes);
}

BlockResources TensorDecodeKernel::resources() const {
  constexpr int64_t arrivalBytes = 1; // whether a block arrived last, where several share a row
  constexpr int64_t narrow = 32, registersOfNarrow = 128;
  AttentionExtents extents(region.attention);
  int64_t warps = schedule.threads / 32;
  bool cluster = schedule.clusterBlocks > 1;
  int64_t made = AttentionRegion(region).writesCache() ? region.query.rows : 0;
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.blocksPerSm = schedule.blocksPerSm;
  resources.registers = std::max(extents.keySize, extents.valueSize) <= narrow
                            ? registersOfNarrow
                            : BlockResources::mostRegisters;
  resources.tensorCores = true;
  AttentionOp op = region.attention;
  resources.bytesAThread =
      std::max(schedule.stages, schedule.sets) * decodeStepKeys *
      (KvCache(op.getKey().getType()).headBytes() + KvCache(op.getValue().getType()).headBytes()) /
      32;
  resources.dynamicSmemBytes =
      decodeBytes(op, extents, schedule.headsPerTile, warps, schedule.stages, made) +
      exchangeBytes(extents, schedule.headsPerTile, schedule.splits, cluster) +
      chainBytes(region, warps);
  if (schedule.splits > 1 && !cluster)
    resources.staticSmemBytes = llvm::alignTo(arrivalBytes, wordBytes);
  return resources;
}

/// A warp with two sets of registers takes two steps in the time of one.
PriceTerms TensorDecodeKernel::priceTerms() const {
  PriceTerms terms;
  terms.keySteps = {.capacity = AttentionExtents(region.attention).capacity,
                    .splits = schedule.splits,
                    .leastKeys = schedule.leastKeys,
                    .stepKeys = schedule.threads / 32 * decodeStepKeys,
                    .sets = schedule.sets};
  return terms;
}

static constexpr int64_t mostCluster = 16;

namespace {

/// How decode attention covers the device: warps of a block, blocks of a unit, steps of a warp's
/// ring (none: straight into registers), blocks of a multiprocessor that registers are to leave
/// room for.
struct DecodeCover {
  int64_t warps, splits, stages, blocksPerSm;
};

} // namespace

/// One row: a block a multiprocessor.
///
/// Wide heads: blocks of four warps; eight are slow to combine. Where more than four
/// multiprocessors fall to a head, what a warp takes after its first keys goes through a ring:
/// registers hold too little of it. Blocks with a ring arrive in their cluster with a release,
/// because that measured better from 4,096 keys on, for a reason not found: decode of Llama-3.1-8B
/// at 512 and 8,192 of 8,448 takes 3.640 and 3.885 ms, without 3.628 and 3.914 (H200, 2026-11-21).
///
/// Narrow heads: blocks of eight warps, or of four that take two steps where eight would take one,
/// half of them none in the first half of the context. Llama-3.2-1B Q4_K with 512 and 760 keys of
/// 1,024 takes 0.348 and 0.349 ms a step, with eight warps 0.349 and 0.352 (H200, 2026-11-28). No
/// ring: GEMMs beside the kernel leave so little shared memory that blocks with one start only when
/// those end. Decode of Llama-3.2-1B, 512 keys of 8,448, with and without a ring of 64 KB: 0.718
/// and 0.695 ms (H200, 2026-11-21).
static DecodeCover coverOneRow(int64_t units, int64_t keySize, int64_t valueSize, int64_t capacity,
                               const CudaTarget& target) {
  constexpr int64_t mostStages = 8, stepKeys = decodeStepKeys;
  int64_t wanted = std::max<int64_t>(target.sms / units, 1), size = std::max(keySize, valueSize);
  int64_t blocksPerSm = size <= 128 ? target.decodeBlocksPerSm : 1;
  if (size < target.decodeRingElements) {
    constexpr int64_t most = 8, few = 4;
    int64_t parts = std::min<int64_t>(wanted, llvm::divideCeil(capacity, most * stepKeys));
    return {capacity > parts * most * stepKeys ? most : few, parts, 0, blocksPerSm};
  }
  constexpr int64_t warps = 4;
  if (wanted <= 4)
    return {warps, wanted, 0, blocksPerSm};
  int64_t splits = std::min<int64_t>(wanted, llvm::divideCeil(capacity, warps * stepKeys));
  int64_t steps = llvm::divideCeil(capacity, splits * warps * stepKeys);
  int64_t stepBytes = warps * decodeStageBytes(keySize, valueSize);
  int64_t stages = std::min({target.decodeRingBytes / stepBytes, steps - 1, mostStages});
  return {warps, wanted, stages, blocksPerSm};
}

/// Parts of a unit, a block of `warps` each, that a cluster combines. Blocks of a cluster find
/// their places at one time and within a group of multiprocessors, or wait: clusters of more than
/// two leave a quarter of the places free. 32 clusters of 4 blocks, each of the size of a
/// multiprocessor, took a second wave: decode of Llama-3.1-8B with 4 rows 4.258 ms, 4.135 with
/// blocks of a third (H200, 2026-11-21).
static int64_t clusterParts(int64_t units, int64_t warps, int64_t fitting,
                            const CudaTarget& target) {
  int64_t places = target.sms * (fitting / warps);
  auto powerOf = [&](int64_t blocks) {
    return std::min<int64_t>(llvm::bit_floor<uint64_t>(blocks / units), mostCluster);
  };
  return std::max<int64_t>(std::min<int64_t>(powerOf(places), 2), powerOf(places * 3 / 4));
}

/// Blocks of four warps that a multiprocessor has where units are many: one more than registers
/// hold with room to spare, where that leaves fewer of its places empty in the last round. Of
/// llama-3.1-8b with 64 rows at position 512, whose 512 units take two rounds of 396 blocks or one
/// of 528, attention takes 34.0 µs instead of 39.1 (docs/notebook/2026-11-27-many-rows.md). More
/// than four heads, and quants, which become numbers first, find too few registers then.
static int64_t blocksOfMany(int64_t units, int64_t heads, int64_t keySize, int64_t valueSize,
                            bool quants, const CudaTarget& target) {
  constexpr int64_t warps = 4, mostHeads = 4;
  int64_t roomy = decodeWarps(keySize, valueSize, target.registersPerSm) / warps;
  int64_t tight =
      decodeWarps(keySize, valueSize, target.registersPerSm, tightDecodeRegisters) / warps;
  auto places = [&](int64_t blocks) -> int64_t {
    return llvm::divideCeil(units, target.sms * blocks) * blocks;
  };
  return heads <= mostHeads && !quants && places(tight) < places(roomy) ? tight : roomy;
}

/// Several rows: as many warps a unit as fit when all units run at once, in one block where that
/// takes them; else in parts of eight warps, or of four where more warps find places so. Four warps
/// a block where units are many: a warp's keys and values lie in registers, and a block of four
/// starts where a larger one would wait. So do two of eight instead of one of sixteen where a unit
/// is one head, which two blocks combine quickly: decode of Pythia-2.8B with 4 rows at 512 1.770
/// and 1.775 ms (H200, 2026-11-22).
///
/// Of wide heads a block that fills its multiprocessor has a ring.
static DecodeCover coverRows(int64_t units, int64_t heads, int64_t keySize, int64_t valueSize,
                             int64_t capacity, bool quants, const CudaTarget& target) {
  constexpr int64_t few = 4, some = 8;
  int64_t fitting = decodeWarps(keySize, valueSize, target.registersPerSm);
  int64_t warps = target.sms * fitting / units;
  if (warps < fitting + some) {
    int64_t ofBlock = warps >= fitting ? fitting : warps >= some ? some : few;
    if (ofBlock == 2 * some && heads == 1 && target.bulkCopies)
      return {some, 2, 0, fitting / some};
    if (ofBlock == few)
      return {few, 1, 0, blocksOfMany(units, heads, keySize, valueSize, quants, target)};
    bool isWide = std::max(keySize, valueSize) >= target.decodeRingElements;
    bool fills = ofBlock == fitting && capacity > ofBlock * decodeStepKeys;
    int64_t stages = isWide && fills && !quants && target.bulkCopies ? target.decodeFullStages : 0;
    return {ofBlock, 1, stages, fitting / ofBlock};
  }
  if (!target.bulkCopies)
    return {some, warps / some, 0, fitting / some};
  int64_t parts = clusterParts(units, some, fitting, target);
  int64_t smallParts = clusterParts(units, few, fitting, target);
  if (few * smallParts > some * parts)
    return {few, smallParts, 0, fitting / few};
  return {some, parts, 0, fitting / some};
}

/// Sets of registers, each for a step of keys and values: for narrow heads two, where the context
/// gives a warp several steps and blocks are not alone on their multiprocessors. A warp that waits
/// for one load waits for all it has asked for, so that each turn of its loop costs the way to
/// memory once, and one chain of scores, weights and sums; so it takes two steps. At positions 512,
/// 544 and 608 of 1,024 Pythia-2.8B takes 1.360, 1.362 and 1.366 ms, 1.354, 1.372 and 1.379 with
/// one set, with 8 rows at 512 1.994 and 1.998 (H200, 2026-11-22).
static int64_t setsOf(const DecodeCover& cover, int64_t keySize, int64_t valueSize,
                      int64_t capacity, bool inParts, const CudaTarget& target) {
  bool severalSteps = capacity > cover.splits * cover.warps * decodeStepKeys;
  bool narrow = std::max(keySize, valueSize) < target.decodeRingElements;
  return severalSteps && narrow && cover.blocksPerSm > 1 &&
                 fitsTwoDecodeSets(keySize, valueSize, 32 * cover.warps * cover.blocksPerSm,
                                   target.registersPerSm, inParts)
             ? 2
             : 1;
}

/// How much of memory is read at a time: where several heads' rows fill 256 bytes, other blocks ask
/// for the rest of those at about the same time. Rows of 160 and 256 bytes gain nothing (H200,
/// 2026-11-21).
static int64_t runBytes(int64_t keySize, int64_t valueSize) {
  constexpr int64_t run = 256, elementBytes = 2;
  auto shares = [](int64_t size) {
    int64_t bytes = elementBytes * size;
    return bytes < run && run % bytes == 0;
  };
  return shares(keySize) && shares(valueSize) ? run : 0;
}

/// Quants go through a ring of two steps a warp, or of one where blocks take more than three
/// quarters of the shared memory with two: copies of words keep their place in L1 until they
/// arrive, so that what the ring takes of it is missing there. One layer's attention of
/// Llama-3.1-8B with 16 rows at 8,192 in blocks of 12 warps (H200, 2026-11-27,
/// docs/notebook/2026-11-27-quants-through-a-ring.md).
static DecodeCover coverQuants(DecodeCover cover, int64_t stageBytes, int64_t capacity,
                               const CudaTarget& target) {
  constexpr int64_t mostStages = 2, mostWarps = 8;
  if (cover.stages > 0) // what suits elements, whose blocks of four warps have longer rings
    cover.warps = mostWarps;
  int64_t room =
      std::min(target.smemBytesPerSm / cover.blocksPerSm, target.smemBytesPerBlock) * 3 / 4;
  int64_t steps = llvm::divideCeil(capacity, cover.splits * cover.warps * decodeStepKeys);
  cover.stages =
      std::clamp<int64_t>(std::min(room / (cover.warps * stageBytes), steps), 1, mostStages);
  return cover;
}

/// Parts of a row that sees up to `keys`, where units are so many that each has a block: so rows of
/// unlike lengths leave no multiprocessor with long ones alone, and blocks of parts that a row does
/// not have end at once.
static int64_t partsOf(const DecodeCover& cover, int64_t keys, const CudaTarget& target) {
  constexpr int64_t few = 4;
  bool isMany = cover.warps == few && cover.splits == 1 && cover.stages == 0;
  if (!isMany || keys / 2 < target.decodePartKeys)
    return 1;
  int64_t parts = llvm::divideCeil(keys, target.decodePartKeys);
  return std::min({parts, target.decodeMostParts, TensorDecodeSchedule::mostSplits});
}

/// How blocks of four warps of several rows of wide heads ask for old keys while the kernel in
/// front writes the caches, where a multiprocessor has two and a place is left: with a ring beside
/// the steps in registers. Those come through the first-level cache, of which rings leave less, and
/// which blocks without a ring find small beside the other kernel's. Three layers of llama-3.1-8b
/// in bf16 at 512 of 1,024 with 32 rows take 0.658 ms for 0.671; rows in parts and eight query
/// heads a tile lose (H200, 2026-11-29,
/// docs/notebook/2026-11-29-old-keys-before-the-wait.md).
static std::optional<DecodeCover> coverEarly(AttentionOp op, DecodeCover cover, int64_t units,
                                             int64_t heads, int64_t keySize, int64_t valueSize,
                                             int64_t seen, const CudaTarget& target) {
  constexpr int64_t warps = 4, mostHeads = 4, blocks = 2;
  bool isMany = cover.warps == warps && cover.splits == 1;
  bool isWide = std::max(keySize, valueSize) >= target.decodeRingElements;
  bool isBehindWrites =
      llvm::isa<BlockArgument>(op.getKey()) && llvm::isa<StateType>(op.getKey().getType());
  bool inParts = seen / 2 >= target.decodePartKeys;
  if (!isMany || !isWide || !isBehindWrites || !target.bulkCopies || inParts || heads > mostHeads ||
      llvm::divideCeil(units, target.sms) != blocks || cover.blocksPerSm <= blocks)
    return std::nullopt;
  int64_t steps = target.smemBytesPerSm / (blocks * warps * decodeStageBytes(keySize, valueSize));
  cover.stages = std::clamp<int64_t>(steps - 1, 1, target.decodeEarlyStages);
  return cover;
}

/// Parts that a cluster combines where its blocks are at least a quarter of those wanted; else
/// parts that memory combines.
TensorDecodeSchedule chooseTensorDecode(AttentionOp op, const CudaTarget& target) {
  AttentionExtents extents(op);
  int64_t heads = extents.headsPerTile(), units = extents.rows * extents.heads / heads;
  int64_t keySize = extents.keySize, valueSize = extents.valueSize, capacity = extents.capacity;
  int64_t window = op.getWindow(), seen = window > 0 ? std::min(window, capacity) : capacity;
  bool hasScales = areQuants(op);
  DecodeCover cover =
      extents.rows == 1 ? coverOneRow(units, keySize, valueSize, capacity, target)
                        : coverRows(units, heads, keySize, valueSize, capacity, hasScales, target);
  std::optional<DecodeCover> early;
  if (hasScales)
    cover = coverQuants(cover, stageBytes(op), capacity, target);
  else if (extents.rows > 1)
    early = coverEarly(op, cover, units, heads, keySize, valueSize, seen, target);
  cover = early.value_or(cover);
  int64_t wanted =
      std::min<int64_t>(cover.splits, llvm::divideCeil(capacity, cover.warps * decodeStepKeys));
  TensorDecodeSchedule schedule;
  schedule.threads = 32 * cover.warps;
  schedule.headsPerTile = heads;
  schedule.splits = std::min(wanted, TensorDecodeSchedule::mostSplits);
  int64_t power = std::min<int64_t>(llvm::bit_floor<uint64_t>(wanted), mostCluster);
  if (target.bulkCopies && 4 * power >= wanted) {
    schedule.splits = power;
    schedule.clusterBlocks = power > 1 ? power : 0;
  }
  if (int64_t parts = partsOf(cover, seen, target); extents.rows > 1 && parts > 1) {
    schedule.splits = parts;
    schedule.leastKeys = target.decodePartKeys;
  }
  schedule.tiles = units * schedule.splits;
  schedule.blocksPerSm = cover.blocksPerSm;
  schedule.stages = cover.stages;
  schedule.early = early ? 1 : 0;
  schedule.released = schedule.clusterBlocks > 1 && cover.stages > 0 && !hasScales ? 1 : 0;
  if (!hasScales) {
    schedule.sets = setsOf(cover, keySize, valueSize, capacity, schedule.leastKeys > 0, target);
    schedule.runBytes = runBytes(keySize, valueSize);
  }
  return schedule;
}

namespace kinds {
extern constexpr KernelKind tensorDecodeAttention = kindOf<TensorDecodeKernel>();
} // namespace kinds

} // namespace tenon::kernels
