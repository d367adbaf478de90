#include "tools/report/BenchDocument.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "ir/encoding/Encoding.h"

namespace tenon::tools {

using nlohmann::ordered_json;
using passes::FusionDecision;

namespace {

/// `b - a` and `a` at their largest, over one result.
struct Difference {
  double difference = 0, value = 0;
};

Difference compare(std::span<const double> a, std::span<const double> b) {
  Difference largest;
  for (size_t i = 0; i < a.size(); ++i) {
    bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (!same && std::isfinite(a[i]) != std::isfinite(b[i]))
      largest.difference = std::numeric_limits<double>::infinity();
    else if (!same)
      largest.difference = std::max(largest.difference, std::abs(a[i] - b[i]));
    if (std::isfinite(a[i]))
      largest.value = std::max(largest.value, std::abs(a[i]));
  }
  return largest;
}

template <typename Parts> uint64_t sumBytes(const Parts& parts) {
  uint64_t bytes = 0;
  for (const auto& part : parts)
    bytes += part.bytes;
  return bytes;
}

/// The part of the workspace that the function's own steps touch.
uint64_t workspaceOf(const runtime::Function& function) {
  uint64_t bytes = 0;
  for (const runtime::Step& step : function.steps)
    for (const runtime::BufferRef& place : step.args)
      if (place.space == runtime::Space::Workspace)
        bytes = std::max(bytes, place.offset + place.bytes);
  return bytes;
}

ordered_json describeMemory(const runtime::Program& program, const runtime::Function& function) {
  uint64_t workspace = workspaceOf(function);
  uint64_t weights = sumBytes(program.constants), caches = sumBytes(program.states);
  uint64_t ports = sumBytes(function.inputs) + sumBytes(function.outputs);
  return {{"weight_bytes", weights},
          {"cache_bytes", caches},
          {"workspace_bytes", workspace},
          {"port_bytes", ports},
          {"total_bytes", weights + caches + workspace + ports}};
}

ordered_json describeDecisions(const DocumentedPlan& plan, const std::string& function,
                               const std::vector<std::string>& operations) {
  ordered_json list = ordered_json::array();
  for (const FusionDecision& decision : plan.decisions) {
    auto isInKernel = [&](const std::string& operation) {
      return std::ranges::find(operations, operation) != operations.end();
    };
    if (decision.taken || decision.function != function ||
        !std::ranges::any_of(decision.ops, isInKernel))
      continue;
    ordered_json entry = {
        {"rule", decision.rule}, {"ops", decision.ops}, {"reason", decision.reason}};
    if (decision.legal) {
      entry["predicted_fused_ns"] = decision.fused.ns;
      entry["predicted_unfused_ns"] = decision.unfused.ns;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

ordered_json describeStep(const DocumentedPlan& plan, size_t index) {
  const BenchReport& report = *plan.report;
  const runtime::Step& step = plan.program->functions[plan.function].steps[index];
  return {{"kernel", kernelLabel(*plan.program, step.kernel)},
          {"name", step.name},
          {"group", plan.steps[index].group},
          {"ns", report.times.profileNs.empty() ? 0 : report.times.profileNs[index]},
          {"predicted_ns", report.predictedNs.empty() ? 0 : report.predictedNs[index]},
          {"flops", report.work[index].flops},
          {"bytes", report.work[index].bytes()},
          {"reads", plan.steps[index].reads}};
}

/// Adds what a kernel computes to its object, from the first step that calls it.
void addKernelDetails(const DocumentedPlan& plan, ordered_json& kernel) {
  const runtime::Function& function = plan.program->functions[plan.function];
  auto calls = [&](const runtime::Step& step) {
    return kernelLabel(*plan.program, step.kernel) == kernel["symbol"].get<std::string>();
  };
  auto first = std::ranges::find_if(function.steps, calls);
  const StepDetails& details = plan.steps[first - function.steps.begin()];
  kernel["operations"] = details.operations;
  kernel["operation_count"] = details.names.size();
  kernel["ir"] = details.ir;
  kernel["code"] = ordered_json::object();
  if (!plan.code.empty())
    for (const auto& [language, text] : plan.code[first->kernel])
      kernel["code"][language] = text;
  kernel["decisions"] = describeDecisions(plan, function.name, details.names);
}

/// In bytes or operations a ns: 1e6 bytes a second are 1e-3 a ns.
ordered_json describeRoofs(TargetAttr target) {
  ordered_json roofs = {{"bytes_per_ns", nullptr}, {"flops_per_ns", ordered_json::object()}};
  if (auto rate = target.getProperty("dram_mb_per_s"))
    roofs["bytes_per_ns"] = static_cast<double>(*rate) / 1e3;
  for (const char* name : {"f32_gflops", "tensor_16bit_gflops"})
    if (auto rate = target.getProperty(name))
      roofs["flops_per_ns"][name] = *rate; // 1e9 a second are one a ns
  return roofs;
}

} // namespace

double compareResults(const runtime::Function& function,
                      const std::vector<std::vector<std::byte>>& a,
                      const std::vector<std::vector<std::byte>>& b) {
  double largest = 0;
  for (auto [index, port] : llvm::enumerate(function.outputs)) {
    const Encoding* encoding = findEncoding(port.encoding);
    assert(encoding && "the program was compiled here");
    int64_t elements =
        static_cast<int64_t>(port.bytes) / encoding->blockBytes * encoding->blockSize;
    std::vector<double> x(elements), y(elements);
    encoding->decode(a[index], x);
    encoding->decode(b[index], y);
    Difference found = compare(x, y);
    if (found.difference > 0)
      largest = std::max(largest, found.value > 0 ? found.difference / found.value
                                                  : std::numeric_limits<double>::infinity());
  }
  return largest;
}

ordered_json describePlan(const DocumentedPlan& plan) {
  const runtime::Function& function = plan.program->functions[plan.function];
  ordered_json object = describeReport(*plan.report, *plan.program, plan.function);
  object["fused_launches"] = std::ranges::count_if(
      plan.steps, [](const StepDetails& step) { return step.names.size() > 1; });
  object["memory"] = describeMemory(*plan.program, function);
  object["memory"]["device_bytes"] = nullptr;
  if (plan.program->device == "cuda")
    object["memory"]["device_bytes"] = plan.report->deviceBytes;
  object["difference"] = nullptr;
  if (plan.difference)
    object["difference"] = *plan.difference;
  for (ordered_json& kernel : object["kernels"])
    addKernelDetails(plan, kernel);
  object["steps"] = ordered_json::array();
  for (size_t step = 0; step < function.steps.size(); ++step)
    object["steps"].push_back(describeStep(plan, step));
  return object;
}

ordered_json makeBenchDocument(ordered_json plans, TargetAttr target, ordered_json provenance,
                               bool isModel) {
  const ordered_json& first = plans.front();
  std::string where = first.contains("chunks")
                          ? "chunks " + first["chunks"].get<std::string>()
                          : absl::StrFormat("position %d", first["position"].get<int64_t>());
  std::string title = absl::StrFormat(
      "%s, %s at %s, activations %s, %d calls of each plan in turn",
      first["model"].get<std::string>(), first["function"].get<std::string>(), where,
      first["activations"].get<std::string>(), first["calls"].get<int64_t>());
  return {{"format", "tenon-bench-1"},
          {"title", std::move(title)},
          {"unit", isModel ? "tokens/s" : "calls/s"},
          {"provenance", std::move(provenance)},
          {"roofs", describeRoofs(target)},
          {"plans", std::move(plans)}};
}

} // namespace tenon::tools
