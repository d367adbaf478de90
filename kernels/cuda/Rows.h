#ifndef TENON_KERNELS_CUDA_ROWS_H
#define TENON_KERNELS_CUDA_ROWS_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// How blocks take the rows of a reduction (codegen/cuda/emitters/Rows.h).
struct RowSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t group = 0;  ///< threads that share a row
  int64_t vector = 0; ///< elements that a thread takes at once
  /// 1: the next kernel may start when blocks end, not at their entry.
  int64_t triggerAtExit = 0;

  static constexpr Parameter<RowSchedule> parameters[] = {
      {"group", &RowSchedule::group},
      {"vector", &RowSchedule::vector},
      threadsParameter(&RowSchedule::threads),
      flagParameter("trigger_at_exit", &RowSchedule::triggerAtExit)};
};

/// A norm, a softmax or a reduction to one element a row, with what the region computes on elements
/// before and after it. The schedule is named after the operation.
struct RowKernel {
  mlir::Operation* hero;
  RowSchedule schedule;
  bool isAlone; ///< in its region

  static VerdictOr<RowKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

template <typename OpTy> struct RowKernelOf : RowKernel {
  static constexpr llvm::StringRef name = withoutDialect(OpTy::getOperationName());

  static VerdictOr<RowKernelOf> read(KernelOp kernel) {
    VerdictOr<RowKernel> found = RowKernel::read(kernel);
    if (!found)
      return found.refusal();
    return RowKernelOf{*found};
  }
};

/// The schedule of a kernel of one row reduction; sets its order, which follows from the operation
/// and the target alone.
ScheduleAttr scheduleRows(mlir::Operation& hero, const CudaTarget& target);

/// True where that order adds chunks of so many lanes.
bool hasChunksOf(mlir::Operation& hero, int64_t elements, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_ROWS_H
