#include "ir/schedules/BlockResources.h"
#include "passes/schedule/cuda/CudaScheduleRule.h"

using namespace mlir;

namespace tenon::passes::schedule {

/// `schedule` with other values of some parameters, and as many tiles.
static ScheduleAttr
withParameters(ScheduleAttr schedule, int64_t tiles,
               std::initializer_list<std::pair<llvm::StringRef, int64_t>> given) {
  MLIRContext* context = schedule.getContext();
  llvm::SmallVector<NamedAttribute> parameters(schedule.getParameters().getValue());
  for (NamedAttribute& parameter : parameters)
    for (auto [name, value] : given)
      if (parameter.getName() == name)
        parameter.setValue(Builder(context).getI64IntegerAttr(value));
  return ScheduleAttr::get(context, schedule.getEmitter(), tiles,
                           DictionaryAttr::get(context, parameters));
}

/// True where a block of that schedule fits a multiprocessor.
static bool fits(KernelOp kernel, ScheduleAttr schedule, const CudaTarget& target) {
  constexpr int64_t registersPerSm = 65536;
  ScheduleAttr before = kernel.getScheduleAttr();
  kernel.setScheduleAttr(schedule);
  std::optional<BlockResources> block = blockResourcesOf(kernel);
  kernel.setScheduleAttr(before);
  return block && block->dynamicSmemBytes + block->staticSmemBytes <= target.smemBytesPerBlock &&
         block->registers * block->threads <= registersPerSm;
}

llvm::SmallVector<ScheduleAttr> bulkAlternatives(KernelOp kernel, const CudaTarget& target) {
  ScheduleAttr own = kernel.getScheduleAttr();
  llvm::SmallVector<ScheduleAttr> others;
  if (own.getEmitter() != "gemv_bulk")
    return others;
  int64_t stages = *own.getParameter("stages");
  for (int64_t warps : {4, 8, 12, 16, 20})
    for (int64_t depth : {stages / 2, stages, 2 * stages}) {
      constexpr int64_t leastStages = 2; // one to read from, one on its way
      if (depth < leastStages)
        continue;
      ScheduleAttr other =
          withParameters(own, own.getTiles(), {{"threads", 32 * warps}, {"stages", depth}});
      if (other != own && fits(kernel, other, target))
        others.push_back(other);
    }
  return others;
}

} // namespace tenon::passes::schedule
