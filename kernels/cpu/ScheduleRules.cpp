#include "kernels/cpu/ScheduleRule.h"

#include "ir/KernelLimits.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static const ScheduleRule* const allRules[] = {
    &rules::matmul, &rules::attention,   &rules::kvWrite, &rules::rows,
    &rules::copies, &rules::elementwise, &rules::sequence};

llvm::ArrayRef<const ScheduleRule*> allCpuRules() { return allRules; }

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

ScheduleAttr makeRowSchedule(KernelOp kernel, llvm::StringRef emitter, int64_t rows,
                             int64_t rowElements) {
  int64_t perTile = std::clamp<int64_t>(elementsPerTile / rowElements, 1, rows);
  return makeSchedule(kernel, emitter, llvm::divideCeil(rows, perTile),
                      {{"rows_per_tile", perTile}});
}

OrderAttr makeOrder(MLIRContext* context, int64_t lanes, int64_t chunk) {
  return OrderAttr::get(context, chunk, lanes, CombineTree::Halving);
}

} // namespace tenon::kernels
