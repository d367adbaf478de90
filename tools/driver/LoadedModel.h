#ifndef TENON_TOOLS_DRIVER_LOADEDMODEL_H
#define TENON_TOOLS_DRIVER_LOADEDMODEL_H

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "frontends/models/ModelSource.h"
#include "ir/Attributes.h"
#include "ir/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/fusion/Fusion.h"
#include "runtime/program/Program.h"
#include "tools/driver/ReadModel.h"

namespace tenon::tools {

/// A model with what its module needs to live.
struct LoadedModel {
  std::unique_ptr<mlir::MLIRContext> context;
  /// The metadata of a named shape; null where the model is a file.
  std::shared_ptr<const frontends::ModelSource> shape;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TargetAttr target;
  bool isText = false; ///< a graph in textual IR, of any phase
  bool tf32 = false;   ///< as `FusionOptions` has it

  /// Whether the module is one of a language model.
  bool hasModel() const { return (*module)->hasAttr(TenonDialect::modelAttrName); }
};

/// Reads the model for the target that `options.device` and `options.target` name (`chooseTarget`); IR
/// that was scheduled for a target keeps it. `options.path` may be a named shape where weights are
/// random; a file of that name comes first. Fails as `readModel` and `chooseTarget` do; a usage error
/// for a device, target or type of activations that IR of a later phase contradicts.
absl::StatusOr<LoadedModel> loadModel(const ModelOptions& options);

/// Fails where `model` cannot generate text, before it is compiled: it is no language model, or its
/// file has no tokeniser that is known.
absl::Status requireText(const LoadedModel& model, const std::string& path);

/// Compiles it; its weights are random where `options` ask for that. The module ends up planned.
/// `stamps` as for a module (`CompileModel.h`).
absl::StatusOr<runtime::Program> compileModel(const LoadedModel& model, const ModelOptions& options,
                                              const passes::FusionOptions& fusion = {},
                                              bool stamps = false);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_LOADEDMODEL_H
