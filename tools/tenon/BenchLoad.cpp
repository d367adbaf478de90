#include "tools/tenon/BenchLoad.h"

#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tools/bench/BenchRequests.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/Progress.h"
#include "tools/cli/Version.h"

namespace tenon::tools {

void addLoadOptions(CLI::App& command, LoadOptions& load, FlagRules& rules) {
  command.add_option("--requests", load.requests,
                     "A file of requests to answer, with --shapes=decode:ROWS up to ROWS at once, "
                     "instead of measuring one function; a JSON object a line: {\"prompt\": "
                     "\"Once\", \"output\": 128, "
                     "\"arrival\": 0.5}, with ids or input, a number of random ones, in place of "
                     "prompt, and arrival in seconds");
  command
      .add_option("--poisson", load.poisson.perSecond,
                  "The same with --steps requests that arrive at random, so many a second")
      ->check(CLI::PositiveNumber);
  rules.require(command.add_option("--input", load.poisson.inputTokens, "Tokens of each prompt")
                    ->check(integerFrom(1))
                    ->capture_default_str(),
                {Need::Arrivals});
  rules.require(
      command.add_option("--output", load.poisson.outputTokens, "New tokens of each request")
          ->check(integerFrom(0))
          ->capture_default_str(),
      {Need::Arrivals});
  rules.require(
      command.add_flag("--batch-invariant", load.isBatchInvariant,
                       "Give each request the same bits whatever runs beside it: all calls are of "
                       "the decode and the prefill of most rows"),
      {Need::Requests});
}

static absl::StatusOr<std::vector<TimedRequest>> makeLoad(const LoadOptions& load,
                                                          const runtime::Program& program) {
  if (!load.requests.empty())
    return readRequests(load.requests, program);
  if (!program.model)
    return absl::InvalidArgumentError(
        "--poisson: expects a language model to ask, but MODEL is none");
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
    TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(planFlags, input.target));
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
