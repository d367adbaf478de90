#ifndef TENON_PASSES_MEMORY_LIVENESS_H
#define TENON_PASSES_MEMORY_LIVENESS_H

#include <vector>

#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::passes {

/// A kernel result that needs workspace, and the steps during which its bytes are in use.
struct LiveResult {
  KernelOp kernel;
  unsigned result;   ///< index of the result of `kernel`
  int64_t bytes;     ///< storage bytes of the result
  int64_t firstStep; ///< the kernel that writes it, counted in the function's order
  int64_t lastStep;  ///< the last kernel that reads it, through views
};

/// The kernel results of `function` that are neither states nor (views of) its outputs, in program
/// order. A result is live from the start of the kernel that writes it to the end of the last that
/// reads it; one that nobody reads, for its own kernel.
std::vector<LiveResult> computeLiveness(mlir::func::FuncOp function);

} // namespace tenon::passes

#endif // TENON_PASSES_MEMORY_LIVENESS_H
