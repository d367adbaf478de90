#ifndef TENON_TOOLS_DRIVER_USAGEERROR_H
#define TENON_TOOLS_DRIVER_USAGEERROR_H

#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace tenon::tools {

/// Marks a status as one about the wording of a command line.
inline constexpr char usageErrorUrl[] = "tenon/usage";

/// An InvalidArgument about the wording of a command line: the tools exit with 2. `message` begins
/// with the flag, `--shapes: expects …`.
inline absl::Status usageError(const std::string& message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(usageErrorUrl, absl::Cord());
  return status;
}

inline bool isUsageError(const absl::Status& status) {
  return status.GetPayload(usageErrorUrl).has_value();
}

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_USAGEERROR_H
