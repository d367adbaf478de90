#ifndef TENON_KERNELS_CUDA_SELECTION_H
#define TENON_KERNELS_CUDA_SELECTION_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"

namespace tenon::kernels {

/// A block a row.
struct SelectionSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;

  static constexpr Parameter<SelectionSchedule> parameters[] = {
      threadsParameter(&SelectionSchedule::threads)};
};

/// A search of the best elements of each row (codegen/cuda/emitters/Selection.cpp). The schedule is
/// named after the operation.
template <typename OpTy> struct SelectionKernel {
  static constexpr llvm::StringRef name = withoutDialect(OpTy::getOperationName());

  OpTy op;
  SelectionSchedule schedule;

  static VerdictOr<SelectionKernel> read(KernelOp kernel) {
    return readSole<SelectionKernel>(kernel);
  }
  /// A candidate, value and index, of each warp; for several elements of a row two buffers of them.
  BlockResources resources() const {
    constexpr int64_t candidateBytes = 8, buffers = std::is_same_v<OpTy, TopKOp> ? 2 : 1;
    return {.threads = schedule.threads,
            .registers = 40,
            .staticSmemBytes = buffers * candidateBytes * (schedule.threads / 32)};
  }
  PriceTerms priceTerms() const { return {}; }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_SELECTION_H
