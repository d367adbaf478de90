#ifndef TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_H
#define TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_H

#include <memory>

#include "kernels/cuda/CudaScheduleRule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/cost/CostModel.h"

namespace tenon::passes {

#define GEN_PASS_DECL
#include "passes/schedule/ScheduleKernels.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/schedule/ScheduleKernels.h.inc"

/// What scheduling may use beside the target.
struct ScheduleOptions {
  kernels::LibraryUse use = {};               ///< of the device's libraries
  const cost::MeasuredTimes* times = nullptr; ///< may be null
};

/// The pass with options that no text can hold.
std::unique_ptr<mlir::Pass> createScheduleKernelsPass(const ScheduleOptions& options);

} // namespace tenon::passes

#endif // TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_H
