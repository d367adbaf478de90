#include "kernels/cuda/BlockResources.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

void BlockResources::boundRegisters(int64_t registersPerSm) {
  constexpr int64_t unit = 8;
  int64_t blockThreads = threads * std::max<int64_t>(blocksPerSm, 1);
  registers = std::min(registers, std::max(registersPerSm / blockThreads / unit * unit, unit));
}

int64_t residentBlocks(const BlockResources& resources, TargetAttr target) {
  constexpr int64_t warp = 32, registerUnit = 256, reservedSmemBytes = 1024, smemUnit = 128;
  auto limit = [&](llvm::StringRef property) { return target.getProperty(property).value_or(0); };
  int64_t warps = llvm::divideCeil(resources.threads, warp);
  int64_t registers = warps * llvm::alignTo(resources.registers * warp, registerUnit);
  int64_t smem = detail::saturatingSum(
      {resources.staticSmemBytes, resources.dynamicSmemBytes, reservedSmemBytes});
  int64_t blocks = std::min(limit("blocks_per_sm"), limit("threads_per_sm") / (warps * warp));
  blocks = std::min(blocks, limit("registers_per_sm") / registers);
  return std::min(blocks, smem > limit("smem_bytes_per_sm")
                              ? 0
                              : limit("smem_bytes_per_sm") /
                                    static_cast<int64_t>(llvm::alignTo(smem, smemUnit)));
}

} // namespace tenon::kernels
