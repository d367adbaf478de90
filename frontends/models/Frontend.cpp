#include "frontends/models/Frontend.h"

#include <filesystem>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "support/Status.h"

namespace tenon::frontends {

/// What `Frontend::recognizes` is promised.
static constexpr size_t headBytes = 4096;

const Frontend* findFrontend(const std::string& path, std::span<const std::byte> head) {
  for (const Frontend* frontend : allFrontends())
    if (frontend->recognizes(path, head))
      return frontend;
  return nullptr;
}

absl::StatusOr<std::unique_ptr<ModelSource>> openModel(const std::string& path) {
  std::error_code ignored;
  std::string head;
  if (!std::filesystem::is_directory(path, ignored)) {
    TENON_ASSIGN_OR_RETURN(head, readFileStart(path, headBytes));
  }
  if (const Frontend* frontend = findFrontend(path, std::as_bytes(std::span(head))))
    return frontend->open(path);
  std::string known =
      absl::StrJoin(allFrontends(), ", ", [](std::string* text, const Frontend* frontend) {
        text->append(frontend->name);
      });
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: expects a model in one of the formats %s", path, known));
}

} // namespace tenon::frontends
