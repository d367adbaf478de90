#ifndef TENON_CODEGEN_CUDA_EMITTERS_INDEXED_H
#define TENON_CODEGEN_CUDA_EMITTERS_INDEXED_H

#include "codegen/cuda/Emitter.h"
#include "kernels/cuda/Indexed.h"

namespace tenon::codegen::cuda {

/// Starts the kernel of an `IndexedKernel`: what is printed next is run by one thread for each of
/// its elements or rows, `index`. The caller closes the block that this opens.
template <typename OpTy>
mlir::FailureOr<CodeWriter*> beginIndexed(KernelContext& context,
                                          kernels::IndexedKernel<OpTy>& kernel) {
  int64_t threads = kernel.schedule.threads, count = kernel.count();
  if (failed(context.expectTiles((count + threads - 1) / threads)))
    return mlir::failure();
  context.structure.headers = {"memory.cuh"};
  CodeWriter& code =
      context.structure.begin(PhaseKind::Store, context.arguments(false), context.results());
  for (const Access& access : context.arguments(true))
    context.structure.phases.back().reads.push_back(access);
  code.format("const long long index = tile * %d + threadIdx.x;", threads);
  code.openFormat("if (index < %d)", count);
  return &code;
}

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_INDEXED_H
