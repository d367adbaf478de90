#include "kernels/cuda/CudaTarget.h"

#include "kernels/KernelKind.h"
#include "kernels/cuda/TargetConstants.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<CudaTarget> CudaTarget::read(TargetAttr target, LibraryUse libraries) {
  static constexpr std::pair<llvm::StringLiteral, int64_t CudaTarget::*> facts[] = {
      {"sms", &CudaTarget::sms},
      {"smem_bytes_per_block", &CudaTarget::smemBytesPerBlock},
      {"smem_bytes_per_sm", &CudaTarget::smemBytesPerSm},
      {"registers_per_sm", &CudaTarget::registersPerSm}};
  CudaTarget cuda = {};
  if (Verdict verdict = readConstants(target, cuda, facts); !verdict)
    return verdict.refusal();
  for (const KernelKind* kind : allCudaKinds())
    for (const Tuning& tuning : kind->tuning) {
      VerdictOr<int64_t> value = readPositive(target, tuning.name, tuning.value);
      if (!value)
        return value.refusal();
      cuda.*tuning.member = *value;
    }
  int capability = 0;
  for (auto feature : target.getFeatures().getAsRange<StringAttr>()) {
    llvm::StringRef number = feature.getValue();
    cuda.warpgroups |= number == "sm_90a";
    if (number.consume_front("sm_"))
      number.consumeInteger(10, capability);
  }
  if (cuda.warpgroups) {
    VerdictOr<WarpgroupFit> fit = WarpgroupFit::read(target);
    if (!fit)
      return fit.refusal();
    cuda.warpgroupFit = *fit;
  }
  cuda.bulkCopies = capability >= 90;
  cuda.libraries = libraries;
  return cuda;
}

int64_t CudaTarget::clustersAtOnce(int64_t blocks) const {
  int64_t percent = blocks <= 2   ? 100
                    : blocks == 3 ? warpgroupFit.ofThreePercent
                                  : warpgroupFit.ofFourPercent;
  return sms * percent / 100 / blocks;
}

} // namespace tenon::kernels
