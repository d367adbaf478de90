#ifndef TENON_TOOLS_DRIVER_TARGETFILE_H
#define TENON_TOOLS_DRIVER_TARGETFILE_H

#include <string>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"

namespace tenon::tools {

/// True where `--target` names a file: it ends in `.target`.
bool isTargetFile(const std::string& name);

/// The target that the file at `path` describes, in the form of `ir/targets`: comments, then one
/// `#tenon.target`. The file may come from anybody: at most 64 KiB, not nested deeply. Errors name
/// it.
absl::StatusOr<TargetAttr> readTargetFile(mlir::MLIRContext& context, const std::string& path);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_TARGETFILE_H
