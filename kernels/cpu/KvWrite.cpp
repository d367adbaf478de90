#include "kernels/cpu/KvWrite.h"

#include "ir/KvCache.h"
#include "kernels/cpu/ScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::cpu {

std::optional<PartTile> KvWriteSchedule::tileOf(Operation* op) const {
  auto write = llvm::dyn_cast<KvWriteOp>(op);
  if (!write || tiles != 1)
    return std::nullopt;
  int64_t total = write.getValues().getType().getNumElements();
  return PartTile{false, total, total};
}

namespace kinds {
extern constexpr CpuKernelKind kvWrite = kindOf<KvWriteKernel>();
} // namespace kinds

} // namespace tenon::kernels::cpu

namespace tenon::kernels::cpu::rules {

static bool matches(KernelOp kernel) { return bool(soleOp<KvWriteOp>(kernel)); }

/// A tile is a part of every row, so that of two rows for one place the later one stays. One part
/// unless there is enough to copy for several threads, or heads are encoded or lie apart.
static ScheduleAttr choose(KernelOp kernel, const CpuTarget&) {
  constexpr int64_t bytesWorthThreads = int64_t(64) * 1024, parts = 16, cacheLine = 64;
  RankedTensorType values = soleOp<KvWriteOp>(kernel).getValues().getType();
  int64_t bytes = *getStorageBytes(values), rowBytes = bytes / values.getShape().front();
  int64_t perTile = rowBytes;
  KvCache cache(soleOp<KvWriteOp>(kernel).getState().getType());
  if (bytes >= bytesWorthThreads && !cache.isQuantized() && !cache.isPaged())
    perTile =
        std::min<int64_t>(rowBytes, llvm::alignTo(llvm::divideCeil(rowBytes, parts), cacheLine));
  auto tiles = static_cast<int64_t>(llvm::divideCeil(rowBytes, perTile));
  return printSchedule(kernel.getContext(), KvWriteKernel::name, KvWriteSchedule{tiles, perTile});
}

extern const ScheduleRule kvWrite = {matches, choose};

} // namespace tenon::kernels::cpu::rules
