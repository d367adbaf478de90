#ifndef TENON_KERNELS_CUDA_CUDASCHEDULERULE_H
#define TENON_KERNELS_CUDA_CUDASCHEDULERULE_H

#include "kernels/KernelKind.h"
#include "kernels/Neighbours.h"
#include "kernels/Schedules.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/Regions.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// How kernels with one kind of hero are computed on a GPU. A rule is one file in this folder and
/// one line in the list in `CudaScheduleRules.cpp`.
struct CudaScheduleRule {
  /// True for a region that the rule knows to schedule.
  bool (*matches)(KernelOp kernel, const CudaTarget& target);
  /// The schedule, of a kernel that stands beside `neighbours`; sets `order` on the reductions of
  /// the region.
  ScheduleAttr (*choose)(KernelOp kernel, const CudaTarget& target, Neighbours neighbours);
  /// What the rule's emitters compute, for one whose regions hold more than one operation.
  const RegionForm* form = nullptr;
  /// Instead of `form`, where the rule's regions have more than one hero: why the rule schedules no
  /// such region. Accepts if it can schedule it, or if the region has no hero of this rule.
  Verdict (*accepts)(KernelOp kernel, const CudaTarget& target) = nullptr;
  /// Other schedules of a scheduled region that compute the same bits, worth measuring; null where
  /// there are none.
  llvm::SmallVector<ScheduleAttr> (*alternatives)(KernelOp kernel,
                                                  const CudaTarget& target) = nullptr;
};

/// The rules in the order in which they are asked.
llvm::ArrayRef<const CudaScheduleRule*> allCudaRules();

/// True where a block that takes `resources` for the region of `kernel` fits the shared memory that
/// a block may have and the registers of a multiprocessor.
bool fitsBlock(KernelOp kernel, const BlockResources& resources, const CudaTarget& target);

/// Elements of 16 bytes of the narrowest element type among the region's tensors.
int64_t widestVector(KernelOp kernel);
} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

/// The rules, each defined in the file of its name.
extern const CudaScheduleRule attention;
extern const CudaScheduleRule copies;
extern const CudaScheduleRule elementwise;
extern const CudaScheduleRule experts;
extern const CudaScheduleRule heads;
extern const CudaScheduleRule indexed;
extern const CudaScheduleRule kvWrite;
extern const CudaScheduleRule matmul;
extern const CudaScheduleRule gemms;
extern const CudaScheduleRule patches;
extern const CudaScheduleRule accept;
extern const CudaScheduleRule ringPlaces;
extern const CudaScheduleRule rope;
extern const CudaScheduleRule rows;
extern const CudaScheduleRule selection;

/// `alternatives` of the rules that schedule GEMMs: those of the kind that the kernel has.
llvm::SmallVector<ScheduleAttr> gemmAlternatives(KernelOp kernel, const CudaTarget& target);

} // namespace tenon::kernels::cuda_rules

#endif // TENON_KERNELS_CUDA_CUDASCHEDULERULE_H
