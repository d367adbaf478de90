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
  int64_t rows = 1;   ///< that a group takes together
  /// 1: the next kernel may start when blocks end, not at their entry.
  int64_t triggerAtExit = 0;

  static constexpr Parameter<RowSchedule> parameters[] = {
      {"group", &RowSchedule::group},
      {"rows", &RowSchedule::rows, 1, 8, /*absent=*/1},
      {"vector", &RowSchedule::vector},
      threadsParameter(&RowSchedule::threads),
      flagParameter("trigger_at_exit", &RowSchedule::triggerAtExit)};
};

/// A norm, a softmax or a reduction to one element a row, with what the region computes on elements
/// before and after it; or several norms of one value, which have the same sums. The schedule is
/// named after the operation.
struct RowKernel {
  mlir::Operation* hero;
  llvm::SmallVector<mlir::Operation*, 1> siblings; ///< the other norms of the hero's input
  RowSchedule schedule;
  bool isAlone; ///< in its region

  static VerdictOr<RowKernel> read(KernelOp kernel);
  /// Whether threads keep what scales and shifts a row in registers from the start, so that the
  /// last pass need not wait for it: not for several rows, nor where it takes too many.
  bool preloads() const;
  /// Whether threads keep the row, too, from pass to pass.
  bool keepsRow() const;
  BlockResources resources() const;
  PriceTerms priceTerms() const;

private:
  int64_t elementsOfThread() const;
  int64_t registersOfOperands(int64_t elements) const;
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
