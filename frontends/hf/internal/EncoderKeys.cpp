#include "frontends/hf/internal/EncoderKeys.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_format.h"

#include "support/MappedFile.h"
#include "support/Status.h"

namespace tenon::frontends {

using nlohmann::json;
namespace fs = std::filesystem;

/// modules.json, whose root is a list, as the member `modules` of an object.
static absl::StatusOr<JsonFile> openModules(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() > JsonFile::maxBytes / 2)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects a list of modules, but got a file of %u bytes", path, bytes.size()));
  std::string_view list(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return JsonFile::parse(path, absl::StrFormat("{\"modules\": %s}", list));
}

/// The folder of the pooling; nothing where there is none. What has no weights may stand beside it.
static absl::StatusOr<std::optional<std::string>> findPooling(const JsonFile& file) {
  const json* modules = file.find("modules");
  if (!modules || !modules->is_array())
    return file.error("modules", "a list", modules ? describeJson(*modules) : "none");
  std::optional<std::string> folder;
  for (size_t i = 0; i < modules->size(); ++i) {
    const std::string place = absl::StrFormat("modules[%u].", i);
    TENON_ASSIGN_OR_RETURN(std::string type, file.text((*modules)[i], place, "type", ""));
    TENON_ASSIGN_OR_RETURN(std::string path, file.text((*modules)[i], place, "path", ""));
    if (type.ends_with(".Pooling") && !folder) {
      if (path.find('/') != path.npos || path == "..")
        return file.error(place + "path", "a folder beside it", json(path));
      folder = path;
    } else if (!type.ends_with(".Transformer") && !type.ends_with(".Normalize")) {
      return file.error(place + "type", "a Transformer, one Pooling or a Normalize", json(type));
    }
  }
  return folder;
}

absl::Status readPooling(HfKeys& keys) {
  constexpr std::string_view canonical = "pooling_type";
  constexpr int mean = 1, first = 2; // GGUF's numbers
  keys.set(canonical, canonical, mean);
  const fs::path folder = fs::path(keys.config().path()).parent_path();
  std::string pooling = "1_Pooling";
  std::error_code ignored;
  if (fs::path list = folder / "modules.json"; fs::exists(list, ignored)) {
    TENON_ASSIGN_OR_RETURN(JsonFile modules, openModules(list.string()));
    TENON_ASSIGN_OR_RETURN(std::optional<std::string> found, findPooling(modules));
    if (!found)
      return absl::OkStatus();
    pooling = *found;
  }
  const fs::path path = folder / pooling / "config.json";
  if (!fs::exists(path, ignored))
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(JsonFile file, JsonFile::open(path.string()));
  std::optional<int> kind;
  for (const auto& [key, value] : file.root().items()) {
    if (!key.starts_with("pooling_mode_") || value == false || value.is_null())
      continue;
    const bool isMean = key == "pooling_mode_mean_tokens",
               isFirst = key == "pooling_mode_cls_token";
    if (value != true || kind || (!isMean && !isFirst))
      return file.error(key, "one mode, of the mean or of the first token (CLS)", value);
    kind = isMean ? mean : first;
  }
  if (!kind)
    return file.error("pooling_mode_mean_tokens", "one mode that is true", std::string("none"));
  keys.set(canonical, canonical, *kind);
  return absl::OkStatus();
}

} // namespace tenon::frontends
