#ifndef TENON_RUNTIME_PROGRAM_INTERNAL_VALIDATEKERNEL_H
#define TENON_RUNTIME_PROGRAM_INTERNAL_VALIDATEKERNEL_H

#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "runtime/program/Program.h"

namespace tenon::runtime::internal {

template <typename... Args>
absl::Status invalid(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::InvalidArgumentError(absl::StrFormat(format, args...));
}

inline std::string quoted(const std::string& name) {
  return "\"" + absl::Utf8SafeCEscape(name) + "\"";
}

/// Checks that `kernel` has the kind of launch that the device of `program` needs, with possible
/// values, and that its code is there. Names the kernel.
absl::Status validateKernel(const Program& program, const Kernel& kernel);

/// Checks that the tiles and arguments of `step` are what a launch of its `kernel` takes. The
/// message continues the step's name.
absl::Status validateLaunch(const Kernel& kernel, const Step& step);

/// Checks that the tiles and arguments of `step` are those that its `kernel` was made for, and that
/// it writes to no constant and no input. Its code holds the sizes of its arguments and how many
/// tiles there are: a step that says otherwise would let it read or write elsewhere.
absl::Status validateAgainstKernel(const Kernel& kernel, const Step& step);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_PROGRAM_INTERNAL_VALIDATEKERNEL_H
