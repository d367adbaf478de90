#ifndef TENON_PASSES_SCHEDULE_SCHEDULER_H
#define TENON_PASSES_SCHEDULE_SCHEDULER_H

#include <optional>

#include "ir/Dialect.h"
#include "kernels/cpu/ScheduleRule.h"
#include "kernels/cuda/CudaScheduleRule.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/CostModel.h"

namespace tenon::passes::schedule {

/// Chooses the schedules of kernels on one target. What it knows to schedule is what the target's
/// code generator has an emitter for.
class Scheduler {
public:
  /// For the target; emits an error at `module` where the target lacks a property or states an
  /// impossible one. `times` may be null and must outlive the scheduler.
  static mlir::FailureOr<Scheduler> create(mlir::ModuleOp module, TargetAttr target,
                                           kernels::LibraryUse use = {},
                                           const cost::MeasuredTimes* times = nullptr);

  /// The best schedule of `kernel` beside `neighbours`, and the `order` of each reduction in its
  /// region, which is set. It depends on the region, the target and the neighbours alone, so that a
  /// prototype of the region is priced with the schedule that runs. Null where no emitter computes
  /// the region. It is the rule's choice, or, where that has been measured, the alternative with
  /// the least measured time.
  ScheduleAttr best(KernelOp kernel, kernels::Neighbours neighbours = {}) const;

  /// Other schedules of a scheduled kernel that compute the same bits, worth measuring.
  llvm::SmallVector<ScheduleAttr> alternatives(KernelOp kernel) const;

  /// Whether an emitter computes the region.
  Verdict accepts(KernelOp kernel) const;

  /// Whether a library would compute the region, one GEMM of plain types with rows enough for a
  /// library and what follows it; accepts all other regions.
  Verdict suitsLibrary(KernelOp kernel) const;

private:
  Scheduler() = default;

  ScheduleAttr choose(KernelOp kernel, kernels::Neighbours neighbours) const;
  /// The measured time of `kernel` with that schedule, in ns.
  std::optional<int64_t> measured(KernelOp kernel, ScheduleAttr schedule) const;

  const cost::MeasuredTimes* times = nullptr;
  std::optional<kernels::CpuTarget> cpu;
  std::optional<kernels::CudaTarget> cuda;
};

} // namespace tenon::passes::schedule

#endif // TENON_PASSES_SCHEDULE_SCHEDULER_H
