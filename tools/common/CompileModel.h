#ifndef TENON_TOOLS_COMMON_COMPILEMODEL_H
#define TENON_TOOLS_COMMON_COMPILEMODEL_H

#include <string>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/fusion/Fusion.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// The target of that name, or of the file of that name where it ends in `.target`, or, for `native`, the x86-64 target with the most features that this machine
/// has. NotFound lists the targets that there are.
absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& name);

/// The same, where `native` means this machine's device of the kind that `device` names, `cpu` or
/// `cuda`: for `cuda` the target of the first GPU, by its name, else by its compute capability.
/// InvalidArgument for a target of another kind, NotFound where there is no such device.
absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& device,
                                        const std::string& name);

/// Compiles `module`, of any phase, for `target` into a program, with the tokeniser of its model
/// file. The module ends up planned. With `stamps` the kernels of a GPU leave stamps
/// (`runtime::CudaLaunch`).
absl::StatusOr<runtime::Program> compileModel(mlir::ModuleOp module, TargetAttr target,
                                              const passes::FusionOptions& fusion = {},
                                              bool stamps = false);

/// The program of `module`, of any phase, without kernels: the functions' signatures, the model and
/// its tokeniser, for running by the interpreter.
absl::StatusOr<runtime::Program> describeModel(mlir::ModuleOp module);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_COMPILEMODEL_H
