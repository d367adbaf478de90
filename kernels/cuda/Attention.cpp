#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/DecodeRing.h"
#include "kernels/cuda/Rows.h"
#include "kernels/regions/AttentionRegion.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::cuda_rules {

static RankedTensorType cacheType(Value value) {
  if (auto state = llvm::dyn_cast<StateType>(value.getType()))
    return state.getTensorType();
  return llvm::cast<RankedTensorType>(value.getType());
}

static int64_t elementSize(AttentionOp op) { return op.getQuery().getType().getShape()[2]; }

/// Whether tensor cores can take the operands as they are: one 16-bit type, whole vectors of
/// `multiple` elements, a scale that keeps the scores' order.
static bool suitsTensorCores(AttentionOp op, int64_t multiple) {
  Type type = op.getQuery().getType().getElementType();
  RankedTensorType key = cacheType(op.getKey()), value = cacheType(op.getValue());
  int64_t valueSize = value.getShape()[3];
  return !type.isF32() && key.getElementType() == type && value.getElementType() == type &&
         op.getType().getElementType() == type && elementSize(op) % multiple == 0 &&
         valueSize % multiple == 0 && std::max(elementSize(op), valueSize) <= 256 &&
         op.getScale().convertToDouble() > 0;
}

static int64_t headsPerTile(int64_t sharing) {
  int64_t heads = std::min<int64_t>(sharing, 8);
  while (sharing % heads != 0)
    --heads;
  return heads;
}

constexpr int64_t mostCluster = 16;

/// How decode attention covers the device: warps of a block, blocks of a unit, steps of a warp's ring
/// (none: straight into registers), blocks of a multiprocessor that registers are to leave room for.
struct DecodeCover {
  int64_t warps, splits, stages, blocksPerSm;
};

/// One row: a block a multiprocessor, of eight warps, or of four where heads are wide: eight are slow to
/// combine. Where more than four multiprocessors fall to a wide head, what a warp takes behind its first
/// keys goes through a ring: registers hold too little of it. Narrow heads do without: products beside
/// the kernel leave so little shared memory that blocks with a ring start only when those end. Decode of
/// Llama-3.2-1B, 512 keys of 8,448, with and without a ring of 64 KB: 0.718 and 0.695 ms (H200,
/// 2026-11-21).
/// Blocks with a ring arrive in their cluster with a release, because that measured better from 4,096 keys
/// on, for a reason not found: decode of Llama-3.1-8B at 512 and 8,192 of 8,448 takes 3.640 and 3.885 ms,
/// without 3.628 and 3.914 (H200, 2026-11-21).
static DecodeCover coverOneRow(int64_t units, int64_t keySize, int64_t valueSize, int64_t capacity,
                               const CudaTarget& target) {
  constexpr int64_t mostStages = 8, stepKeys = decodeStepKeys;
  int64_t wanted = std::max<int64_t>(target.sms / units, 1), size = std::max(keySize, valueSize);
  int64_t blocksPerSm = size <= 128 ? target.decodeBlocksPerSm : 1;
  int64_t warps = size < target.decodeRingElements ? 8 : 4;
  if (warps == 8 || wanted <= 4)
    return {warps, wanted, 0, blocksPerSm};
  int64_t splits = std::min<int64_t>(wanted, llvm::divideCeil(capacity, warps * stepKeys));
  int64_t steps = llvm::divideCeil(capacity, splits * warps * stepKeys);
  int64_t stepBytes = warps * decodeStageBytes(keySize, valueSize);
  int64_t stages = std::min({target.decodeRingBytes / stepBytes, steps - 1, mostStages});
  return {warps, wanted, stages, blocksPerSm};
}

