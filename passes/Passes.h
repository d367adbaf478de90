#ifndef TENON_PASSES_PASSES_H
#define TENON_PASSES_PASSES_H

#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tenon::passes {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

/// Makes every pass available to a pass-pipeline parser, as `tenon-opt` has.
void registerPasses();

} // namespace tenon::passes

#endif // TENON_PASSES_PASSES_H
