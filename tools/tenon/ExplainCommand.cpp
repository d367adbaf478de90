#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/PlanFlags.h"
#include "tools/cli/PointsFlag.h"
#include "tools/cli/Progress.h"
#include "tools/measure/ExplainReport.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

using passes::FusionDecision;

struct Options {
  ModelOptions model;
  FlagRules rules; ///< of all flags
  PlanFlags plan;
  JsonFlag json;
  int64_t rounds = 0; ///< samples of each measurement; 0: nothing is measured
  int64_t position = 512;
  int threads = 0;
};

/// Measures what the pass considered, and keeps the times.
absl::Status measureFusions(const Options& options, const LoadedModel& input,
                            FusionMeasurer& measurer) {
  TENON_ASSIGN_OR_RETURN(auto points,
                         openPoints(options.plan.points, input.target, options.plan.launch));
  Progress progress("measuring kernels");
  return measurer.measureAll(*points, [&](size_t done) { progress.update(done, measurer.size()); });
}

absl::Status explain(Options options) {
  if (options.rounds == 0)
    options.rules.deny(Need::Measuring, "it is not given");
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(options.model, options.rules));
  mlir::ModuleOp module = *input.module;
  if (passes::getPhase(module) >= Phase::Fused)
    return absl::InvalidArgumentError(
        options.model.path +
        ": expects a model before the phase fused, for which there is "
        "something to decide, but got phase " +
        stringifyPhase(passes::getPhase(module)).str());
  PlanFlags flags = options.plan;
  if (options.rounds > 0)
    flags.points = "none"; // predictions are compared, not what was measured before
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(flags, input));
  passes::PipelineOptions pipeline{
      .upTo = Phase::Fused, .target = input.target, .fusion = settings.fusion};
  std::vector<FusionDecision> decisions;
  pipeline.fusion.report = &decisions;
  std::vector<passes::FunctionFusion> functions;
  pipeline.fusion.functions = &functions;
  std::vector<passes::RaisedOperation> raised;
  pipeline.raised = &raised;
  std::vector<passes::NormDeferral> deferrals;
  pipeline.deferrals = &deferrals;
  TimerOptions timer{.executor = {.threads = options.threads}, .position = options.position};
  timer.executor.setLaunch(options.plan.launch);
  FusionMeasurer measurer(input.target, timer, options.rounds);
  if (options.rounds > 0)
    pipeline.fusion.inspect = [&](const FusionDecision& decision,
                                  llvm::ArrayRef<mlir::Operation*> ops) {
      measurer.note(decision, ops);
    };
  TENON_RETURN_IF_ERROR(passes::runPipeline(module, pipeline));
  // What was predicted, and measured before an error, is shown all the same.
  absl::Status measured =
      options.rounds > 0 ? measureFusions(options, input, measurer) : absl::OkStatus();
  for (const std::string& operations : measurer.leftOut())
    std::cerr << "warning: left out: " << operations
              << ": lost in the noise of other work on this machine\n";

  std::vector<ExplainedFusion> fusions;
  for (const FusionDecision& decision : decisions) {
    const FusionTimes* times = decision.legal ? measurer.find(decision) : nullptr;
    fusions.push_back({&decision, times ? std::optional(*times) : std::nullopt});
  }
  if (!options.json.replacesText())
    std::cout << formatRaised(raised) << formatDeferrals(deferrals)
              << formatOverview(functions, decisions) << formatFusions(fusions)
              << formatNeighbours(functions);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ExplainedFusion& fusion : fusions)
    list.push_back(nlohmann::ordered_json(describeFusion(fusion)));
  for (const passes::FunctionFusion& function : functions)
    for (const FusionDecision& pair : function.neighbours) {
      list.push_back(nlohmann::ordered_json(describeFusion({&pair})));
      list.back()["neighbours"] = true;
    }
  TENON_RETURN_IF_ERROR(writeJson(options.json, list));
  return measured;
}

} // namespace

void addExplainCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "What fusion gains, and why not more: each chain's share of the step, the refusals that cost "
      "most, every fusion that was considered with its reason, and every two neighbours that do "
      "not share a kernel; with --measure the measured times beside the predicted ones");
  command->footer("tenon explain model.gguf --target=h200\n"
                  "tenon explain model.gguf --target=h200 --measure --shapes=decode:1");
  addModelOptions(*command, options->model, options->rules);
  FlagRules& rules = options->rules;
  addPlanFlags(*command, options->plan, rules);
  addTargetOption(*command, options->model, options->rules, "decide for");
  addJsonFlag(
      *command, options->json,
      "an array of one object a candidate, then one, with neighbours, for each operation and "
      "a reader of its result that do not share a kernel");
  addMeasureFlag(*command, options->rounds,
                 "Run each candidate's kernel and its operations one by one on this machine's "
                 "device, keep the times (--points), and show them beside the predictions");
  rules.require(command
                    ->add_option("--position", options->position,
                                 "Keys that lie before the tokens of decode where it is measured")
                    ->check(integerFrom(0))
                    ->capture_default_str(),
                {Need::Measuring});
  rules.require(addThreadsOption(*command, options->threads), {Need::Measuring});
  command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

} // namespace tenon::tools
