#include "passes/schedule/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule::cuda_rules {

static bool matches(KernelOp kernel, const CudaTarget&) {
  return bool(soleOp<AttentionOp>(kernel));
}

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

/// As many parts of the keys as give every multiprocessor its blocks of four warps.
static ScheduleAttr chooseDecode(KernelOp kernel, AttentionOp op, const CudaTarget& target) {
  constexpr int64_t mostSplits = 64;
  llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape();  // [M, Hq, D]
  llvm::ArrayRef<int64_t> value = cacheType(op.getValue()).getShape(); // [S, C, Hkv, Dv]
  int64_t heads = headsPerTile(query[1] / value[2]), units = query[0] * query[1] / heads;
  int64_t splits =
      std::clamp<int64_t>(target.decodeBlocksPerSm * target.sms / units, 1, mostSplits);
  splits = std::min<int64_t>(splits, llvm::divideCeil(value[1], 64));
  return makeSchedule(kernel, "tensor_decode_attention", units * splits,
                      {{"threads", 128},
                       {"heads_per_tile", heads},
                       {"splits", splits},
                       {"blocks_per_sm", target.decodeBlocksPerSm}});
}

/// 128 rows a block, or 64 where those would leave multiprocessors idle. The sums of 128 rows of
/// heads of 128 fill the registers, and with 64 keys a block ptxas saves 76 bytes around them; with 32
/// it saves none and takes longer: 2,048 tokens, 32 heads, 144 and 151 µs (H200, 2026-11-21).
static ScheduleAttr choosePrefill(KernelOp kernel, AttentionOp op, const CudaTarget& target) {
  llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape();
  int64_t size = std::max(elementSize(op), cacheType(op.getValue()).getShape()[3]);
  int64_t wideTiles = query[1] * llvm::divideCeil(query[0], 128);
  bool wide = size <= 128 && wideTiles >= target.prefillTilesPerSm * target.sms;
  int64_t tiles = query[1] * llvm::divideCeil(query[0], wide ? 128 : 64);
  return makeSchedule(kernel, "tensor_prefill_attention", tiles,
                      {{"threads", 128},
                       {"row_tiles", wide ? 2 : 1},
                       {"keys_per_block", size <= 128 ? 64 : 32},
                       {"blocks_per_sm", size <= 128 ? 2 : 1}});
}

/// Any element types, on CUDA cores. Few rows: splits of 128 keys, so that one row fills the
/// device. Many rows fill it by themselves, and each takes its keys in one go.
static ScheduleAttr chooseScalar(KernelOp kernel, AttentionOp op, bool fewRows) {
  constexpr int64_t keysPerBlock = 128;
  llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape(); // [M, Hq, D]
  RankedTensorType value = cacheType(op.getValue());                  // [S, C, Hkv, Dv]
  int64_t capacity = value.getShape()[1], heads = headsPerTile(query[1] / value.getShape()[2]);
  int64_t split = fewRows ? keysPerBlock : llvm::alignTo(capacity, keysPerBlock);
  int64_t vector =
      dividingPower(value.getShape()[3], 16 / getEncoding(value.getElementType())->blockBytes);
  int64_t threads = std::max<int64_t>(128, llvm::PowerOf2Ceil(value.getShape()[3] / vector));
  int64_t tiles = query[0] * (query[1] / heads) * llvm::divideCeil(capacity, split);
  return makeSchedule(kernel, "decode_attention", tiles,
                      {{"threads", threads},
                       {"heads_per_tile", heads},
                       {"keys_per_split", split},
                       {"keys_per_block", keysPerBlock}});
}

static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target) {
  constexpr int64_t mostDecodeRows = 16;
  auto op = soleOp<AttentionOp>(kernel);
  op.removeOrderAttr(); // the schedule's parameters fix the order
  bool fewRows = op.getQuery().getType().getShape()[0] <= mostDecodeRows;
  bool oneSequence = op.getSequences().getType().getNumElements() == 1;
  if (!fewRows && oneSequence && suitsTensorCores(op, 16))
    return choosePrefill(kernel, op, target);
  if (suitsTensorCores(op, 8))
    return chooseDecode(kernel, op, target);
  return chooseScalar(kernel, op, fewRows);
}

const CudaScheduleRule attention = {matches, choose};

} // namespace tenon::passes::schedule::cuda_rules
