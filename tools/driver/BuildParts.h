#ifndef TENON_TOOLS_DRIVER_BUILDPARTS_H
#define TENON_TOOLS_DRIVER_BUILDPARTS_H

#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace tenon::tools {

/// That the binary was built without `part`, which `asker` needs: `calibrate: this build has no CUDA
/// runtime`.
inline absl::Status lacksPart(std::string_view asker, std::string_view part) {
  return absl::UnimplementedError(absl::StrFormat("%s: this build has no %s", asker, part));
}

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_BUILDPARTS_H
