#ifndef TENON_KERNELS_CUDA_PARAMETERKIND_H
#define TENON_KERNELS_CUDA_PARAMETERKIND_H

#include "kernels/KernelKind.h"
#include "kernels/Schedules.h"

namespace tenon::kernels {

/// A kind whose schedules are read parameter by parameter instead of as a type. A kind is one
/// function in a file of this folder and one line in the list of `KernelKind.cpp`.
struct ParameterKind {
  /// The emitter's name in `#tenon.schedule`.
  llvm::StringLiteral name;
  /// Fills all but the threads, which are the parameter of that name; of registers as many as a
  /// thread would take were there enough. Refuses a region or parameters that are none of that
  /// kind.
  Verdict (*fill)(KernelOp kernel, BlockResources& resources);
  /// Null where there are none.
  PriceTerms (*priceTerms)(KernelOp kernel) = nullptr;
};

namespace kinds {

extern const ParameterKind argmax, copy, decodeAttention, elementwise, headRows, heads, kvWrite,
    layerNorm, reduce, rmsNorm, rope, softmax, tensorDecodeAttention, tensorPrefillAttention, topK;

/// The parameter; 0 where it is missing or larger than any that a block's resources follow from.
int64_t sizeParameter(KernelOp kernel, llvm::StringRef name);

} // namespace kinds
} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_PARAMETERKIND_H
