#ifndef TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_H
#define TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_H

#include <memory>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tenon::passes {

#define GEN_PASS_DECL
#include "passes/schedule/ScheduleKernels.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/schedule/ScheduleKernels.h.inc"

} // namespace tenon::passes

#endif // TENON_PASSES_SCHEDULE_SCHEDULEKERNELS_H