/// Parts of a unit, a block of `warps` each, that a cluster combines. Blocks of a cluster find their places at
/// one time and within a group of multiprocessors, or wait: clusters of more than two leave a quarter
/// of the places free. 32 clusters of 4 blocks, each of the size of a multiprocessor, took a second
/// wave: decode of Llama-3.1-8B with 4 rows 4.258 ms, 4.135 with blocks of a third (H200, 2026-11-21).
static int64_t clusterParts(int64_t units, int64_t warps, int64_t fitting,
                            const CudaTarget& target) {
  int64_t places = target.sms * (fitting / warps);
  auto powerOf = [&](int64_t blocks) {
    return std::min<int64_t>(llvm::bit_floor<uint64_t>(blocks / units), mostCluster);
  };
  return std::max<int64_t>(std::min<int64_t>(powerOf(places), 2), powerOf(places * 3 / 4));
}

/// Several rows: as many warps a unit as fit when all units run at once, in one block where that takes
/// them; else in parts of eight warps, or of four where more warps find places so. Four warps a block
/// where units are many: a warp's keys and values lie in registers, and a block of four starts where a
/// larger one would wait. So do two of eight instead of one of sixteen where a unit is one head, which two
/// blocks combine quickly: decode of Pythia-2.8B with 4 rows at 512 1.770 and 1.775 ms (H200, 2026-11-22).
static DecodeCover coverRows(int64_t units, int64_t heads, int64_t keySize, int64_t valueSize,
                             const CudaTarget& target) {
  constexpr int64_t few = 4, some = 8;
  int64_t fitting = decodeWarps(keySize, valueSize, target.registersPerSm);
  int64_t warps = target.sms * fitting / units;
  if (warps < fitting + some) {
    int64_t ofBlock = warps >= fitting ? fitting : warps >= some ? some : few;
    if (ofBlock == 2 * some && heads == 1 && target.bulkCopies)
      return {some, 2, 0, fitting / some};
    return {ofBlock, 1, 0, fitting / ofBlock};
  }
  if (!target.bulkCopies)
    return {some, warps / some, 0, fitting / some};
  int64_t parts = clusterParts(units, some, fitting, target);
  int64_t smallParts = clusterParts(units, few, fitting, target);
  if (few * smallParts > some * parts)
    return {few, smallParts, 0, fitting / few};
  return {some, parts, 0, fitting / some};
}

/// Sets of registers, each for a step of keys and values: for narrow heads two, where the context gives a
/// warp several steps and blocks are not alone on their multiprocessors. A warp that waits for one load waits
/// for all it has asked for, so that each turn of its loop costs the way to memory once, and one chain of
/// scores, weights and sums; so it takes two steps. At positions 512, 544 and 608 of 1,024 Pythia-2.8B takes
/// 1.360, 1.362 and 1.366 ms, 1.354, 1.372 and 1.379 with one set, with 8 rows at 512 1.994 and 1.998 (H200,
/// 2026-11-22).
static int64_t setsOf(const DecodeCover& cover, int64_t keySize, int64_t valueSize,
                      int64_t capacity, const CudaTarget& target) {
  bool severalSteps = capacity > cover.splits * cover.warps * decodeStepKeys;
  bool narrow = std::max(keySize, valueSize) < target.decodeRingElements;
  return severalSteps && narrow && cover.blocksPerSm > 1 &&
                 fitsTwoDecodeSets(keySize, valueSize, 32 * cover.warps * cover.blocksPerSm,
                                   target.registersPerSm)
             ? 2
             : 1;
}

/// How much of memory is read at a time: where several heads' rows fill 256 bytes, other blocks ask for the
/// rest of those at about the same time. Rows of 160 and 256 bytes gain nothing (H200, 2026-11-21).
static int64_t runBytes(int64_t keySize, int64_t valueSize) {
  constexpr int64_t run = 256, elementBytes = 2;
  auto shares = [](int64_t size) {
    int64_t bytes = elementBytes * size;
    return bytes < run && run % bytes == 0;
  };
  return shares(keySize) && shares(valueSize) ? run : 0;
}

