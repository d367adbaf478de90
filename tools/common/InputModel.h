#ifndef TENON_TOOLS_COMMON_INPUTMODEL_H
#define TENON_TOOLS_COMMON_INPUTMODEL_H

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
#include "tools/common/ModelInput.h"

namespace tenon::tools {

/// A model that a command works on, with what its module needs to live.
struct InputModel {
  std::unique_ptr<mlir::MLIRContext> context;
  /// The metadata of a named shape; null where MODEL is a file.
  std::shared_ptr<const frontends::ModelSource> shape;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  TargetAttr target;

  /// Whether the module is one of a language model.
  bool hasModel() const { return (*module)->hasAttr(TenonDialect::modelAttrName); }
};

/// Reads MODEL for the target that `options.device` and `options.target` name (`chooseTarget`); IR that
/// was scheduled for a target keeps it. MODEL may be a named shape where the options ask for random
/// weights; a file of that name comes first. What the request then lacks is denied to `rules`, and
/// a flag that cannot apply is refused.
absl::StatusOr<InputModel> readInputModel(const ModelInputOptions& options);

/// `NVIDIA H200, target h200`: what will run programs for `target`, or the target alone where this
/// machine has no such device.
std::string describeChoice(TargetAttr target);

/// Fails where `model` cannot generate text, before it is compiled: it is no language model, or its
/// file has no tokeniser that is known.
absl::Status requireText(const InputModel& model, const std::string& path);

/// Compiles it; its weights are random where `options` ask for that. The module ends up planned.
/// `stamps` as in `compileModel`.
absl::StatusOr<runtime::Program> compileInputModel(const InputModel& model,
                                                   const ModelInputOptions& options,
                                                   const passes::FusionOptions& fusion = {},
                                                   bool stamps = false);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_INPUTMODEL_H
