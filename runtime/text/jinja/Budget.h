#ifndef TENON_RUNTIME_TEXT_JINJA_BUDGET_H
#define TENON_RUNTIME_TEXT_JINJA_BUDGET_H

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace tenon::runtime::jinja {

/// What a template may cost: its steps, and for texts and lists what is copied of them. A hostile
/// template, a loop without an end or a text that doubles, comes to an end within a second.
class Budget {
public:
  static constexpr int64_t mostSteps = 3'000'000;
  static constexpr size_t mostTextBytes = size_t(1) << 24;
  static constexpr size_t itemsPerStep = 8; ///< that are compared

  /// Takes a step, and one for so many bytes of a text: 64 that are copied or compared.
  absl::Status take(size_t bytes = 0, size_t bytesPerStep = 64) {
    steps += 1 + int64_t(bytes / bytesPerStep);
    if (bytes > mostTextBytes)
      return absl::InvalidArgumentError(
          absl::StrFormat("expects texts of at most %d bytes, but got more", mostTextBytes));
    if (steps > mostSteps)
      return absl::InvalidArgumentError(
          absl::StrFormat("expects a template of at most %d steps, but got more", mostSteps));
    return absl::OkStatus();
  }

  /// Takes a step for each of `count` items.
  absl::Status takeItems(size_t count) {
    steps += int64_t(count);
    return take();
  }

private:
  int64_t steps = 0;
};

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_BUDGET_H
