#include "kernels/cuda/CudaTarget.h"

#include "kernels/KernelKind.h"

using namespace mlir;

namespace tenon::kernels {

static VerdictOr<int64_t> readPositive(TargetAttr target, llvm::StringRef name, int64_t fallback) {
  int64_t value = target.getProperty(name).value_or(fallback);
  if (value < 1)
    return Refusal{"expects positive " + name.str() + " in target \"" + target.getName().str() +
                   "\""};
  return value;
}

VerdictOr<CudaTarget> CudaTarget::read(TargetAttr target, LibraryUse libraries) {
  static constexpr std::pair<llvm::StringLiteral, int64_t CudaTarget::*> facts[] = {
      {"sms", &CudaTarget::sms},
      {"smem_bytes_per_block", &CudaTarget::smemBytesPerBlock},
      {"smem_bytes_per_sm", &CudaTarget::smemBytesPerSm},
      {"registers_per_sm", &CudaTarget::registersPerSm}};
  CudaTarget cuda = {};
  for (auto [name, member] : facts) {
    VerdictOr<int64_t> value = readPositive(target, name, /*fallback=*/0);
    if (!value)
      return value.refusal();
    cuda.*member = *value;
  }
  for (const KernelKind& kind : allCudaKinds())
    for (const Tuning& tuning : kind.tuning) {
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
  cuda.bulkCopies = capability >= 90;
  cuda.libraries = libraries;
  return cuda;
}

} // namespace tenon::kernels
