#ifndef TENON_KERNELS_CUDA_SCHEDULEKIND_H
#define TENON_KERNELS_CUDA_SCHEDULEKIND_H

#include "kernels/cuda/BlockResources.h"

namespace tenon::kernels {

/// A kind of schedule of GPU kernels and its resource arithmetic. A kind is one function in a file
/// of this folder and one line in the list of `BlockResources.cpp`.
struct ScheduleKind {
  /// The emitter's name in `#tenon.schedule`.
  llvm::StringLiteral name;
  /// Fills all but the threads, which are the parameter of that name or `fixedThreads`; of registers as
  /// many as a thread would take were there enough. False where the region or the parameters are none
  /// of that kind.
  bool (*fill)(KernelOp kernel, BlockResources& resources);
  int64_t fixedThreads = 0; ///< where the kind has no parameter `threads`
};

namespace kinds {

extern const ScheduleKind argmax, copy, decodeAttention, elementwise, gemm, gemv, gemvBulk, heads,
    heldGemm, hopperGemm, kvWrite, layerNorm, narrowGemm, reduce, rmsNorm, rope, softmax,
    tensorDecodeAttention, tensorGemm, tensorPrefillAttention, topK;

/// The parameter; 0 where it is missing or larger than any that a block's resources follow from.
int64_t sizeParameter(KernelOp kernel, llvm::StringRef name);

/// The first `OpTy` of the region; null where there is none.
template <typename OpTy> OpTy findOp(KernelOp kernel) {
  for (mlir::Operation& op : kernel.getBlock())
    if (auto found = llvm::dyn_cast<OpTy>(op))
      return found;
  return nullptr;
}

/// Registers of a thread that takes what `__launch_bounds__` leaves it.
constexpr int64_t mostRegisters = 255;

} // namespace kinds
} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_SCHEDULEKIND_H
