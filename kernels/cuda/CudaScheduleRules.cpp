#include "kernels/cuda/CudaScheduleRule.h"

using namespace mlir;

namespace tenon::kernels {

static const CudaScheduleRule* const allRules[] = {
    &cuda_rules::matmul, &cuda_rules::products,   &cuda_rules::attention, &cuda_rules::kvWrite,
    &cuda_rules::rows,   &cuda_rules::rope,       &cuda_rules::heads,     &cuda_rules::selection,
    &cuda_rules::copies, &cuda_rules::elementwise};

llvm::ArrayRef<const CudaScheduleRule*> allCudaRules() { return allRules; }

ScheduleAttr withParameters(ScheduleAttr schedule,
                            std::initializer_list<std::pair<llvm::StringRef, int64_t>> given) {
  Builder builder(schedule.getContext());
  NamedAttrList parameters(schedule.getParameters());
  for (auto [name, value] : given)
    value == 0 ? void(parameters.erase(name))
               : void(parameters.set(name, builder.getI64IntegerAttr(value)));
  return ScheduleAttr::get(schedule.getContext(), schedule.getEmitter(), schedule.getTiles(),
                           parameters.getDictionary(schedule.getContext()));
}

int64_t widestVector(KernelOp kernel) {
  int64_t vector = 4;
  auto widen = [&](Type type) {
    auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    if (tensor && !tensor.getElementType().isF32() && !tensor.getElementType().isInteger())
      vector = 8;
  };
  for (Type type :
       llvm::concat<const Type>(kernel.getBlock().getArgumentTypes(), kernel.getResultTypes()))
    widen(type);
  return vector;
}

int64_t dividingPower(int64_t extent, int64_t limit) {
  int64_t power = 1;
  while (2 * power <= limit && extent % (2 * power) == 0)
    power *= 2;
  return power;
}

} // namespace tenon::kernels
