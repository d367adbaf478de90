#ifndef TENON_TOOLS_BENCH_TIMELINEREPORT_H
#define TENON_TOOLS_BENCH_TIMELINEREPORT_H

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "runtime/StepTimeline.h"
#include "runtime/program/Program.h"
#include "tools/bench/BenchReport.h"

namespace tenon::tools {

/// Calls of one function by kernels whose blocks left stamps.
struct MeasuredTimelines {
  std::vector<runtime::StepTimeline> calls; ///< at least one; all of the same steps
  std::vector<uint64_t> stepsNs;            ///< of the same calls, by events around all steps
};

/// The call whose total is the median.
const runtime::StepTimeline& typicalCall(const MeasuredTimelines& measured);

/// The timeline as text: the parts of a call, and for each kernel the mean over its steps. `report`
/// is that of the same plan without stamps.
std::string formatTimeline(const MeasuredTimelines& measured, const BenchReport& report,
                           const runtime::Program& program, size_t function);

/// The timeline as one object; times are medians over the calls unless stated:
///
///   calls, steps_ns     how many, and their time by events around all steps
///   unstamped_steps_ns  the same of the plan's own kernels, without stamps
///   total_ns            from the first work to the last exit, of which
///   work_ns, gap_ns, unstamped_ns   passed in steps, between them, and where steps left no stamps
///   timer_step_ns   of the typical call: `runtime::StepTimeline`
///   steps   for each: name, kernel, blocks, gap_ns, ahead_ns, work_ns, tail_ns, unstamped_before,
///           bytes, read_limit_percent (over gap and work), and in the typical call
///           first_entry_ns, last_entry_ns, first_work_ns, last_work_ns, first_exit_ns, last_exit_ns;
///           of a step without stamps only name, kernel, bytes, and blocks 0
nlohmann::ordered_json describeTimeline(const MeasuredTimelines& measured,
                                        const BenchReport& report, const runtime::Program& program,
                                        size_t function);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_TIMELINEREPORT_H
