#ifndef TENON_TOOLS_COMMON_COMPILEMODEL_H
#define TENON_TOOLS_COMMON_COMPILEMODEL_H

#include <string>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// The target named, or, for `native`, the x86-64 target with the most features that this machine
/// has. NotFound lists the targets that there are.
absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& name);

/// Compiles `module`, of any phase, for `target` into a program, with the tokeniser of its model
/// file. The module ends up planned.
absl::StatusOr<runtime::Program> compileModel(mlir::ModuleOp module, TargetAttr target);

/// The program of `module`, of any phase, without kernels: the functions' signatures, the model and
/// its tokeniser, for running by the interpreter.
absl::StatusOr<runtime::Program> describeModel(mlir::ModuleOp module);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_COMPILEMODEL_H
