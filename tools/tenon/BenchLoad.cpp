#include "tools/tenon/BenchLoad.h"

#include <iostream>
#include <limits>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tools/bench/BenchRequests.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/FieldsFlag.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/Progress.h"
#include "tools/cli/Version.h"
#include "tools/driver/UsageError.h"

namespace tenon::tools {

void addLoadFlag(CLI::App& command, LoadOptions& load) {
  auto setInvariant = [&load](const std::string& text) { load.isBatchInvariant = text == "yes"; };
  load.flag = addFieldsFlag(
      command, "--requests",
      {textField("", load.requests, someText()),
       numberField("rate", load.poisson.perSecond,
                   numberFrom(0, std::numeric_limits<double>::infinity(), /*aboveLeast=*/true)),
       integerField("count", load.poisson.requests, integerFrom(1)),
       integerField("input", load.poisson.inputTokens, integerFrom(1)),
       integerField("output", load.poisson.outputTokens, integerFrom(0)),
       {"batch-invariant", oneOf({"yes", "no"}), setInvariant}},
      absl::StrFormat(
          "Requests to answer, with --shapes=decode:ROWS up to ROWS at once, instead of measuring "
          "one function; mixed:ROWS beside it lets prompts share the calls of those that go on. A "
          "file with a JSON object a line: {\"prompt\": \"Once\", \"output\": 128, "
          "\"arrival\": 0.5}, with ids or input, a number of random ones, in place of prompt, and "
          "arrival in seconds. Or at random, so many a second: rate=4 and, with commas between, "
          "count=N of them (%d), with input=N tokens (%d) and output=N new ones (%d) each. "
          "batch-invariant=yes gives each request the same bits whatever runs beside it: all calls "
          "are of the decode and the prefill of most rows",
          load.poisson.requests, load.poisson.inputTokens, load.poisson.outputTokens));
}

absl::Status checkLoad(const LoadOptions& load) {
  bool isRandom = false;
  for (const char* field : {"rate", "count", "input", "output"})
    isRandom |= hasField(*load.flag, field);
  if (!load.requests.empty() && isRandom)
    return usageError("--requests: expects a file or requests at random, but got both");
  if (load.requests.empty() && load.poisson.perSecond <= 0)
    return usageError("--requests: expects a file, or how many arrive a second (rate=4), but got "
                      "neither");
  return absl::OkStatus();
}

static absl::StatusOr<std::vector<TimedRequest>> makeLoad(const LoadOptions& load,
                                                          const runtime::Program& program) {
  if (!load.requests.empty())
    return readRequests(load.requests, program);
  if (!program.model)
    return absl::InvalidArgumentError(
        "--requests: expects a language model to ask, but MODEL is none");
  return makePoissonLoad(load.poisson, program.model->vocabulary);
}

absl::Status benchLoad(const LoadOptions& load, ModelOptions model, const FlagRules& rules,
                       int64_t sequences, const std::vector<std::string>& plans,
                       const PlanFlags& flags, const ExecutorOptions& executorOptions,
                       const JsonFlag& json) {
  model.batch = sequences;
  model.nextIds = true;
  nlohmann::ordered_json reports = nlohmann::ordered_json::array();
  for (const std::string& plan : plans) {
    TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(model, rules));
    if (model.device == "auto" && plan == plans.front())
      std::cerr << "device: " << describeChoice(input.target) << std::endl;
    PlanFlags planFlags = flags;
    planFlags.plan = plan;
    TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(planFlags, input));
    TENON_ASSIGN_OR_RETURN(runtime::Program program,
                           compileWithProgress(input, model, settings.fusion));
    TENON_ASSIGN_OR_RETURN(std::vector<TimedRequest> requests, makeLoad(load, program));
    TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), executorOptions));
    RequestBench bench;
    {
      Progress progress("answering requests");
      TENON_ASSIGN_OR_RETURN(
          bench, benchRequests(*executor, requests, {.isBatchInvariant = load.isBatchInvariant},
                               [&](int64_t ended) {
                                 progress.update(static_cast<uint64_t>(ended), requests.size());
                               }));
    }
    if (!json.replacesText())
      std::cout << absl::StrFormat("%s, plan %s, target %s\n%s", model.path, plan,
                                   executor->program().target, formatRequestBench(bench))
                << std::flush;
    nlohmann::ordered_json report = {
        {"model", model.path}, {"plan", plan}, {"target", executor->program().target}};
    report.update(describeRequestBench(bench));
    report["version"] = versionNumber();
    report["commit"] = versionCommit();
    reports.push_back(std::move(report));
  }
  return writeJson(json, reports);
}

} // namespace tenon::tools
