#include "tools/report/ProgramReport.h"

#include <map>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "runtime/program/ModelPorts.h"
#include "tools/cli/TerminalText.h"

namespace tenon::tools {

using nlohmann::ordered_json;
using runtime::Function;
using runtime::Port;
using runtime::Program;

/// Steps of all functions that each kernel runs.
static std::vector<size_t> countSteps(const Program& program) {
  std::vector<size_t> steps(program.kernels.size());
  for (const Function& function : program.functions)
    for (const runtime::Step& step : function.steps)
      ++steps[step.kernel];
  return steps;
}

template <typename Parts> static uint64_t sumBytes(const Parts& parts) {
  uint64_t bytes = 0;
  for (const auto& part : parts)
    bytes += part.bytes;
  return bytes;
}

static uint64_t codeBytes(const Program& program) {
  uint64_t bytes = 0;
  for (const runtime::SharedBytes& code : program.code)
    bytes += code.size();
  return bytes;
}

static std::string formatPorts(const char* kind, const std::vector<Port>& ports) {
  std::string text;
  for (const Port& port : ports)
    text += absl::StrFormat("  %-6s %-16s %-5s [%s]\n", kind, port.name, port.encoding,
                            absl::StrJoin(port.shape, ", "));
  return text;
}

/// What the compiler left in the program, which comes from anybody; null where that is no object. What
/// nests deeper than the compiler's own is left out: printing recurses.
static ordered_json readReport(const Program& program) {
  constexpr int deepest = 4; // an operation in a list in a decision in a list
  auto keep = [](int depth, ordered_json::parse_event_t, ordered_json&) {
    return depth <= deepest;
  };
  ordered_json report = ordered_json::parse(program.report, keep, /*allow_exceptions=*/false);
  return report.is_object() ? report : ordered_json();
}

/// A member as text without control characters; empty where there is none.
static std::string textOf(const ordered_json& object, const char* key) {
  if (!object.is_object())
    return "";
  auto found = object.find(key);
  if (found == object.end() || found->is_null())
    return "";
  using Json = ordered_json;
  return escapeControls(found->is_string()
                            ? found->get<std::string>()
                            : found->dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// The decisions of fusion, a line each.
static std::string formatDecisions(const ordered_json& report) {
  auto decisions = report.find("decisions");
  if (decisions == report.end() || !decisions->is_array() || decisions->empty())
    return "";
  std::string text = absl::StrFormat("\n%d decisions of fusion\n", decisions->size());
  for (const ordered_json& decision : *decisions)
    text += absl::StrFormat("  %s: %s, %s times: %s: %s: %s\n", textOf(decision, "function"),
                            textOf(decision, "taken") == "true" ? "fused" : "not fused",
                            textOf(decision, "times"), textOf(decision, "rule"),
                            textOf(decision, "ops"), textOf(decision, "reason"));
  return text;
}

/// What starting the kernel takes on its device.
static std::string formatLaunch(const runtime::Kernel& kernel) {
  if (const auto* cuda = std::get_if<runtime::CudaLaunch>(&kernel.launch))
    return absl::StrFormat(", %d threads, %d bytes of shared memory", cuda->threads,
                           cuda->sharedBytes);
  return std::holds_alternative<runtime::LibraryMatmul>(kernel.launch) ? ", of a library" : "";
}

/// `context of 512`; that of a stream has no end.
static std::string describeContext(const runtime::ModelInfo& model) {
  return model.isStream() ? "stream without end" : absl::StrFormat("context of %d", model.context);
}

/// `, 64 pages of 128 positions`; nothing where caches are dense.
static std::string describePages(const runtime::ModelInfo& model) {
  return model.isPaged()
             ? absl::StrFormat(", %d pages of %d positions", model.pages, model.pagePositions)
             : "";
}

/// A line for the states of each encoding and shape: `states 10 of int8_h8 [1, 512, 4, 8]`.
static std::string formatStates(const Program& program) {
  std::map<std::string, int64_t> counts;
  for (const runtime::State& state : program.states)
    ++counts[absl::StrFormat("%s [%s]", state.encoding, absl::StrJoin(state.shape, ", "))];
  std::string text;
  for (const auto& [kind, count] : counts)
    text += absl::StrFormat("states %d of %s\n", count, kind);
  return text;
}

std::string formatProgram(const Program& program, const std::string& path) {
  std::string text =
      absl::StrFormat("%s: program for %s (%s)\n", path, program.target, program.device);
  ordered_json report = readReport(program);
  if (!report.is_null())
    text += absl::StrFormat("made   by Tenon %s, commit %s, plan %s, launch %s\n",
                            textOf(report, "version"), textOf(report, "commit"),
                            textOf(report, "plan"), textOf(report, "launch"));
  if (program.model)
    text += absl::StrFormat("model  %s, %s: %d tokens, %s, %d sequences%s, %s\n",
                            program.model->name, program.model->architecture,
                            program.model->vocabulary, describeContext(*program.model),
                            program.model->sequences, describePages(*program.model),
                            program.tokenizer ? "with its tokeniser" : "without tokeniser");
  for (const runtime::SourceFile& file : program.files)
    text += absl::StrFormat("file   %s, %d bytes, fingerprint %016x\n", file.path, file.bytes,
                            file.fingerprint);
  text += absl::StrFormat("bytes  %d constants, %d states, %d workspace, %d code\n",
                          sumBytes(program.constants), sumBytes(program.states),
                          program.workspaceBytes, codeBytes(program));
  text += formatStates(program);
  for (const Function& function : program.functions)
    text +=
        absl::StrFormat("\n%s: %s, %d rows, %d steps\n", function.name,
                        runtime::roleName(function.role), function.rows, function.steps.size()) +
        formatPorts("input", function.inputs) + formatPorts("output", function.outputs);
  text += absl::StrFormat("\n%d kernels\n", program.kernels.size());
  std::vector<size_t> steps = countSteps(program);
  for (size_t i = 0; i < program.kernels.size(); ++i)
    text += absl::StrFormat("  %-32s %d steps, %d tiles%s\n", program.kernels[i].symbol, steps[i],
                            program.kernels[i].tiles, formatLaunch(program.kernels[i]));
  if (!report.is_null())
    text += formatDecisions(report);
  return text;
}

static ordered_json describePorts(const std::vector<Port>& ports) {
  ordered_json list = ordered_json::array();
  for (const Port& port : ports)
    list.push_back({{"name", port.name},
                    {"type", port.encoding},
                    {"shape", port.shape},
                    {"bytes", port.bytes}});
  return list;
}

static ordered_json describeStates(const Program& program) {
  ordered_json list = ordered_json::array();
  for (const runtime::State& state : program.states)
    list.push_back({{"name", state.name},
                    {"type", state.encoding},
                    {"shape", state.shape},
                    {"bytes", state.bytes}});
  return list;
}

ordered_json describeProgram(const Program& program, const std::string& path) {
  ordered_json object = {{"file", path},
                         {"target", program.target},
                         {"device", program.device},
                         {"features", program.features},
                         {"model", nullptr},
                         {"files", ordered_json::array()},
                         {"constant_bytes", sumBytes(program.constants)},
                         {"state_bytes", sumBytes(program.states)},
                         {"states", describeStates(program)},
                         {"workspace_bytes", program.workspaceBytes},
                         {"code_bytes", codeBytes(program)},
                         {"functions", ordered_json::array()},
                         {"kernels", ordered_json::array()}};
  if (program.model)
    object["model"] = {{"name", program.model->name},
                       {"architecture", program.model->architecture},
                       {"vocabulary", program.model->vocabulary},
                       {"context", program.model->context},
                       {"sequences", program.model->sequences},
                       {"tokeniser", program.tokenizer.has_value()}};
  if (program.model && program.model->isPaged()) {
    object["model"]["pages"] = program.model->pages;
    object["model"]["page_positions"] = program.model->pagePositions;
  }
  for (const runtime::SourceFile& file : program.files)
    object["files"].push_back({{"path", file.path},
                               {"bytes", file.bytes},
                               {"fingerprint", absl::StrFormat("%016x", file.fingerprint)}});
  for (const Function& function : program.functions)
    object["functions"].push_back({{"name", function.name},
                                   {"role", runtime::roleName(function.role)},
                                   {"rows", function.rows},
                                   {"predicted_ns", function.predictedNs},
                                   {"shared_percent", function.sharedPercent},
                                   {"steps", function.steps.size()},
                                   {"inputs", describePorts(function.inputs)},
                                   {"outputs", describePorts(function.outputs)}});
  std::vector<size_t> steps = countSteps(program);
  for (size_t i = 0; i < program.kernels.size(); ++i)
    object["kernels"].push_back({{"symbol", program.kernels[i].symbol},
                                 {"steps", steps[i]},
                                 {"tiles", program.kernels[i].tiles}});
  object["report"] = readReport(program);
  return object;
}

} // namespace tenon::tools
