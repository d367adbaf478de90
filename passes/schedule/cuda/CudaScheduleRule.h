#ifndef TENON_PASSES_SCHEDULE_CUDA_CUDASCHEDULERULE_H
#define TENON_PASSES_SCHEDULE_CUDA_CUDASCHEDULERULE_H

#include "ir/Dialect.h"
#include "ir/Regions.h"
#include "passes/schedule/ScheduleRule.h"

namespace tenon::passes::schedule {

/// What rules ask of a CUDA target.
struct CudaTarget {
  int64_t sms;     ///< streaming multiprocessors
  bool bulkCopies; ///< cp.async.bulk: sm_90 and later
  bool libraries;  ///< whether cuBLASLt may be used
};

/// How kernels with one kind of hero are computed on a GPU. A rule is one file in this folder and
/// one line in the list in `CudaScheduleRules.cpp`.
struct CudaScheduleRule {
  /// True for a region that the rule knows to schedule.
  bool (*matches)(KernelOp kernel);
  /// The schedule; sets `order` on the reductions of the region.
  ScheduleAttr (*choose)(KernelOp kernel, const CudaTarget& target);
  /// What the rule's emitters compute, for one whose regions hold more than one operation.
  const RegionForm* form = nullptr;
};

/// The rules in the order in which they are asked.
llvm::ArrayRef<const CudaScheduleRule*> allCudaRules();

/// Elements of 16 bytes of the narrowest element type among the region's tensors.
int64_t widestVector(KernelOp kernel);
/// The largest power of two, at most `limit`, that divides `extent`.
int64_t dividingPower(int64_t extent, int64_t limit);

} // namespace tenon::passes::schedule

namespace tenon::passes::schedule::cuda_rules {

/// The rules, each defined in the file of its name.
extern const CudaScheduleRule attention;
extern const CudaScheduleRule copies;
extern const CudaScheduleRule elementwise;
extern const CudaScheduleRule kvWrite;
extern const CudaScheduleRule matmul;
extern const CudaScheduleRule rope;
extern const CudaScheduleRule rows;
extern const CudaScheduleRule selection;

} // namespace tenon::passes::schedule::cuda_rules

#endif // TENON_PASSES_SCHEDULE_CUDA_CUDASCHEDULERULE_H
