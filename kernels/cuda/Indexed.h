#ifndef TENON_KERNELS_CUDA_INDEXED_H
#define TENON_KERNELS_CUDA_INDEXED_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"

namespace tenon::kernels {

/// A thread an element, or a row.
struct IndexedSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;

  static constexpr Parameter<IndexedSchedule> parameters[] = {
      threadsParameter(&IndexedSchedule::threads)};
};

/// What threads compute on their own at the places of the operation's result: gather and scatter
/// element by element, a cumulative sum row by row (codegen/cuda/emitters/Gather.cpp and so on).
/// The schedule is named after the operation.
template <typename OpTy> struct IndexedKernel {
  static constexpr llvm::StringRef name = withoutDialect(OpTy::getOperationName());

  OpTy op;
  IndexedSchedule schedule;

  static VerdictOr<IndexedKernel> read(KernelOp kernel) { return readSole<IndexedKernel>(kernel); }
  BlockResources resources() const { return {.threads = schedule.threads, .registers = 40}; }
  PriceTerms priceTerms() const { return {}; }

  /// Threads with work: elements of the result, or rows.
  int64_t count() {
    int64_t elements = op.getType().getNumElements();
    return std::is_same_v<OpTy, CumulativeSumOp> ? elements / op.getType().getShape().back()
                                                 : elements;
  }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_INDEXED_H
