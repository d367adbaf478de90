#include "support/MessageText.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tenon {

static constexpr size_t longestName = 100;

std::string quoteName(std::string_view text) {
  std::string_view shown = text.substr(0, longestName);
  // Never cuts through a UTF-8 sequence: its continuation bytes are 10xxxxxx.
  while (shown.size() < text.size() && !shown.empty() && (text[shown.size()] & 0xC0) == 0x80)
    shown.remove_suffix(1);
  return absl::StrCat("'", absl::Utf8SafeCHexEscape(absl::string_view(shown.data(), shown.size())),
                      shown.size() < text.size() ? "…'" : "'");
}

std::string shapeText(std::span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape.begin(), shape.end(), ", "), "]");
}

} // namespace tenon
