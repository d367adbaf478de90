#include "frontends/models/ModelSource.h"

#include <cmath>

#include "absl/strings/str_cat.h"

#include "support/Status.h"

namespace tenon::frontends {

absl::StatusOr<int64_t> ModelSource::count(std::string_view key, int64_t highest,
                                           std::optional<int64_t> otherwise) const {
  if (otherwise && !has(key))
    return *otherwise;
  TENON_ASSIGN_OR_RETURN(uint64_t value, integer(key, highest));
  if (value == 0)
    return keyError(key, "an integer of at least 1", "0");
  return static_cast<int64_t>(value);
}

absl::StatusOr<int64_t> ModelSource::countOrZero(std::string_view key, int64_t highest) const {
  if (!has(key))
    return 0;
  TENON_ASSIGN_OR_RETURN(uint64_t value, integer(key, highest));
  return static_cast<int64_t>(value);
}

absl::StatusOr<double> ModelSource::numberAbove(double least, std::string_view key,
                                                std::optional<double> otherwise) const {
  if (otherwise && !has(key))
    return *otherwise;
  TENON_ASSIGN_OR_RETURN(float value, number(key));
  if (!std::isfinite(value) || value <= least)
    return keyError(key, absl::StrCat("a finite number above ", least), absl::StrCat(value));
  return value;
}

absl::StatusOr<std::string_view> ModelSource::text(std::string_view key,
                                                   std::string_view otherwise) const {
  if (!has(key))
    return otherwise;
  return text(key);
}

} // namespace tenon::frontends
