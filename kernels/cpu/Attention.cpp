#include "kernels/cpu/Attention.h"

#include "ir/KvCache.h"
#include "kernels/cpu/ScheduleRule.h"

using namespace mlir;

namespace tenon::kernels::cpu {

namespace kinds {
extern constexpr CpuKernelKind attention = kindOf<AttentionKernel>();
} // namespace kinds

} // namespace tenon::kernels::cpu

namespace tenon::kernels::cpu::rules {

static bool matches(KernelOp kernel) { return bool(soleOp<AttentionOp>(kernel)); }

/// A tile is one row and the query heads that share a key head, or as many of them as keep their
/// sums in registers: enough tiles for all cores at one row, each key loaded once for several
/// heads. The chunk of the order is the block of keys of the online softmax.
static ScheduleAttr choose(KernelOp kernel, const CpuTarget& target) {
  constexpr int64_t keysPerBlock = 64;
  auto op = soleOp<AttentionOp>(kernel);
  op.setOrderAttr(makeOrder(kernel.getContext(), target.lanes, keysPerBlock));
  llvm::ArrayRef<int64_t> query = op.getQuery().getType().getShape(); // [views · M, Hq, D]
  int64_t shared = query[1] / KvCache(op.getKey().getType()).heads;
  int64_t heads = std::min(shared, target.registers / 4);
  while (shared % heads != 0)
    --heads;
  int64_t tiles = op.getType().getShape()[0] * (query[1] / heads);
  return printSchedule(kernel.getContext(), AttentionKernel::name, AttentionSchedule{tiles, heads});
}

extern const ScheduleRule attention = {matches, choose};

} // namespace tenon::kernels::cpu::rules
