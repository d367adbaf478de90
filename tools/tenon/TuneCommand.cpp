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
#include "tools/measure/TuneSchedules.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelOptions model;
  FlagRules rules; ///< of all flags
  PlanFlags plan;
  int64_t rounds = measureRounds;
  int64_t position = 512;
  int threads = 0;
  JsonFlag json;
};

std::string formatKernel(const TunedKernel& kernel) {
  std::string text =
      absl::StrFormat("%s: %s, %d times\n", kernel.name, kernel.operations, kernel.places);
  for (size_t i = 0; i < kernel.schedules.size(); ++i)
    text += absl::StrFormat("  %s %9d ns ± %-6d %s\n", i == kernel.best() ? "*" : " ",
                            kernel.schedules[i].ns, kernel.schedules[i].spreadNs,
                            kernel.schedules[i].schedule);
  return text;
}

nlohmann::ordered_json describeKernel(const TunedKernel& kernel) {
  nlohmann::ordered_json schedules = nlohmann::ordered_json::array();
  for (const TunedSchedule& schedule : kernel.schedules)
    schedules.push_back(
        {{"schedule", schedule.schedule}, {"ns", schedule.ns}, {"spread_ns", schedule.spreadNs}});
  return {{"name", kernel.name},
          {"operations", kernel.operations},
          {"places", kernel.places},
          {"best", kernel.best()},
          {"schedules", std::move(schedules)}};
}

/// What the model's step gains, if its kernels' times add up.
std::string formatGain(const std::vector<TunedKernel>& kernels) {
  int64_t before = 0, after = 0, changed = 0;
  for (const TunedKernel& kernel : kernels) {
    before += kernel.places * kernel.schedules[0].ns;
    after += kernel.places * kernel.schedules[kernel.best()].ns;
    changed += kernel.best() != 0;
  }
  return absl::StrFormat("%u kernels tuned, %d get another schedule: %.3f ms of their time become "
                         "%.3f\n",
                         kernels.size(), changed, before / 1e6, after / 1e6);
}

absl::Status tune(const Options& options) {
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(options.model, options.rules));
  // First: the flags' look-ups are in that file, too.
  TENON_ASSIGN_OR_RETURN(auto points,
                         openPoints(options.plan.points, input.target, options.plan.launch));
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(options.plan, input));
  TENON_RETURN_IF_ERROR(passes::runPipeline(
      *input.module,
      {.upTo = Phase::Scheduled, .target = input.target, .fusion = settings.fusion}));
  TimerOptions timer{.executor = {.threads = options.threads}, .position = options.position};
  timer.executor.setLaunch(options.plan.launch);
  Progress progress("measuring schedules");
  TENON_ASSIGN_OR_RETURN(std::vector<TunedKernel> kernels,
                         tuneSchedules(
                             *input.module, timer, options.rounds, *points,
                             [&](size_t done, size_t total) { progress.update(done, total); },
                             [](const TunedKernel& kernel) {
                               std::cerr << "warning: left out: " << kernel.name << ": "
                                         << kernel.operations
                                         << ": lost in the noise of other work on this machine\n";
                             }));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TunedKernel& kernel : kernels) {
    list.push_back(describeKernel(kernel));
    if (!options.json.replacesText())
      std::cout << formatKernel(kernel);
  }
  if (!options.json.replacesText())
    std::cout << formatGain(kernels);
  return writeJson(options.json, list);
}

} // namespace

void addTuneCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "tune", "Measure other schedules of a model's products, and keep the fastest");
  command->footer(
      "tenon tune model.gguf --target=h200 --shapes=decode:1\n"
      "The times go where explain --measure keeps its own (--points); every command "
      "then takes\nthe fastest schedule. All schedules of a kernel give the same bits.");
  addModelOptions(*command, options->model, options->rules);
  addPlanFlags(*command, options->plan, options->rules);
  addTargetOption(*command, options->model, options->rules, "tune for");
  addMeasureFlag(*command, options->rounds, "Schedules are measured in any case");
  command->add_option("--position", options->position, "Keys that lie before the tokens of decode")
      ->check(integerFrom(0))
      ->capture_default_str();
  addThreadsOption(*command, options->threads);
  addJsonFlag(*command, options->json,
              "an array of one object a kernel: name, operations, places, schedules, the index of "
              "the best");
  command->callback([options, &action] { action = [options] { return tune(*options); }; });
}

} // namespace tenon::tools
