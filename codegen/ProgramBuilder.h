#ifndef TENON_CODEGEN_PROGRAMBUILDER_H
#define TENON_CODEGEN_PROGRAMBUILDER_H

#include "absl/status/statusor.h"
#include "ir/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/program/Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon::codegen {

/// Turns a planned module into a Program for any device: files, constants (weights as ranges of
/// their files, `tenon.constant` embedded), states, functions with their ports and steps, the
/// workspace, the model. Each `tenon.kernel` becomes one step of the kernel that `kernelIndex`
/// names; its arguments are the kernel's inputs in order, then its results in order except for
/// states, which are written in place. Of `Program::kernels`, tiles and arguments are filled in;
/// the rest and `Program::code` are left to the code generator, and so is `validateProgram`; the
/// tokeniser is left to the tools.
///
/// Fails with InvalidArgument, naming the location, where the module is not a planned one.
absl::StatusOr<runtime::Program> buildProgram(mlir::ModuleOp module,
                                              llvm::function_ref<uint32_t(KernelOp)> kernelIndex);

/// What a program of `module`, of any phase, offers: the model and the functions with their ports,
/// without steps, constants or states. Fails where a port is no tensor of static shape.
absl::StatusOr<runtime::Program> describeFunctions(mlir::ModuleOp module);

} // namespace tenon::codegen

#endif // TENON_CODEGEN_PROGRAMBUILDER_H
