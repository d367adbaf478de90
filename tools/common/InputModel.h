#ifndef TENON_TOOLS_COMMON_INPUTMODEL_H
#define TENON_TOOLS_COMMON_INPUTMODEL_H

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "ir/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/fusion/Fusion.h"
#include "runtime/program/Program.h"
#include "tools/common/ModelInput.h"

namespace tenon::tools {

/// The metadata of a named shape as a GGUF file in a temporary folder, which goes with the object.
class ShapeFile {
public:
  /// `name` as `findModelShape` takes it; `encoding` that of the matrices.
  static absl::StatusOr<std::unique_ptr<ShapeFile>> write(const std::string& name,
                                                          const std::string& encoding);
  ~ShapeFile();
  ShapeFile(const ShapeFile&) = delete;
  ShapeFile& operator=(const ShapeFile&) = delete;

  const std::string& path() const { return filePath; }

private:
  ShapeFile(std::string folder, std::string path)
      : folder(std::move(folder)), filePath(std::move(path)) {}

  std::string folder;
  std::string filePath;
};

/// A model that a command works on, with what its module needs to live.
struct InputModel {
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<ShapeFile> shape; ///< null where MODEL is a file
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
