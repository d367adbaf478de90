#ifndef TENON_CODEGEN_CUDA_LARGESTSEARCH_H
#define TENON_CODEGEN_CUDA_LARGESTSEARCH_H

#include "codegen/cuda/Emitter.h"

namespace tenon::codegen::cuda {

/// Adds to the kernel's phases what its search (`findSearch`) takes around those that offer
/// elements to it (`RegionPrinter::store` prints that): one that clears the block's candidates, and
/// one in which the last block stores the results. Nothing where the region has no search.
void surroundSearch(KernelContext& context);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_LARGESTSEARCH_H
