#include "tools/driver/TargetFile.h"

#include "absl/strings/str_format.h"
#include "frontends/text/NestingCheck.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "support/Diagnostics.h"
#include "support/MappedFile.h"
#include "support/Status.h"

namespace tenon::tools {

bool isTargetFile(const std::string& name) { return name.ends_with(".target"); }

absl::StatusOr<TargetAttr> readTargetFile(mlir::MLIRContext& context, const std::string& path) {
  constexpr size_t mostBytes = size_t(64) << 10;
  TENON_ASSIGN_OR_RETURN(auto file, MappedFile::open(path));
  std::string text(reinterpret_cast<const char*>(file->bytes().data()),
                   std::min(file->bytes().size(), mostBytes + 1));
  if (text.size() > mostBytes)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects a target of at most %u bytes, but got %u", path, mostBytes,
                        file->bytes().size()));
  TENON_RETURN_IF_ERROR(frontends::checkNesting(text, path, frontends::maxTextNesting));
  DiagnosticCollector diagnostics(&context);
  if (TargetAttr target = parseTarget(&context, text))
    return target;
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: %s", path, std::string(diagnostics.takeStatus().message())));
}

} // namespace tenon::tools
