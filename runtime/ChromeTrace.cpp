#include "runtime/ChromeTrace.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "support/OutputFile.h"

namespace tenon::runtime {

using Json = nlohmann::ordered_json;

/// Kernel, tiles and, for each space that the step uses, the bytes of its arguments there.
static Json describeStep(const Program& program, const Step& step) {
  static constexpr std::array<const char*, 5> names = {"constant", "state", "workspace", "input",
                                                       "output"};
  Json result = {{"kernel", program.kernels[step.kernel].symbol}, {"tiles", step.tiles}};
  std::array<uint64_t, names.size()> bytes{};
  for (const BufferRef& ref : step.args)
    bytes[static_cast<size_t>(ref.space)] += ref.bytes;
  for (size_t space = 0; space < names.size(); ++space)
    if (bytes[space] > 0)
      result[std::string(names[space]) + "_bytes"] = bytes[space];
  return result;
}

static std::string formatEvents(Json events) {
  Json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  // Names from a file may be no UTF-8.
  return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// An event that names process `pid`, or its track `tid`.
static Json nameEvent(const char* what, const std::string& name, size_t pid, size_t tid) {
  return {{"name", what}, {"ph", "M"}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
}

/// A complete event; the format's times are microseconds.
static Json spanEvent(const std::string& name, double beginNs, double endNs, size_t pid, size_t tid,
                      Json args) {
  return {{"name", name}, {"ph", "X"},  {"ts", beginNs / 1e3},    {"dur", (endNs - beginNs) / 1e3},
          {"pid", pid},   {"tid", tid}, {"args", std::move(args)}};
}

/// The numbers of tracks for what overlaps: each gets the first that is free by then.
class Tracks {
public:
  size_t place(double beginNs, double endNs) {
    auto free = std::ranges::find_if(ends, [&](double end) { return end <= beginNs; });
    if (free == ends.end())
      free = ends.insert(ends.end(), 0);
    *free = endNs;
    return static_cast<size_t>(free - ends.begin());
  }
  size_t size() const { return ends.size(); }

private:
  std::vector<double> ends;
};

std::string formatChromeTrace(const Program& program, size_t index,
                              std::span<const StepProfile> steps) {
  const Function& function = program.functions[index];
  Json events = Json::array();
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", 0},
                    {"args", {{"name", program.device + ": " + function.name}}}});
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].calls == 0)
      continue;
    const Step& step = function.steps[i];
    events.push_back({{"name", step.name},
                      {"ph", "X"}, // a complete event; times in microseconds
                      {"ts", static_cast<double>(steps[i].lastStartNs) / 1e3},
                      {"dur", static_cast<double>(steps[i].lastNs) / 1e3},
                      {"pid", 0},
                      {"tid", 0},
                      {"args", describeStep(program, step)}});
  }
  return formatEvents(std::move(events));
}

absl::Status writeChromeTrace(const Program& program, size_t function,
                              std::span<const StepProfile> steps, const std::string& path) {
  return writeFile(path, formatChromeTrace(program, function, steps));
}

static Json describeTimes(const Program& program, const Step& step, const StepTimes& times) {
  Json args = describeStep(program, step);
  args.update({{"gap_ns", times.gapNs},
               {"ahead_ns", times.aheadNs},
               {"tail_ns", times.tailNs()},
               {"last_entry_ns", times.lastEntryNs},
               {"last_work_ns", times.lastWorkNs},
               {"first_exit_ns", times.firstExitNs}});
  if (times.unstampedBefore > 0)
    args["unstamped_before"] = times.unstampedBefore;
  return args;
}

static void addCall(const TracedCall& call, size_t pid, Json& events) {
  const Function& function = call.program->functions[call.function];
  events.push_back(nameEvent("process_name", call.name, pid, 0));
  events.push_back(nameEvent("thread_name", "work", pid, 0));
  Tracks tracks;
  for (size_t i = 0; i < call.timeline.steps.size(); ++i) {
    const StepTimes& times = call.timeline.steps[i];
    if (times.blocks == 0)
      continue;
    const Step& step = function.steps[i];
    events.push_back(spanEvent(step.name, times.firstWorkNs, times.lastExitNs, pid, 0,
                               describeTimes(*call.program, step, times)));
    size_t track = tracks.place(times.firstEntryNs, times.firstWorkNs);
    events.push_back(spanEvent(step.name, times.firstEntryNs, times.firstWorkNs, pid, 1 + track,
                               Json::object()));
  }
  for (size_t track = 0; track < tracks.size(); ++track)
    events.push_back(nameEvent("thread_name", "before the wait", pid, 1 + track));
}

std::string formatChromeTimelines(std::span<const TracedCall> calls) {
  Json events = Json::array();
  for (size_t pid = 0; pid < calls.size(); ++pid)
    addCall(calls[pid], pid, events);
  return formatEvents(std::move(events));
}

absl::Status writeChromeTimelines(std::span<const TracedCall> calls, const std::string& path) {
  return writeFile(path, formatChromeTimelines(calls));
}

} // namespace tenon::runtime
