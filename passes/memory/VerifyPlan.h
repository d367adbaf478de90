#ifndef TENON_PASSES_MEMORY_VERIFYPLAN_H
#define TENON_PASSES_MEMORY_VERIFYPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::passes {

/// Checks a planned function, made by `PlanMemoryPass` or edited by hand: every kernel has a
/// schedule and buffers; a result has a buffer exactly where it needs workspace; every buffer lies
/// inside the workspace; no two buffers that are in use at the same time share a byte. Emits an
/// error at the kernel, with a note at the other one.
mlir::LogicalResult verifyPlan(mlir::func::FuncOp function);

} // namespace tenon::passes

#endif // TENON_PASSES_MEMORY_VERIFYPLAN_H
