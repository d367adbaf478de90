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

BlockResources resourcesInPlace(KernelOp kernel, BlockResources resources, int64_t registersPerSm) {
  if (registersPerSm > 0)
    resources.boundRegisters(registersPerSm);
  // A search for the largest elements of rows: a key of 8 bytes for each, and a flag.
  constexpr int64_t keyBytes = 8, unit = 16;
  if (ArgmaxOp search = findSearch(kernel)) {
    // What a launch adds begins after it, where GEMMs' emitters ask for multiples of 128.
    constexpr int64_t dynamicUnit = 128;
    int64_t bytes = llvm::alignTo((search.getType().getNumElements() + 1) * keyBytes, unit);
    resources.staticSmemBytes = llvm::alignTo(resources.staticSmemBytes + bytes,
                                              resources.dynamicSmemBytes > 0 ? dynamicUnit : 1);
  }
  return resources;
}

} // namespace tenon::kernels
