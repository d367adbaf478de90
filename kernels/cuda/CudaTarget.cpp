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

/// Reads what each of `properties` names into its member.
template <typename Struct, size_t count>
static Verdict
readAll(TargetAttr target, Struct& into,
        const std::pair<llvm::StringLiteral, int64_t Struct::*> (&properties)[count]) {
  for (auto [name, member] : properties) {
    VerdictOr<int64_t> value = readPositive(target, name, /*fallback=*/0);
    if (!value)
      return value.refusal();
    into.*member = *value;
  }
  return Verdict::accept();
}

static Verdict readFit(TargetAttr target, WarpgroupFit& fit) {
  static constexpr std::pair<llvm::StringLiteral, int64_t WarpgroupFit::*> constants[] = {
      {"wgmma_elements_per_cycle", &WarpgroupFit::tensorElements},
      {"sm_read_bytes_per_cycle", &WarpgroupFit::smReadBytes},
      {"l2_read_bytes_per_cycle", &WarpgroupFit::l2ReadBytes},
      {"dram_bytes_per_cycle", &WarpgroupFit::dramBytes},
      {"l2_tie_percent", &WarpgroupFit::l2TiePercent},
      {"tile_store_bytes_per_cycle", &WarpgroupFit::storeBytes},
      {"tile_store_cycles", &WarpgroupFit::storeCycles},
      {"cluster_percent", &WarpgroupFit::clusterPercent}};
  return readAll(target, fit, constants);
}

VerdictOr<CudaTarget> CudaTarget::read(TargetAttr target, LibraryUse libraries) {
  static constexpr std::pair<llvm::StringLiteral, int64_t CudaTarget::*> facts[] = {
      {"sms", &CudaTarget::sms},
      {"smem_bytes_per_block", &CudaTarget::smemBytesPerBlock},
      {"smem_bytes_per_sm", &CudaTarget::smemBytesPerSm},
      {"registers_per_sm", &CudaTarget::registersPerSm}};
  CudaTarget cuda = {};
  if (Verdict verdict = readAll(target, cuda, facts); !verdict)
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
  if (cuda.warpgroups)
    if (Verdict verdict = readFit(target, cuda.warpgroupFit); !verdict)
      return verdict.refusal();
  cuda.bulkCopies = capability >= 90;
  cuda.libraries = libraries;
  return cuda;
}

} // namespace tenon::kernels
