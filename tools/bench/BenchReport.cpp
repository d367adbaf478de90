#include "tools/bench/BenchReport.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace tenon::tools {

namespace {

/// The steps of one kernel together.
struct KernelGroup {
  std::string symbol;
  std::string example; ///< name of its first step
  int64_t steps = 0;
  uint64_t ns = 0;         ///< 0 where steps were not timed
  int64_t predictedNs = 0; ///< 0 where the cost model could not price them
  int64_t bytes = 0;
};

/// The kernels that the function calls, the longest first.
std::vector<KernelGroup> groupSteps(const BenchReport& report, const runtime::Program& program,
                                    size_t function) {
  std::map<uint32_t, KernelGroup> byKernel;
  const std::vector<runtime::Step>& steps = program.functions[function].steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    KernelGroup& group = byKernel[steps[i].kernel];
    if (group.steps++ == 0) {
      group.symbol = kernelLabel(program, steps[i].kernel);
      group.example = steps[i].name;
    }
    group.ns += report.times.profileNs.empty() ? 0 : report.times.profileNs[i];
    group.predictedNs += report.predictedNs.empty() ? 0 : report.predictedNs[i];
    group.bytes += report.work[i].bytes();
  }
  std::vector<KernelGroup> groups;
  for (auto& [kernel, group] : byKernel)
    groups.push_back(std::move(group));
  std::ranges::sort(groups, [](const KernelGroup& a, const KernelGroup& b) {
    return a.ns != b.ns ? a.ns > b.ns : a.symbol < b.symbol;
  });
  return groups;
}

StepWork totalWork(const BenchReport& report) {
  StepWork total;
  for (const StepWork& step : report.work) {
    total.flops += step.flops;
    total.weightBytes += step.weightBytes;
    total.otherBytes += step.otherBytes;
  }
  return total;
}

/// How many layers the names of the steps tell apart: `blk.0.attn_q`, `blk.1.ffn_down`.
int64_t countLayers(const runtime::Function& function) {
  constexpr std::string_view prefix = "blk.";
  std::set<std::string_view> layers;
  for (const runtime::Step& step : function.steps)
    if (std::string_view name = step.name; name.starts_with(prefix))
      layers.insert(name.substr(0, name.find('.', prefix.size())));
  return static_cast<int64_t>(layers.size());
}

/// Of a step of decode what its bytes do not take at the target's read rate, by layer, in µs; nothing
/// where the rate or the layers are not known, or where bytes come faster, from a CPU's caches.
std::optional<double> fixedUsPerLayer(const BenchReport& report,
                                      const runtime::Function& function) {
  int64_t layers = countLayers(function);
  if (function.role != runtime::Role::Decode || layers == 0 || report.readMBs == 0)
    return std::nullopt;
  StepWork work = totalWork(report);
  auto medianNs = static_cast<double>(summarize(report.times.stepsNs).medianNs);
  double readNs = static_cast<double>(work.bytes()) * 1e3 / static_cast<double>(report.readMBs);
  if (medianNs < readNs)
    return std::nullopt;
  return (medianNs - readNs) / static_cast<double>(layers) / 1e3;
}

/// What the cost model says of a call.
double predictedNs(const BenchReport& report) {
  return static_cast<double>(std::accumulate(report.predictedNs.begin(), report.predictedNs.end(),
                                             report.predictedBeyondNs));
}

double medianStepsNs(const BenchReport& report) {
  return std::max(static_cast<double>(summarize(report.times.stepsNs).medianNs), 1.0);
}

double readPercent(const BenchReport& report, int64_t bytes, uint64_t ns) {
  return readLimitPercent(report.readMBs, bytes, static_cast<double>(ns));
}

/// What timing a step by itself adds to it: the sum of such times less the median of a call, over
/// the steps; 0 where steps were not timed.
double timingNs(const BenchReport& report) {
  const std::vector<uint64_t>& steps = report.times.profileNs;
  if (steps.empty())
    return 0;
  auto sum = static_cast<double>(std::accumulate(steps.begin(), steps.end(), uint64_t(0)));
  auto median = static_cast<double>(summarize(report.times.stepsNs).medianNs);
  return std::max(0.0, (sum - median) / static_cast<double>(steps.size()));
}

/// The time of the group's steps without what timing by themselves adds.
double netNs(const KernelGroup& group, double addedNs) {
  return std::max(0.0, static_cast<double>(group.ns) - static_cast<double>(group.steps) * addedNs);
}

/// Bytes of the steps of group `index`.
int64_t groupBytes(const BenchReport& report, size_t index) {
  int64_t bytes = 0;
  for (size_t step : report.groups[index].steps)
    bytes += report.work[step].bytes();
  return bytes;
}

uint64_t groupMedianNs(const BenchReport& report, size_t index) {
  return summarize(report.times.groupNs[index]).medianNs;
}

