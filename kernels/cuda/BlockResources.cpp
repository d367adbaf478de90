#include "kernels/cuda/BlockResources.h"

#include "kernels/cuda/ScheduleKind.h"
#include "kernels/regions/Regions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static const ScheduleKind* const allKinds[] = {&kinds::argmax,
                                               &kinds::copy,
                                               &kinds::decodeAttention,
                                               &kinds::elementwise,
                                               &kinds::gemm,
                                               &kinds::gemv,
                                               &kinds::gemvBulk,
                                               &kinds::heads,
                                               &kinds::heldGemm,
                                               &kinds::hopperGemm,
                                               &kinds::kvWrite,
                                               &kinds::layerNorm,
                                               &kinds::narrowGemm,
                                               &kinds::reduce,
                                               &kinds::rmsNorm,
                                               &kinds::rope,
                                               &kinds::softmax,
                                               &kinds::tensorDecodeAttention,
                                               &kinds::tensorGemm,
                                               &kinds::tensorPrefillAttention,
                                               &kinds::topK};

int64_t kinds::sizeParameter(KernelOp kernel, llvm::StringRef name) {
  constexpr int64_t largest = 1 << 20;
  int64_t value = kernel.getScheduleAttr().getParameter(name).value_or(0);
  return value <= largest ? value : 0;
}

/// No more registers than `__launch_bounds__` leaves a thread.
static void boundRegisters(BlockResources& resources, int64_t registersPerSm) {
  constexpr int64_t unit = 8;
  int64_t threads = resources.threads * std::max<int64_t>(resources.blocksPerSm, 1);
  int64_t most = std::max(registersPerSm / threads / unit * unit, unit);
  resources.registers = std::min(resources.registers, most);
}

/// Shared memory of a search for the largest elements of rows: a key of 8 bytes for each, and a flag.
static int64_t searchBytes(KernelOp kernel) {
  constexpr int64_t keyBytes = 8, unit = 16;
  ArgmaxOp search = findSearch(kernel);
  return search ? llvm::alignTo((search.getType().getNumElements() + 1) * keyBytes, unit) : 0;
}

std::optional<BlockResources> blockResourcesOf(KernelOp kernel, int64_t registersPerSm) {
  constexpr int64_t mostThreads = 1024;
  for (const ScheduleKind* kind : allKinds) {
    if (kind->name != kernel.getScheduleAttr().getEmitter())
      continue;
    BlockResources resources;
    resources.threads =
        kind->fixedThreads > 0 ? kind->fixedThreads : kinds::sizeParameter(kernel, "threads");
    bool valid =
        resources.threads > 0 && resources.threads <= mostThreads && kind->fill(kernel, resources);
    if (valid && registersPerSm > 0)
      boundRegisters(resources, registersPerSm);
    if (int64_t search = searchBytes(kernel)) {
      // What a launch adds begins behind it, where products' emitters ask for multiples of 128.
      constexpr int64_t dynamicUnit = 128;
      resources.staticSmemBytes = llvm::alignTo(resources.staticSmemBytes + search,
                                                resources.dynamicSmemBytes > 0 ? dynamicUnit : 1);
    }
    return valid ? std::optional(resources) : std::nullopt;
  }
  return std::nullopt;
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
