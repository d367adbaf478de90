#ifndef TENON_TOOLS_DRIVER_COMPILEMODEL_H
#define TENON_TOOLS_DRIVER_COMPILEMODEL_H

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "frontends/models/ModelSource.h"
#include "ir/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/fusion/Fusion.h"
#include "runtime/program/Program.h"
#include "llvm/ADT/StringMap.h"
#ifdef TENON_CUDA
#include "runtime/cuda/Devices.h"
#endif

namespace tenon::tools {

/// The target that `name` stands for: that of a known target, of a file where it ends in `.target`,
/// or of this machine: `cpu`, the x86-64 target with the most features that it has; `cuda`, the
/// target of its first GPU, by the GPU's name, else by its compute capability; `native`, its GPU's
/// where it has one and this build can use it, else its CPU's. A usage error lists the targets that
/// there are; NotFound where there is no such device.
absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& name);

/// The same on a device of the kind `device`, `cpu` or `cuda`, or `auto` for any. A usage error for a
/// target of another kind.
absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& device,
                                        const std::string& name);

/// What `cpu` stands for on a CPU with those features; NotFound where no target asks for no others.
absl::StatusOr<TargetAttr> chooseCpuTarget(mlir::MLIRContext& context,
                                           const llvm::StringMap<bool>& features);
#ifdef TENON_CUDA
/// What `cuda` stands for on a machine with those GPUs; NotFound where there is none, or no target
/// of its architecture.
absl::StatusOr<TargetAttr> chooseGpuTarget(mlir::MLIRContext& context,
                                           std::span<const runtime::CudaDeviceInfo> gpus);
#endif

/// The tokeniser of `metadata` or, where that is null, of the model file that `module` names,
/// checked; nothing where it is no language model. Fails where the file has none, or one that is
/// not known.
absl::StatusOr<std::optional<runtime::TokenizerSpec>>
readModelTokenizer(mlir::ModuleOp module, const frontends::ModelSource* metadata = nullptr);

/// Compiles `module`, of any phase, for `target` into a program, with the tokeniser of its model
/// file where `readModelTokenizer` finds one, or of `metadata` where that is given. The module ends
/// up planned. With `stamps` the kernels of a GPU leave stamps (`runtime::CudaLaunch`).
absl::StatusOr<runtime::Program> compileModel(mlir::ModuleOp module, TargetAttr target,
                                              const passes::FusionOptions& fusion = {},
                                              bool stamps = false,
                                              const frontends::ModelSource* metadata = nullptr);

/// The program of `module`, of any phase, without kernels: the functions' signatures, the model and
/// its tokeniser as for `compileModel`, for running by the interpreter.
absl::StatusOr<runtime::Program> describeModel(mlir::ModuleOp module);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_COMPILEMODEL_H
