#include "tools/common/ProgramReport.h"

#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace tenon::tools {

using nlohmann::ordered_json;
using runtime::Function;
using runtime::Port;
using runtime::Program;

static const char* roleName(runtime::Role role) {
  switch (role) {
  case runtime::Role::Decode:
    return "decode";
  case runtime::Role::Prefill:
    return "prefill";
  case runtime::Role::Other:
    break;
  }
  return "other";
}

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

std::string formatProgram(const Program& program, const std::string& path) {
  std::string text =
      absl::StrFormat("%s: program for %s (%s)\n", path, program.target, program.device);
  if (program.model)
    text += absl::StrFormat(
        "model  %s, %s: %d tokens, context of %d, %d sequences, %s\n", program.model->name,
        program.model->architecture, program.model->vocabulary, program.model->context,
        program.model->sequences, program.tokenizer ? "with its tokeniser" : "without tokeniser");
  for (const runtime::SourceFile& file : program.files)
    text += absl::StrFormat("file   %s, %d bytes, fingerprint %016x\n", file.path, file.bytes,
                            file.fingerprint);
  text += absl::StrFormat("bytes  %d constants, %d states, %d workspace, %d code\n",
                          sumBytes(program.constants), sumBytes(program.states),
                          program.workspaceBytes, codeBytes(program));
  for (const Function& function : program.functions)
    text += absl::StrFormat("\n%s: %s, %d rows, %d steps\n", function.name, roleName(function.role),
                            function.rows, function.steps.size()) +
            formatPorts("input", function.inputs) + formatPorts("output", function.outputs);
  text += absl::StrFormat("\n%d kernels\n", program.kernels.size());
  std::vector<size_t> steps = countSteps(program);
  for (size_t i = 0; i < program.kernels.size(); ++i)
    text += absl::StrFormat("  %-32s %d steps\n", program.kernels[i].symbol, steps[i]);
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

ordered_json describeProgram(const Program& program, const std::string& path) {
  ordered_json object = {{"file", path},
                         {"target", program.target},
                         {"device", program.device},
                         {"features", program.features},
                         {"model", nullptr},
                         {"files", ordered_json::array()},
                         {"constant_bytes", sumBytes(program.constants)},
                         {"state_bytes", sumBytes(program.states)},
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
  for (const runtime::SourceFile& file : program.files)
    object["files"].push_back({{"path", file.path},
                               {"bytes", file.bytes},
                               {"fingerprint", absl::StrFormat("%016x", file.fingerprint)}});
  for (const Function& function : program.functions)
    object["functions"].push_back({{"name", function.name},
                                   {"role", roleName(function.role)},
                                   {"rows", function.rows},
                                   {"steps", function.steps.size()},
                                   {"inputs", describePorts(function.inputs)},
                                   {"outputs", describePorts(function.outputs)}});
  std::vector<size_t> steps = countSteps(program);
  for (size_t i = 0; i < program.kernels.size(); ++i)
    object["kernels"].push_back({{"symbol", program.kernels[i].symbol}, {"steps", steps[i]}});
  return object;
}

} // namespace tenon::tools
