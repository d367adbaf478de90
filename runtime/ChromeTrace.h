#ifndef TENON_RUNTIME_CHROMETRACE_H
#define TENON_RUNTIME_CHROMETRACE_H

#include <span>
#include <string>

#include "absl/status/status.h"
#include "runtime/StepProfile.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

/// The last profiled call of function `function` of `program` as a trace in Chrome's JSON format
/// (for chrome://tracing and Perfetto): one event a step, with its kernel, its tiles and its bytes
/// by space. `steps` are the function's profiles; a step without calls is left out.
std::string formatChromeTrace(const Program& program, size_t function,
                              std::span<const StepProfile> steps);

/// Writes that trace to `path`.
absl::Status writeChromeTrace(const Program& program, size_t function,
                              std::span<const StepProfile> steps, const std::string& path);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CHROMETRACE_H
