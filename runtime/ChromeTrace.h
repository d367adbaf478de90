#ifndef TENON_RUNTIME_CHROMETRACE_H
#define TENON_RUNTIME_CHROMETRACE_H

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/StepProfile.h"
#include "runtime/StepTimeline.h"
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

/// A call of function `function` of `program`, which outlives it, with a name.
struct TracedCall {
  std::string name;
  const Program* program;
  size_t function;
  StepTimeline timeline;
};

/// The calls as a trace in the same format, each a process of its own. Its track `work` has an event
/// a step, from the first work to the last exit, so that gaps are gaps; the tracks `before the wait`
/// have the time from the first entry to the first work. Steps without stamps are left out.
std::string formatChromeTimelines(std::span<const TracedCall> calls);

/// Writes that trace to `path`.
absl::Status writeChromeTimelines(std::span<const TracedCall> calls, const std::string& path);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CHROMETRACE_H
