#include "kernels/cuda/CudaScheduleRule.h"

using namespace mlir;

namespace tenon::kernels {

static const CudaScheduleRule* const allRules[] = {
    &cuda_rules::matmul,    &cuda_rules::gemms,   &cuda_rules::attention,  &cuda_rules::rows,
    &cuda_rules::heads,     &cuda_rules::kvWrite, &cuda_rules::ringPlaces, &cuda_rules::rope,
    &cuda_rules::selection, &cuda_rules::experts, &cuda_rules::copies,     &cuda_rules::patches,
    &cuda_rules::indexed,   &cuda_rules::accept,  &cuda_rules::elementwise};

llvm::ArrayRef<const CudaScheduleRule*> allCudaRules() { return allRules; }

bool fitsBlock(KernelOp kernel, const BlockResources& resources, const CudaTarget& target) {
  BlockResources block = resourcesInPlace(kernel, resources, target.registersPerSm);
  return detail::saturatingSum({block.dynamicSmemBytes, block.staticSmemBytes}) <=
             target.smemBytesPerBlock &&
         block.registers * block.threads <= target.registersPerSm;
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

} // namespace tenon::kernels
