#include "frontends/gguf/internal/MetadataReader.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/Status.h"

namespace tenon::frontends {

std::string MetadataReader::fullKey(std::string_view key) const {
  return absl::StrFormat("%s.%s", architecture, key);
}

absl::Status MetadataReader::error(std::string_view key, const std::string& expected,
                                   const std::string& found) const {
  return absl::InvalidArgumentError(absl::StrFormat("%s: metadata key '%s' expects %s, but got %s",
                                                    file().path(), fullKey(key), expected, found));
}

absl::StatusOr<int64_t> MetadataReader::count(std::string_view key, int64_t highest,
                                              std::optional<int64_t> otherwise) const {
  if (otherwise && !has(key))
    return *otherwise;
  TENON_ASSIGN_OR_RETURN(uint64_t value, file().requireU64(fullKey(key), highest));
  if (value == 0)
    return error(key, "an integer of at least 1", "0");
  return static_cast<int64_t>(value);
}

absl::StatusOr<int64_t> MetadataReader::countOrZero(std::string_view key, int64_t highest) const {
  TENON_ASSIGN_OR_RETURN(uint64_t value, file().optionalU64(fullKey(key), 0, highest));
  return static_cast<int64_t>(value);
}

absl::StatusOr<double> MetadataReader::numberAbove(double least, std::string_view key,
                                                   std::optional<double> otherwise) const {
  if (otherwise && !has(key))
    return *otherwise;
  TENON_ASSIGN_OR_RETURN(float value, file().requireF32(fullKey(key)));
  if (!std::isfinite(value) || value <= least)
    return error(key, absl::StrCat("a finite number above ", least), absl::StrCat(value));
  return value;
}

} // namespace tenon::frontends