/// Read and written together; null where nothing was counted.
nlohmann::ordered_json countedBytes(const std::optional<runtime::MemoryTraffic>& traffic) {
  return traffic ? nlohmann::ordered_json(traffic->bytes()) : nlohmann::ordered_json();
}

std::optional<runtime::MemoryTraffic> groupTraffic(const BenchReport& report, size_t index) {
  if (report.times.groupTraffic.empty())
    return std::nullopt;
  return report.times.groupTraffic[index];
}

/// The groups in one line each.
std::string formatGroups(const BenchReport& report) {
  std::string text;
  for (size_t i = 0; i < report.times.groupNs.size(); ++i)
    text +=
        absl::StrFormat("  %-13s alone: median %.4f ms, %d launches, %.1f MB, %.1f %% of read\n",
                        report.groups[i].group, groupMedianNs(report, i) / 1e6,
                        report.groups[i].steps.size(), groupBytes(report, i) / 1e6,
                        readPercent(report, groupBytes(report, i), groupMedianNs(report, i)));
  return text;
}

nlohmann::ordered_json describeGroups(const BenchReport& report) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (size_t i = 0; i < report.times.groupNs.size(); ++i)
    groups.push_back({{"name", report.groups[i].group},
                      {"steps", report.groups[i].steps.size()},
                      {"ns", groupMedianNs(report, i)},
                      {"bytes", groupBytes(report, i)},
                      {"counted_bytes", countedBytes(groupTraffic(report, i))},
                      {"read_limit_percent",
                       readPercent(report, groupBytes(report, i), groupMedianNs(report, i))}});
  return groups;
}

std::string formatKernels(const BenchReport& report, const std::vector<KernelGroup>& groups) {
  if (report.times.profileNs.empty())
    return "";
  double addedNs = timingNs(report);
  std::string text = absl::StrFormat(
      "  each step timed by itself, which adds about %.2f us to it; net is without that\n"
      "  %-24s %6s %10s %8s %8s %9s %6s %9s %8s %7s  %s\n",
      addedNs / 1e3, "kernel", "steps", "us", "us each", "net", "predicted", "% net", "MB", "GB/s",
      "% read", "first step");
  auto medianNs = static_cast<double>(summarize(report.times.stepsNs).medianNs);
  for (const KernelGroup& group : groups) {
    auto steps = static_cast<double>(group.steps);
    double net = netNs(group, addedNs);
    text += absl::StrFormat(
        "  %-24s %6d %10.1f %8.2f %8.2f %9.2f %6.1f %9.2f %8.0f %7.1f  %s\n", group.symbol,
        group.steps, group.ns / 1e3, group.ns / 1e3 / steps, net / 1e3 / steps,
        group.predictedNs / 1e3 / steps, 100 * net / std::max(medianNs, 1.0), group.bytes / 1e6,
        net == 0 ? 0.0 : static_cast<double>(group.bytes) / net,
        readPercent(report, group.bytes, static_cast<uint64_t>(net)), group.example);
  }
  return text;
}

std::string formatTimes(const char* name, const Distribution& times) {
  return absl::StrFormat(
      "  %-6s min %.4f  median %.4f  P90 %.4f  P95 %.4f  P99 %.4f  max %.4f  deviation %.4f ms\n",
      name, times.minNs / 1e6, times.medianNs / 1e6, times.p90Ns / 1e6, times.p95Ns / 1e6,
      times.p99Ns / 1e6, times.maxNs / 1e6, times.deviationNs / 1e6);
}

nlohmann::ordered_json describeTimes(const Distribution& times) {
  return {{"min", times.minNs},   {"median", times.medianNs},
          {"p90", times.p90Ns},   {"p95", times.p95Ns},
          {"p99", times.p99Ns},   {"max", times.maxNs},
          {"mean", times.meanNs}, {"deviation", times.deviationNs}};
}

} // namespace

std::string kernelLabel(const runtime::Program& program, uint32_t kernel) {
  const std::string& symbol = program.kernels[kernel].symbol;
  std::string prefix = absl::StrFormat("k%d_", kernel);
  return symbol.starts_with(prefix) ? symbol : prefix + symbol;
}

double readLimitPercent(int64_t readMBs, int64_t bytes, double ns) {
  if (readMBs == 0 || ns <= 0)
    return 0;
  double leastNs = static_cast<double>(bytes) * 1e3 / static_cast<double>(readMBs);
  return 100 * leastNs / ns;
}

/// Of a generation where one was measured, else of calls as their caller sees them.
static double tokensPerSecond(const BenchReport& report) {
  const std::vector<uint64_t>& times =
      report.times.tokenNs.empty() ? report.times.callNs : report.times.tokenNs;
  return 1e9 * static_cast<double>(report.isModel ? report.rows : 1) /
         std::max(static_cast<double>(summarize(times).medianNs), 1.0);
}

