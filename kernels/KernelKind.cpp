#include "kernels/KernelKind.h"

#include "kernels/regions/Regions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

int64_t PriceTerms::KeySteps::parts(int64_t keys) const {
  return leastKeys > 0 ? std::min<int64_t>(splits, llvm::divideCeil(keys, leastKeys)) : splits;
}

int64_t PriceTerms::KeySteps::steps(int64_t keys) const {
  return llvm::divideCeil(llvm::divideCeil(keys, parts(keys) * stepKeys), sets);
}

VerdictOr<std::unique_ptr<MatchedKernel>> readKernel(KernelOp kernel) {
  llvm::StringRef name = kernel.getScheduleAttr().getEmitter();
  for (const KernelKind* kind : allCudaKinds())
    if (kind->name == name)
      return kind->read(kernel);
  return Refusal{"expects a kind of kernel that GPUs have, but got " + name.str()};
}

int64_t searchSmemBytes(KernelOp kernel, int64_t unit) {
  constexpr int64_t keyBytes = 8, alignment = 16;
  ArgmaxOp search = findSearch(kernel);
  if (!search)
    return 0;
  int64_t bytes = (search.getType().getNumElements() + 1) * keyBytes;
  return llvm::alignTo(llvm::alignTo(bytes, alignment), unit);
}

BlockResources resourcesInPlace(KernelOp kernel, BlockResources resources, int64_t registersPerSm) {
  if (registersPerSm > 0)
    resources.boundRegisters(registersPerSm);
  if (int64_t bytes = searchSmemBytes(kernel); bytes > 0)
    resources.staticSmemBytes =
        llvm::alignTo(resources.staticSmemBytes + bytes,
                      resources.dynamicSmemBytes > 0 ? resources.dynamicSmemUnit : 1);
  return resources;
}

} // namespace tenon::kernels
