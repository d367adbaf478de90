#include "tools/common/InputModel.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "ir/encoding/Encoding.h"
#include "support/Status.h"
#include "tools/common/CompileModel.h"
#include "tools/common/RandomConstants.h"
#include "tools/common/RandomModel.h"

namespace tenon::tools {

namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<ShapeFile>> ShapeFile::write(const std::string& name,
                                                            const std::string& encoding) {
  TENON_ASSIGN_OR_RETURN(ModelShape shape, findModelShape(name));
  const Encoding* stored = findEncoding(encoding);
  if (!stored)
    return absl::InvalidArgumentError(
        absl::StrFormat("--type: expects an element type, but got '%s'", encoding));
  std::error_code failure;
  std::string folder = (fs::temp_directory_path(failure) / "tenon-XXXXXX").string();
  if (failure || !::mkdtemp(folder.data()))
    return absl::ErrnoToStatus(errno, absl::StrFormat("%s: cannot create", folder));
  std::unique_ptr<ShapeFile> file(new ShapeFile(folder, folder + "/" + name + ".gguf"));
  TENON_RETURN_IF_ERROR(writeModelMetadata(shape, *stored, file->path()));
  return file;
}

ShapeFile::~ShapeFile() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

/// Reads MODEL for `input.target`.
static absl::StatusOr<InputModel> read(InputModel input, ModelInputOptions options) {
  if (options.randomSeed && !fs::exists(options.path)) {
    TENON_ASSIGN_OR_RETURN(input.shape, ShapeFile::write(options.path, options.weightType));
    options.path = input.shape->path();
  }
  TENON_ASSIGN_OR_RETURN(input.module,
                         readModel(*input.context, options, input.target.getDevice()));
  return input;
}

absl::StatusOr<InputModel> readInputModel(const ModelInputOptions& options,
                                          const std::string& device, const std::string& target) {
  InputModel input;
  input.context = makeContext();
  TENON_ASSIGN_OR_RETURN(input.target, chooseTarget(*input.context, device, target));
  return read(std::move(input), options);
}

absl::StatusOr<InputModel> readInputModel(const ModelInputOptions& options,
                                          const std::string& target) {
  InputModel input;
  input.context = makeContext();
  TENON_ASSIGN_OR_RETURN(input.target, chooseTarget(*input.context, target));
  return read(std::move(input), options);
}

absl::StatusOr<runtime::Program> compileInputModel(const InputModel& model,
                                                   const ModelInputOptions& options,
                                                   const passes::FusionOptions& fusion,
                                                   bool stamps) {
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileModel(*model.module, model.target, fusion, stamps));
  if (options.randomSeed)
    TENON_RETURN_IF_ERROR(randomizeConstants(program, *options.randomSeed));
  return program;
}

} // namespace tenon::tools