std::string formatReport(const BenchReport& report, const runtime::Program& program,
                         size_t function) {
  Distribution steps = summarize(report.times.stepsNs);
  StepWork work = totalWork(report);
  std::string text =
      absl::StrFormat("%s, plan %s, %s at %s on %s%s, activations %s: %d calls\n", report.model,
                      report.plan, report.function,
                      report.chunks.empty() ? absl::StrFormat("position %d", report.position)
                                            : "chunks " + report.chunks,
                      report.device, report.launch == "none" ? "" : ", launch " + report.launch,
                      report.activations, report.times.stepsNs.size());
  if (!report.times.tokenNs.empty())
    text += formatTimes("token", summarize(report.times.tokenNs));
  text += formatTimes("steps", steps) + formatTimes("call", summarize(report.times.callNs));
  text += absl::StrFormat("  %.1f %s a second\n", tokensPerSecond(report),
                          report.isModel ? "tokens" : "calls");
  text += absl::StrFormat("  %d launches, weights %.1f MB, other operands %.1f MB, %.2f GFLOP, "
                          "memory %.1f MB",
                          report.work.size(), work.weightBytes / 1e6, work.otherBytes / 1e6,
                          work.flops / 1e9, report.deviceBytes / 1e6);
  if (report.readMBs > 0)
    text += absl::StrFormat("; the weights alone take %.4f ms at %.0f GB/s, %.1f %% of the median",
                            static_cast<double>(work.weightBytes) / report.readMBs / 1e3,
                            report.readMBs / 1e3,
                            readPercent(report, work.weightBytes, steps.medianNs));
  if (std::optional<double> fixed = fixedUsPerLayer(report, program.functions[function]))
    text += absl::StrFormat("\n  beyond all bytes at that rate %.2f us a layer of %d", *fixed,
                            countLayers(program.functions[function]));
  if (report.times.traffic)
    text += absl::StrFormat("\n  memory moved %.1f MB by its counters, %.1f MB of them written",
                            report.times.traffic->bytes() / 1e6,
                            report.times.traffic->writtenBytes / 1e6);
  if (!report.predictedNs.empty())
    text += absl::StrFormat("\n  the cost model says %.4f ms, %.1f %% of the median",
                            predictedNs(report) / 1e6,
                            100 * predictedNs(report) / medianStepsNs(report));
  return text + "\n" + formatGroups(report) +
         formatKernels(report, groupSteps(report, program, function));
}

nlohmann::ordered_json describeReport(const BenchReport& report, const runtime::Program& program,
                                      size_t function) {
  Distribution steps = summarize(report.times.stepsNs);
  StepWork work = totalWork(report);
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const KernelGroup& group : groupSteps(report, program, function))
    kernels.push_back({{"symbol", group.symbol},
                       {"steps", group.steps},
                       {"example", group.example},
                       {"ns", group.ns},
                       {"net_ns", netNs(group, timingNs(report))},
                       {"predicted_ns", group.predictedNs},
                       {"bytes", group.bytes},
                       {"read_limit_percent",
                        readPercent(report, group.bytes,
                                    static_cast<uint64_t>(netNs(group, timingNs(report))))}});
  nlohmann::ordered_json object = {
      {"hardware", report.hardware},
      {"threads", report.threads},
      {"rows", report.rows},
      {"tokens_per_second", tokensPerSecond(report)},
      {"plan", report.plan},
      {"launch", report.launch},
      {"model", report.model},
      {"target", report.device},
      {"activations", report.activations},
      {"function", report.function},
      {"position", report.position},
      {"calls", report.times.stepsNs.size()},
      {"launches", report.work.size()},
      {"device_bytes", report.deviceBytes},
      {"steps_ns", describeTimes(steps)},
      {"call_ns", describeTimes(summarize(report.times.callNs))},
      {"planned_bytes", work.weightBytes + work.otherBytes},
      {"counted_bytes", countedBytes(report.times.traffic)},
      {"counted_written_bytes", nullptr},
      {"workspace_bytes", report.workspaceBytes},
      {"weight_bytes", work.weightBytes},
      {"other_bytes", work.otherBytes},
      {"flops", work.flops},
      {"read_mb_per_s", report.readMBs},
      {"read_limit_percent", readPercent(report, work.weightBytes, steps.medianNs)},
      {"step_timing_ns", timingNs(report)},
      {"groups", describeGroups(report)},
      {"kernels", std::move(kernels)}};
  if (report.times.traffic)
    object["counted_written_bytes"] = report.times.traffic->writtenBytes;
  if (!report.chunks.empty())
    object["chunks"] = report.chunks;
  if (std::optional<double> fixed = fixedUsPerLayer(report, program.functions[function]))
    object["fixed_us_per_layer"] = *fixed;
  if (!report.predictedNs.empty())
    object["predicted_ns"] = predictedNs(report);
  if (!report.times.tokenNs.empty()) {
    object["token_ns"] = describeTimes(summarize(report.times.tokenNs));
    object["token_ids"] = report.times.tokenIds;
  }
  return object;
}

} // namespace tenon::tools
