#ifndef TENON_RUNTIME_CPU_HOSTFEATURES_H
#define TENON_RUNTIME_CPU_HOSTFEATURES_H

#include <span>
#include <string>

#include "absl/status/status.h"

namespace tenon::runtime {

/// Checks that this machine's CPU has every one of `features`, named as LLVM names them (`avx2`).
/// Fails with FailedPrecondition listing all that are missing.
absl::Status checkHostFeatures(std::span<const std::string> features);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_HOSTFEATURES_H
