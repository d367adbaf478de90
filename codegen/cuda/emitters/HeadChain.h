#ifndef TENON_CODEGEN_CUDA_EMITTERS_HEADCHAIN_H
#define TENON_CODEGEN_CUDA_EMITTERS_HEADCHAIN_H

#include "codegen/cuda/Emitter.h"
#include "kernels/regions/HeadRegion.h"

namespace tenon::codegen::cuda {

// What kernels that take heads through norm, rope and cache write print alike, so that all of them
// give the same bits. A warp takes a head; `lane` is its thread's number.

/// Lanes in which the chain's norm adds, each a float of shared memory for a warp; 0 without a
/// norm. Emits an error where its order is none that a warp follows.
mlir::FailureOr<int64_t> normLanesOf(kernels::HeadRegion::Chain& chain);

/// Brings head `head`, an expression of long long, into the floats `values` of the warp.
void printHeadLoad(KernelContext& context, CodeWriter& code, kernels::HeadRegion::Chain& chain,
                   const std::string& head);
/// Normalises `values`; `sums` are the floats of the lanes.
void printHeadNorm(KernelContext& context, CodeWriter& code, kernels::HeadRegion::Chain& chain);

/// `sine` and `cosine` of pair `part` at `position`, an expression of int; of its inverse frequency
/// `frequency` where the kernel has loaded it.
void printTurn(KernelContext& context, CodeWriter& code, RopeOp op, const std::string& position,
               const std::string& frequency = "");
/// The elements of pair `part`: `first` and `second`, `offset` elements into the tensor.
void printPair(CodeWriter& code, RopeOp op, const std::string& offset = "");
/// The expressions of a pair (a, b) turned by `sine` and `cosine`, not yet rounded.
inline constexpr const char* turnedFirst = "a * cosine - b * sine";
inline constexpr const char* turnedSecond = "a * sine + b * cosine";

/// Whether row `row` of the write stays: `sequence`, `place`, and `stays`, the same in the whole
/// warp; `blocks` of a paged cache. A row stays unless a later one goes to the same place.
void printStays(KernelContext& context, CodeWriter& code, KvWriteOp op);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_HEADCHAIN_H
