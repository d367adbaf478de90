#include "kernels/KernelKind.h"

#include "kernels/cuda/Gemm.h"
#include "kernels/cuda/Gemv.h"
#include "kernels/cuda/GemvBulk.h"
#include "kernels/cuda/HeldGemm.h"
#include "kernels/cuda/HopperGemm.h"
#include "kernels/cuda/LibraryGemm.h"
#include "kernels/cuda/NarrowGemm.h"
#include "kernels/cuda/ParameterKind.h"
#include "kernels/cuda/TensorGemm.h"
#include "kernels/regions/Regions.h"

using namespace mlir;

namespace tenon::kernels {

static constexpr KernelKind typedKinds[] = {
    kindOf<GemmKernel>(),       kindOf<GemvKernel>(),       kindOf<GemvBulkKernel>(),
    kindOf<HeldGemmKernel>(),   kindOf<HopperGemmKernel>(), kindOf<LibraryGemmKernel>(),
    kindOf<NarrowGemmKernel>(), kindOf<TensorGemmKernel>(),
};

static const ParameterKind* const parameterKinds[] = {&kinds::argmax,
                                                      &kinds::copy,
                                                      &kinds::decodeAttention,
                                                      &kinds::elementwise,
                                                      &kinds::headRows,
                                                      &kinds::heads,
                                                      &kinds::kvWrite,
                                                      &kinds::layerNorm,
                                                      &kinds::reduce,
                                                      &kinds::rmsNorm,
                                                      &kinds::rope,
                                                      &kinds::softmax,
                                                      &kinds::tensorDecodeAttention,
                                                      &kinds::tensorPrefillAttention,
                                                      &kinds::topK};

int64_t kinds::sizeParameter(KernelOp kernel, llvm::StringRef name) {
  constexpr int64_t largest = 1 << 20;
  int64_t value = kernel.getScheduleAttr().getParameter(name).value_or(0);
  return value <= largest ? value : 0;
}

namespace {

/// A kernel of a kind whose schedules are no types.
class ParameterKernel final : public MatchedKernel {
public:
  ParameterKernel(const BlockResources& needs, const PriceTerms& terms)
      : needs(needs), terms(terms) {}

  std::optional<BlockResources> resources() const override { return needs; }
  PriceTerms priceTerms() const override { return terms; }

private:
  BlockResources needs;
  PriceTerms terms;
};

} // namespace

static VerdictOr<std::unique_ptr<MatchedKernel>> read(KernelOp kernel, const ParameterKind& kind) {
  constexpr int64_t mostThreads = 1024;
  BlockResources resources;
  resources.threads = kinds::sizeParameter(kernel, "threads");
  if (resources.threads < 1 || resources.threads > mostThreads)
    return Refusal{"expects whole warps of at most 1024 threads"};
  if (Verdict verdict = kind.fill(kernel, resources); !verdict)
    return verdict.refusal();
  PriceTerms terms = kind.priceTerms ? kind.priceTerms(kernel) : PriceTerms();
  return std::unique_ptr<MatchedKernel>(new ParameterKernel(resources, terms));
}

VerdictOr<std::unique_ptr<MatchedKernel>> readKernel(KernelOp kernel) {
  llvm::StringRef name = kernel.getScheduleAttr().getEmitter();
  for (const KernelKind& kind : typedKinds)
    if (kind.name == name)
      return kind.read(kernel);
  for (const ParameterKind* kind : parameterKinds)
    if (kind->name == name)
      return read(kernel, *kind);
  return Refusal{"expects a kind of kernel that GPUs have, but got " + name.str()};
}

BlockResources resourcesInPlace(KernelOp kernel, BlockResources resources, int64_t registersPerSm) {
  if (registersPerSm > 0)
    resources.boundRegisters(registersPerSm);
  // A search for the largest elements of rows: a key of 8 bytes for each, and a flag.
  constexpr int64_t keyBytes = 8, unit = 16;
  if (ArgmaxOp search = findSearch(kernel)) {
    // What a launch adds begins behind it, where products' emitters ask for multiples of 128.
    constexpr int64_t dynamicUnit = 128;
    int64_t bytes = llvm::alignTo((search.getType().getNumElements() + 1) * keyBytes, unit);
    resources.staticSmemBytes = llvm::alignTo(resources.staticSmemBytes + bytes,
                                              resources.dynamicSmemBytes > 0 ? dynamicUnit : 1);
  }
  return resources;
}

std::optional<BlockResources> blockResourcesOf(KernelOp kernel, int64_t registersPerSm) {
  VerdictOr<std::unique_ptr<MatchedKernel>> matched = readKernel(kernel);
  if (!matched)
    return std::nullopt;
  std::optional<BlockResources> resources = (*matched)->resources();
  return resources ? std::optional(resourcesInPlace(kernel, *resources, registersPerSm))
                   : std::nullopt;
}

} // namespace tenon::kernels