/// Parts that a cluster combines where its blocks are at least a quarter of those wanted; else parts
/// that memory combines.
static ScheduleAttr chooseDecode(KernelOp kernel, AttentionOp op, const CudaTarget& target) {
  constexpr int64_t mostSplits = 64, stepKeys = decodeStepKeys;
  llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape();  // [M, Hq, D]
  llvm::ArrayRef<int64_t> value = cacheType(op.getValue()).getShape(); // [S, C, Hkv, Dv]
  int64_t heads = headsPerTile(query[1] / value[2]), units = query[0] * query[1] / heads;
  int64_t keySize = elementSize(op), valueSize = value[3];
  DecodeCover cover = query[0] == 1 ? coverOneRow(units, keySize, valueSize, value[1], target)
                                    : coverRows(units, heads, keySize, valueSize, target);
  int64_t sets = setsOf(cover, keySize, valueSize, value[1], target);
  int64_t wanted =
      std::min<int64_t>(cover.splits, llvm::divideCeil(value[1], cover.warps * stepKeys));
  int64_t splits = std::min(wanted, mostSplits), cluster = 0;
  int64_t power = std::min<int64_t>(llvm::bit_floor<uint64_t>(wanted), mostCluster);
  if (target.bulkCopies && 4 * power >= wanted)
    cluster = splits = power;
  return makeSchedule(kernel, "tensor_decode_attention", units * splits,
                      {{"threads", 32 * cover.warps},
                       {"heads_per_tile", heads},
                       {"splits", splits},
                       {"run_bytes", runBytes(keySize, valueSize)},
                       {"sets", sets > 1 ? sets : 0},
                       {"stages", cover.stages},
                       {"released", cluster > 1 && cover.stages > 0 ? 1 : 0},
                       {"cluster_blocks", cluster > 1 ? cluster : 0},
                       {"blocks_per_sm", cover.blocksPerSm}});
}

/// 128 rows a block, or 64 where those would leave multiprocessors idle. The sums of 128 rows of
/// heads of 128 fill the registers, and with 64 keys a block ptxas saves 76 bytes around them; with 32
/// it saves none and takes longer: 2,048 tokens, 32 heads, 144 and 151 µs (H200, 2026-11-21).
/// Where shared memory does not hold that, fewer rows and keys at a time; null where it holds none.
static ScheduleAttr choosePrefill(KernelOp kernel, AttentionOp op, const CudaTarget& target) {
  constexpr int64_t leastKeys = 16; // of an instruction of tensor cores
  llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape();
  int64_t size = std::max(elementSize(op), cacheType(op.getValue()).getShape()[3]);
  int64_t wideTiles = query[1] * llvm::divideCeil(query[0], 128);
  bool wide = size <= 128 && wideTiles >= target.prefillTilesPerSm * target.sms;
  for (int64_t rowTiles = wide ? 2 : 1; rowTiles >= 1; --rowTiles)
    for (int64_t keys = size <= 128 ? 64 : 32; keys >= leastKeys; keys /= 2) {
      int64_t tiles = query[1] * llvm::divideCeil(query[0], 64 * rowTiles);
      ScheduleAttr schedule = makeSchedule(kernel, "tensor_prefill_attention", tiles,
                                           {{"threads", 128},
                                            {"row_tiles", rowTiles},
                                            {"keys_per_block", keys},
                                            {"blocks_per_sm", size <= 128 ? 2 : 1}});
      if (fitsBlock(kernel, schedule, target))
        return schedule;
    }
  return ScheduleAttr();
}

