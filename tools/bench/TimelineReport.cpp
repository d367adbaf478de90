#include "tools/bench/TimelineReport.h"

#include <algorithm>
#include <functional>
#include <map>

#include "absl/strings/str_format.h"
#include "tools/bench/Distribution.h"

namespace tenon::tools {

using runtime::StepTimeline;
using runtime::StepTimes;

namespace {

/// What a step takes, over the calls.
struct StepMedians {
  size_t blocks = 0;
  size_t unstampedBefore = 0;
  double gapNs = 0, aheadNs = 0, workNs = 0, tailNs = 0;

  double shareNs() const { return gapNs + workNs; }
};

/// The steps of one kernel together; times are sums.
struct KernelTimeline {
  std::string symbol;
  std::string example; ///< name of its first step
  int64_t steps = 0;
  int64_t bytes = 0;
  StepMedians sum;
};

/// The middle one of at least one value; of an even number the lower.
double medianOf(std::vector<double> values) {
  auto middle = values.begin() + static_cast<int64_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double medianOfCalls(const MeasuredTimelines& measured,
                     const std::function<double(const StepTimeline&)>& get) {
  std::vector<double> values;
  for (const StepTimeline& call : measured.calls)
    values.push_back(get(call));
  return medianOf(std::move(values));
}

StepMedians medianOfStep(const MeasuredTimelines& measured, size_t step) {
  auto median = [&](auto get) {
    return medianOfCalls(measured, [&](const StepTimeline& call) { return get(call.steps[step]); });
  };
  const StepTimes& first = measured.calls.front().steps[step];
  return {.blocks = first.blocks,
          .unstampedBefore = first.unstampedBefore,
          .gapNs = median([](const StepTimes& times) { return times.gapNs; }),
          .aheadNs = median([](const StepTimes& times) { return times.aheadNs; }),
          .workNs = median([](const StepTimes& times) { return times.workNs(); }),
          .tailNs = median([](const StepTimes& times) { return times.tailNs(); })};
}

/// By kernel, the longest first; kernels without stamps last.
std::vector<KernelTimeline> groupTimes(const MeasuredTimelines& measured, const BenchReport& report,
                                       const runtime::Program& program, size_t function) {
  std::map<uint32_t, KernelTimeline> byKernel;
  const std::vector<runtime::Step>& steps = program.functions[function].steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    KernelTimeline& kernel = byKernel[steps[i].kernel];
    if (kernel.steps++ == 0) {
      kernel.symbol = kernelLabel(program, steps[i].kernel);
      kernel.example = steps[i].name;
    }
    StepMedians step = medianOfStep(measured, i);
    kernel.bytes += report.work[i].bytes();
    kernel.sum.blocks += step.blocks;
    kernel.sum.gapNs += step.gapNs;
    kernel.sum.aheadNs += step.aheadNs;
    kernel.sum.workNs += step.workNs;
    kernel.sum.tailNs += step.tailNs;
  }
  std::vector<KernelTimeline> kernels;
  for (auto& [index, kernel] : byKernel)
    kernels.push_back(std::move(kernel));
  std::ranges::sort(kernels, [](const KernelTimeline& a, const KernelTimeline& b) {
    double aNs = a.sum.shareNs(), bNs = b.sum.shareNs();
    return aNs != bNs ? aNs > bNs : a.symbol < b.symbol;
  });
  return kernels;
}

std::string formatKernel(const KernelTimeline& kernel, const BenchReport& report) {
  if (kernel.sum.blocks == 0)
    return absl::StrFormat("  %-28s %5d   no stamps: its time is in the gap after it   %s\n",
                           kernel.symbol, kernel.steps, kernel.example);
  double steps = static_cast<double>(kernel.steps);
  return absl::StrFormat(
      "  %-28s %5d %7.0f %8.2f %8.2f %8.2f %8.2f %9.4f %7.1f  %s\n", kernel.symbol, kernel.steps,
      static_cast<double>(kernel.sum.blocks) / steps, kernel.sum.gapNs / steps / 1e3,
      kernel.sum.aheadNs / steps / 1e3, kernel.sum.workNs / steps / 1e3,
      kernel.sum.tailNs / steps / 1e3, kernel.sum.shareNs() / 1e6,
      readLimitPercent(report.readMBs, kernel.bytes, kernel.sum.shareNs()), kernel.example);
}

nlohmann::ordered_json describeStep(const StepMedians& medians, const StepTimes& times,
                                    int64_t readMBs, int64_t bytes) {
  return {{"gap_ns", medians.gapNs},
          {"ahead_ns", medians.aheadNs},
          {"work_ns", medians.workNs},
          {"tail_ns", medians.tailNs},
          {"unstamped_before", medians.unstampedBefore},
          {"read_limit_percent", readLimitPercent(readMBs, bytes, medians.shareNs())},
          {"first_entry_ns", times.firstEntryNs},
          {"last_entry_ns", times.lastEntryNs},
          {"first_work_ns", times.firstWorkNs},
          {"last_work_ns", times.lastWorkNs},
          {"first_exit_ns", times.firstExitNs},
          {"last_exit_ns", times.lastExitNs}};
}

} // namespace

const StepTimeline& typicalCall(const MeasuredTimelines& measured) {
  double median = medianOfCalls(measured, [](const StepTimeline& call) { return call.totalNs(); });
  return *std::ranges::find(measured.calls, median,
                            [](const StepTimeline& call) { return call.totalNs(); });
}

std::string formatTimeline(const MeasuredTimelines& measured, const BenchReport& report,
                           const runtime::Program& program, size_t function) {
  auto medianMs = [&](const std::function<double(const StepTimeline&)>& get) {
    return medianOfCalls(measured, get) / 1e6;
  };
  std::string text = absl::StrFormat(
      "  timeline of %d calls with stamps: steps %.4f ms, %.4f without stamps\n"
      "  first work to last exit %.4f ms: work %.4f, gaps %.4f, around steps without stamps %.4f\n"
      "  smallest step of the timer %.0f ns\n"
      "  %-28s %5s %7s %8s %8s %8s %8s %9s %7s\n",
      measured.calls.size(), summarize(measured.stepsNs).medianNs / 1e6,
      summarize(report.times.stepsNs).medianNs / 1e6,
      medianMs([](const StepTimeline& call) { return call.totalNs(); }),
      medianMs([](const StepTimeline& call) { return call.workNs; }),
      medianMs([](const StepTimeline& call) { return call.gapNs; }),
      medianMs([](const StepTimeline& call) { return call.unstampedNs; }),
      typicalCall(measured).timerStepNs, "kernel", "steps", "blocks", "gap us", "ahead us",
      "work us", "tail us", "all ms", "% read");
  for (const KernelTimeline& kernel : groupTimes(measured, report, program, function))
    text += formatKernel(kernel, report);
  return text;
}

nlohmann::ordered_json describeTimeline(const MeasuredTimelines& measured,
                                        const BenchReport& report, const runtime::Program& program,
                                        size_t function) {
  const StepTimeline& typical = typicalCall(measured);
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  const std::vector<runtime::Step>& described = program.functions[function].steps;
  for (size_t i = 0; i < described.size(); ++i) {
    StepMedians medians = medianOfStep(measured, i);
    int64_t bytes = report.work[i].bytes();
    nlohmann::ordered_json step = {{"name", described[i].name},
                                   {"kernel", kernelLabel(program, described[i].kernel)},
                                   {"blocks", medians.blocks},
                                   {"bytes", bytes}};
    if (medians.blocks > 0)
      step.update(describeStep(medians, typical.steps[i], report.readMBs, bytes));
    steps.push_back(std::move(step));
  }
  auto median = [&](const std::function<double(const StepTimeline&)>& get) {
    return medianOfCalls(measured, get);
  };
  return {{"calls", measured.calls.size()},
          {"steps_ns", summarize(measured.stepsNs).medianNs},
          {"unstamped_steps_ns", summarize(report.times.stepsNs).medianNs},
          {"total_ns", median([](const StepTimeline& call) { return call.totalNs(); })},
          {"work_ns", median([](const StepTimeline& call) { return call.workNs; })},
          {"gap_ns", median([](const StepTimeline& call) { return call.gapNs; })},
          {"unstamped_ns", median([](const StepTimeline& call) { return call.unstampedNs; })},
          {"timer_step_ns", typical.timerStepNs},
          {"steps", std::move(steps)}};
}

} // namespace tenon::tools
