#include "runtime/ChromeTrace.h"

#include <array>
#include <cerrno>
#include <fstream>

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"

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
  Json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  // Names from a file may be no UTF-8.
  return trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::Status writeChromeTrace(const Program& program, size_t function,
                              std::span<const StepProfile> steps, const std::string& path) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << formatChromeTrace(program, function, steps);
  stream.close();
  if (!stream)
    return absl::ErrnoToStatus(errno ? errno : EIO, absl::StrFormat("%s: cannot write", path));
  return absl::OkStatus();
}

} // namespace tenon::runtime