/// Any element types, on CUDA cores. Few rows: parts of at least 128 keys, so that one row fills the
/// device. Many rows fill it by themselves, and each takes its keys in one go.
static ScheduleAttr chooseScalar(KernelOp kernel, AttentionOp op, const CudaTarget& target) {
  constexpr int64_t keysPerBlock = 128, mostSplits = 64;
  llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape(); // [M, Hq, D]
  RankedTensorType value = cacheType(op.getValue());                  // [S, C, Hkv, Dv]
  int64_t heads = headsPerTile(query[1] / value.getShape()[2]);
  int64_t units = query[0] * (query[1] / heads);
  int64_t splits =
      std::min(std::clamp<int64_t>(2 * target.sms / units, 1, mostSplits),
               static_cast<int64_t>(llvm::divideCeil(value.getShape()[1], keysPerBlock)));
  int64_t vector =
      dividingPower(value.getShape()[3], 16 / getEncoding(value.getElementType())->blockBytes);
  int64_t threads = std::max<int64_t>(128, llvm::PowerOf2Ceil(value.getShape()[3] / vector));
  return makeSchedule(kernel, "decode_attention", units * splits,
                      {{"threads", threads},
                       {"heads_per_tile", heads},
                       {"splits", splits},
                       {"keys_per_block", keysPerBlock}});
}

constexpr int64_t mostDecodeRows = 16;

static bool suitsPrefill(AttentionOp op) {
  return op.getQuery().getType().getShape()[0] > mostDecodeRows &&
         op.getSequences().getType().getNumElements() == 1 && suitsTensorCores(op, 16);
}

/// Regions of several operations, attention among them.
static Verdict accepts(KernelOp kernel, const CudaTarget&) {
  auto operations = kernel.getBlock().without_terminator();
  if (llvm::hasSingleElement(operations) || llvm::none_of(operations, llvm::IsaPred<AttentionOp>))
    return Verdict::accept();
  VerdictOr<AttentionRegion> region = readAttentionRegion(kernel);
  if (!region)
    return region.refusal();
  AttentionOp op = region->attention;
  Type type = op.getQuery().getType().getElementType();
  bool oneType = llvm::all_of(operations, [&](Operation& other) {
    auto tensor = llvm::dyn_cast<RankedTensorType>(other.getResult(0).getType());
    return !tensor || tensor.getElementType() == type;
  });
  for (HeadRegion::Chain* chain : {&region->query, &region->key, &region->value})
    oneType &= !chain->source ||
               llvm::cast<RankedTensorType>(chain->source.getType()).getElementType() == type;
  if (!oneType || !suitsTensorCores(op, 8))
    return Refusal{
        "attention takes rope and cache writes where tensor cores take its operands: heads of "
        "one 16-bit type, multiples of 8 elements and at most 256"};
  int64_t rows = op.getQuery().getType().getShape()[0];
  if (rows > mostDecodeRows)
    return Refusal{"attention takes rope and cache writes of at most " +
                   std::to_string(mostDecodeRows) + " rows, not of " + std::to_string(rows)};
  return Verdict::accept();
}

static bool matches(KernelOp kernel, const CudaTarget& target) {
  auto operations = kernel.getBlock().without_terminator();
  return llvm::any_of(operations, llvm::IsaPred<AttentionOp>) && accepts(kernel, target);
}

/// The region's operations one by one keep the orders and schedules that they have inside.
static ScheduleAttr chooseRegion(KernelOp kernel, const CudaTarget& target) {
  VerdictOr<AttentionRegion> region = readAttentionRegion(kernel);
  assert(region && "the rule matches");
  for (HeadRegion::Chain* chain : {&region->query, &region->key, &region->value})
    if (chain->norm)
      chain->norm->setAttr(partAttrName, scheduleRows(*chain->norm, target));
  ScheduleAttr schedule = chooseDecode(kernel, region->attention, target);
  region->attention->setAttr(partAttrName, schedule);
  return schedule;
}

static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours) {
  auto op = soleOp<AttentionOp>(kernel);
  if (!op)
    return chooseRegion(kernel, target);
  op.removeOrderAttr(); // the schedule's parameters fix the order
  if (suitsPrefill(op)) {
    if (ScheduleAttr prefill = choosePrefill(kernel, op, target))
      return prefill;
    return chooseScalar(kernel, op, target);
  }
  if (suitsTensorCores(op, 8))
    return chooseDecode(kernel, op, target);
  return chooseScalar(kernel, op, target);
}

const CudaScheduleRule attention = {matches, choose, nullptr, accepts};

} // namespace tenon::kernels::cuda_rules
