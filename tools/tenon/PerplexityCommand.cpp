#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/PlanFlags.h"
#include "tools/cli/Progress.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/run/Perplexity.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelOptions model;
  FlagRules rules; ///< of all flags
  std::string text;
  std::vector<std::string> plans = {"auto"};
  PlanFlags plan; ///< but for the plan's name
  int threads = 0;
  JsonFlag json;
};

absl::StatusOr<Perplexity> measure(const Options& options, const std::string& plan,
                                   const std::string& text) {
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(options.model, options.rules));
  if (options.model.device == "auto" && plan == options.plans.front())
    std::cerr << "device: " << describeChoice(input.target) << std::endl;
  TENON_RETURN_IF_ERROR(requireText(input, options.model.path));
  PlanFlags flags = options.plan;
  flags.plan = plan;
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(flags, input));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileWithProgress(input, options.model, settings.fusion));
  ExecutorOptions executorOptions{.threads = options.threads};
  executorOptions.setLaunch(flags.launch);
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), executorOptions));
  Progress progress("reading " + options.text);
  return computePerplexity(*executor, text, options.model.contextLength,
                           [&](size_t done, size_t total) { progress.update(done, total); });
}

absl::Status run(const Options& options) {
  TENON_ASSIGN_OR_RETURN(std::string text, readTextFile(options.text));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& plan : options.plans) {
    TENON_ASSIGN_OR_RETURN(Perplexity result, measure(options, plan, text));
    if (!options.json.replacesText())
      std::cout << absl::StrFormat("%s, plan %s: perplexity %.6f, %d tokens in %d windows\n",
                                   options.model.path, plan, result.perplexity, result.predicted,
                                   result.windows)
                << std::flush;
    list.push_back({{"plan", plan},
                    {"perplexity", result.perplexity},
                    {"log_likelihood", result.logLikelihood},
                    {"predicted", result.predicted},
                    {"windows", result.windows}});
  }
  return writeJson(options.json, list);
}

} // namespace

void addPerplexityCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  options->model.shapes = {"decode:1"};
  CLI::App* command =
      app.add_subcommand("perplexity", "How well a model predicts a text, under each plan");
  command->footer(
      "tenon perplexity model.gguf -f story.txt --plans=unfused,split,fused,auto\n"
      "The text is read in windows of --context tokens, 512 unless told. Every token of a window "
      "but\nits first counts. llama-perplexity counts the second half of each window alone, so its "
      "values\nare lower.");
  addModelOptions(*command, options->model, options->rules);
  command->add_option("-f,--file", options->text, "The file with the text; - for standard input")
      ->required();
  addDeviceOption(*command, options->model);
  addTargetOption(*command, options->model, options->rules, "compile for");
  addPlansOption(*command, options->plans, options->rules);
  addFusionFlags(*command, options->plan, options->rules);
  addThreadsOption(*command, options->threads);
  addJsonFlag(
      *command, options->json,
      "an array of one object a plan: plan, perplexity, log_likelihood, predicted, windows");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

} // namespace tenon::tools
