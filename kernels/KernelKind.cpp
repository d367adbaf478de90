#include "kernels/KernelKind.h"

#include "kernels/cuda/DecodeAttention.h"
#include "kernels/cuda/Elementwise.h"
#include "kernels/cuda/Gemm.h"
#include "kernels/cuda/Gemv.h"
#include "kernels/cuda/GemvBulk.h"
#include "kernels/cuda/Heads.h"
#include "kernels/cuda/HeldGemm.h"
#include "kernels/cuda/HopperAttention.h"
#include "kernels/cuda/HopperGemm.h"
#include "kernels/cuda/LibraryGemm.h"
#include "kernels/cuda/Moves.h"
#include "kernels/cuda/NarrowGemm.h"
#include "kernels/cuda/Rows.h"
#include "kernels/cuda/Selection.h"
#include "kernels/cuda/TensorDecodeAttention.h"
#include "kernels/cuda/TensorGemm.h"
#include "kernels/cuda/TensorPrefillAttention.h"
#include "kernels/regions/Regions.h"

using namespace mlir;

namespace tenon::kernels {

static constexpr KernelKind allKinds[] = {
    kindOf<CopyKernel>(),
    kindOf<DecodeAttentionKernel>(),
    kindOf<ElementwiseKernel>(),
    kindOf<GemmKernel>(),
    kindOf<GemvBulkKernel>(),
    kindOf<GemvKernel>(),
    kindOf<HeadRowsKernel>(),
    kindOf<HeadsKernel>(),
    kindOf<HeldGemmKernel>(),
    kindOf<HopperAttentionKernel>(),
    kindOf<HopperGemmKernel>(),
    kindOf<KvWriteKernel>(),
    kindOf<LibraryGemmKernel>(),
    kindOf<NarrowGemmKernel>(),
    kindOf<RopeKernel>(),
    kindOf<RowKernelOf<LayerNormOp>>(),
    kindOf<RowKernelOf<ReduceOp>>(),
    kindOf<RowKernelOf<RmsNormOp>>(),
    kindOf<RowKernelOf<SoftmaxOp>>(),
    kindOf<SelectionKernel<ArgmaxOp>>(),
    kindOf<SelectionKernel<TopKOp>>(),
    kindOf<TensorDecodeKernel>(),
    kindOf<TensorGemmKernel>(),
    kindOf<TensorPrefillKernel>(),
};

llvm::ArrayRef<KernelKind> allCudaKinds() { return allKinds; }

VerdictOr<std::unique_ptr<MatchedKernel>> readKernel(KernelOp kernel) {
  llvm::StringRef name = kernel.getScheduleAttr().getEmitter();
  for (const KernelKind& kind : allKinds)
    if (kind.name == name)
      return kind.read(kernel);
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

} // namespace tenon::kernels
