#include "kernels/cuda/BlockResources.h"
#include "kernels/cuda/CudaScheduleRule.h"

using namespace mlir;

namespace tenon::kernels {

bool fitsBlock(KernelOp kernel, ScheduleAttr schedule, const CudaTarget& target) {
  ScheduleAttr before = kernel.getScheduleAttr();
  kernel.setScheduleAttr(schedule);
  std::optional<BlockResources> block = blockResourcesOf(kernel, target.registersPerSm);
  before ? kernel.setScheduleAttr(before) : void(kernel.removeScheduleAttr());
  return block &&
         detail::saturatingSum({block->dynamicSmemBytes, block->staticSmemBytes}) <=
             target.smemBytesPerBlock &&
         block->registers * block->threads <= target.registersPerSm;
}

llvm::SmallVector<ScheduleAttr> bulkAlternatives(KernelOp kernel, const CudaTarget& target) {
  ScheduleAttr own = kernel.getScheduleAttr();
  llvm::SmallVector<ScheduleAttr> others;
  if (own.getEmitter() != "gemv_bulk")
    return others;
  int64_t ownWarps = *own.getParameter("threads") / 32, stages = *own.getParameter("stages");
  auto addOther = [&](ScheduleAttr other) {
    if (other != own && !llvm::is_contained(others, other) && fitsBlock(kernel, other, target))
      others.push_back(other);
  };
  auto add = [&](int64_t warps, int64_t depth, int64_t early) {
    addOther(withParameters(
        own, {{"threads", 32 * warps}, {"stages", depth}, {"early", early < depth ? early : 0}}));
  };
  for (int64_t depth : {stages / 2, stages, 2 * stages}) {
    constexpr int64_t leastStages = 2; // one to read from, one on its way
    if (depth < leastStages)
      continue;
    for (int64_t warps : {4, 8, 12, 16, 20})
      add(warps, depth, own.getParameter("early").value_or(depth));
    for (int64_t early : {depth / 2, depth})
      add(ownWarps, depth, early);
  }
  if (own.getParameter("batch"))
    addOther(withParameters(own, {{"batch", 4}, {"stages", 2}, {"early", 1}}));
  return others;
}

} // namespace tenon::kernels
