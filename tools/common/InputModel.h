#ifndef TENON_TOOLS_COMMON_INPUTMODEL_H
#define TENON_TOOLS_COMMON_INPUTMODEL_H

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
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
};

/// Reads MODEL for the target that `device` (`cpu` or `cuda`) and `target` name (`chooseTarget`).
/// MODEL may be a named shape where the options ask for random weights; a file of that name comes
/// first.
absl::StatusOr<InputModel> readInputModel(const ModelInputOptions& options,
                                          const std::string& device, const std::string& target);

/// The same; `target` alone says what kind of device it is for.
absl::StatusOr<InputModel> readInputModel(const ModelInputOptions& options,
                                          const std::string& target);

/// Compiles it; its weights are random where `options` ask for that. The module ends up planned.
/// `stamps` as in `compileModel`.
absl::StatusOr<runtime::Program> compileInputModel(const InputModel& model,
                                                   const ModelInputOptions& options,
                                                   const passes::FusionOptions& fusion = {},
                                                   bool stamps = false);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_INPUTMODEL_H
