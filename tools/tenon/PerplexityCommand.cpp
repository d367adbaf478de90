#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "support/MappedFile.h"
#include "support/Status.h"
#include "tools/common/InputModel.h"
#include "tools/common/MakeExecutor.h"
#include "tools/common/Perplexity.h"
#include "tools/common/PlanFlags.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelInputOptions model;
  std::string text;
  std::string device = "cpu";
  std::string target = "native";
  std::vector<std::string> plans = {"auto"};
  PlanFlags plan; ///< but for the plan's name
  int64_t window = 0;
  int threads = 0;
  bool json = false;
};

absl::StatusOr<Perplexity> measure(const Options& options, const std::string& plan,
                                   const std::string& text) {
  TENON_ASSIGN_OR_RETURN(InputModel input,
                         readInputModel(options.model, options.device, options.target));
  PlanFlags flags = options.plan;
  flags.plan = plan;
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(flags, input.target));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileInputModel(input, options.model, settings.fusion));
  ExecutorOptions executorOptions{.threads = options.threads};
  executorOptions.setLaunch(flags.launch);
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), executorOptions));
  return computePerplexity(*executor, text, options.window);
}

absl::Status run(const Options& options) {
  TENON_ASSIGN_OR_RETURN(auto file, MappedFile::open(options.text));
  std::string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& plan : options.plans) {
    TENON_ASSIGN_OR_RETURN(Perplexity result, measure(options, plan, text));
    if (!options.json)
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
  if (options.json)
    std::cout << list.dump(1) << "\n";
  return absl::OkStatus();
}

} // namespace

void addPerplexityCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  options->model.shapes = {"decode:1"};
  CLI::App* command =
      app.add_subcommand("perplexity", "How well a model predicts a text, under each plan");
  command->footer("tenon perplexity model.gguf --text story.txt --plans=unfused,split,fused,auto");
  addModelInputOptions(*command, options->model);
  command->add_option("--text", options->text, "The file with the text")->required();
  command
      ->add_option("--window", options->window,
                   "Tokens that are read from position 0 on (default: the context, at most 512)")
      ->check(CLI::PositiveNumber);
  addDeviceOptions(*command, options->device, options->target);
  addPlansOption(*command, options->plans);
  addFusionFlags(*command, options->plan);
  command->add_option("--threads", options->threads, "CPU threads; 0 for every core")
      ->capture_default_str();
  command->add_flag("--json", options->json,
                    "An array of one object a plan: plan, perplexity, log_likelihood, predicted, "
                    "windows");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

} // namespace tenon::tools
