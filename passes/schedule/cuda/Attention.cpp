#include "passes/schedule/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule::cuda_rules {

static bool matches(KernelOp kernel) { return bool(soleOp<AttentionOp>(kernel)); }

static RankedTensorType cacheType(Value value) {
  if (auto state = llvm::dyn_cast<StateType>(value.getType()))
    return state.getTensorType();
  return llvm::cast<RankedTensorType>(value.getType());
}

/// Few rows: splits of 128 keys, so that one row fills the device. Many rows fill it by themselves,
/// and each takes its keys in one go.
static ScheduleAttr choose(KernelOp kernel, const CudaTarget&) {
  constexpr int64_t mostDecodeRows = 16, keysPerBlock = 128, mostHeads = 8;
  auto op = soleOp<AttentionOp>(kernel);
  op.removeOrderAttr(); // the schedule's parameters fix the order
  llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape(); // [M, Hq, D]
  RankedTensorType value = cacheType(op.getValue());                  // [S, C, Hkv, Dv]
  int64_t shared = query[1] / value.getShape()[2], capacity = value.getShape()[1];
  int64_t heads = std::min(shared, mostHeads);
  while (shared % heads != 0)
    --heads;
  int64_t split = query[0] <= mostDecodeRows ? keysPerBlock : llvm::alignTo(capacity, keysPerBlock);
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

const CudaScheduleRule attention = {matches, choose};

} // namespace tenon::passes::schedule::cuda_rules
