#ifndef TENON_TOOLS_MEASURE_ISOLATEDKERNELS_H
#define TENON_TOOLS_MEASURE_ISOLATEDKERNELS_H

#include "absl/status/statusor.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::tools {

/// The name of the one function of a module of isolated operations.
inline constexpr const char* isolatedFunction = "f";

/// A module in phase `simplified` of `ops` alone, which stand in one block of such a module in that
/// order. Weights become weights of random values, caches become states; constants are copied; what
/// else the operations read are arguments, and what anything outside reads of them are results.
mlir::OwningOpRef<mlir::ModuleOp> isolate(llvm::ArrayRef<mlir::Operation*> ops);

/// The operations of `isolatedFunction` that compute something, in order.
llvm::SmallVector<mlir::Operation*> computationsOf(mlir::ModuleOp isolated);

/// How isolated operations become kernels.
enum class Grouping {
  OneKernel,     ///< all of them one
  KernelEach,    ///< each its own, a library's where one takes it
  OwnKernelEach, ///< each its own, none a library's
};

/// A planned copy of `isolated` for `target`. Fails where no emitter computes a kernel.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
planIsolated(mlir::ModuleOp isolated, TargetAttr target, Grouping grouping);

/// The function of such a module.
mlir::func::FuncOp isolatedBody(mlir::ModuleOp isolated);

} // namespace tenon::tools

#endif // TENON_TOOLS_MEASURE_ISOLATEDKERNELS_H
