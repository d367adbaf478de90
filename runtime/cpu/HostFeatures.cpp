#include "runtime/cpu/HostFeatures.h"

#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace tenon::runtime {

absl::Status checkHostFeatures(std::span<const std::string> features) {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> missing;
  for (const std::string& feature : features)
    if (!host.lookup(feature))
      missing.push_back(feature);
  if (missing.empty())
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("the program expects CPU features that this machine (%s) lacks: %s",
                      llvm::sys::getHostCPUName().str(), absl::StrJoin(missing, ", ")));
}

} // namespace tenon::runtime
