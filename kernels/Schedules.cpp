#include "kernels/Schedules.h"

#include "ir/KernelLimits.h"

using namespace mlir;

namespace tenon::kernels {

ScheduleAttr makeSchedule(MLIRContext* context, llvm::StringRef emitter, int64_t tiles,
                          std::initializer_list<std::pair<llvm::StringRef, int64_t>> parameters) {
  Builder builder(context);
  llvm::SmallVector<NamedAttribute> entries;
  for (auto [name, value] : parameters)
    if (value > 0)
      entries.push_back(
          builder.getNamedAttr(name, builder.getI64IntegerAttr(std::min(value, mostCounted))));
  // What no program may hold is scheduled as if it were smaller, and refused where it is planned.
  return ScheduleAttr::get(context, emitter, std::min(tiles, mostCounted),
                           builder.getDictionaryAttr(entries));
}

OrderAttr makeOrder(MLIRContext* context, int64_t lanes, int64_t chunk) {
  return OrderAttr::get(context, chunk, lanes, CombineTree::Halving);
}

int64_t dividingPower(int64_t extent, int64_t limit) {
  int64_t power = 1;
  while (2 * power <= limit && extent % (2 * power) == 0)
    power *= 2;
  return power;
}

} // namespace tenon::kernels
