#ifndef TENON_TOOLS_BENCH_INTERLEAVEDTIMING_H
#define TENON_TOOLS_BENCH_INTERLEAVEDTIMING_H

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "tools/bench/Distribution.h"

namespace tenon::tools {

/// The times of the first function of each executor, as the device measures its steps: `calls` runs
/// of them each, in turn, every one right after another of the same function that does not count.
/// Inputs are brought to the device once, before all; nothing is copied between. Float inputs are random in [-1, 1); an integer
/// input is 0, 1, 2 …, but one whose name begins with `positions` is `position` everywhere. Errors
/// are those of a call.
absl::StatusOr<std::vector<Distribution>>
timeInTurn(const std::vector<runtime::Executor*>& executors, int64_t calls, int32_t position = 0);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_INTERLEAVEDTIMING_H
