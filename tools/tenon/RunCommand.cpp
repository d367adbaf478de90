#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "runtime/program/ProgramFile.h"
#include "support/Status.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/PlanFlags.h"
#include "tools/driver/FileKind.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/driver/ReferenceExecutor.h"
#include "tools/driver/UsageError.h"
#include "tools/run/GenerateCommand.h"
#include "tools/run/RunGraph.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelOptions model;
  FlagRules rules; ///< of all flags
  GenerateOptions generate;
  GraphRunOptions graph;
  PlanFlags plan;
};

using Clock = std::chrono::steady_clock;

/// Runs what the flags ask for: text, or one call of a function.
absl::Status runWith(runtime::Executor& executor, const Options& options, Clock::time_point start) {
  if (options.graph.isGiven())
    return runGraph(executor, options.graph);
  int64_t loadNs = std::chrono::nanoseconds(Clock::now() - start).count();
  absl::Status status = generateText(executor, options.generate, loadNs, std::cout, std::cerr);
  if (status.ok())
    return status;
  return absl::Status(status.code(),
                      absl::StrFormat("%s: %s", options.model.path, std::string(status.message())));
}

ExecutorOptions executorOptions(const Options& options) {
  ExecutorOptions executor{.threads = options.generate.threads};
  executor.setLaunch(options.plan.launch);
  return executor;
}

/// A program has been compiled: what says how to is refused.
absl::Status runProgram(Options options, Clock::time_point start) {
  FlagRules& rules = options.rules;
  for (Need need : {Need::Model, Need::Import, Need::NamedShape, Need::Fusion, Need::Code})
    rules.deny(need, options.model.path + " is a compiled program");
  TENON_RETURN_IF_ERROR(rules.check());
  if (options.model.device == "reference")
    return usageError(options.model.path + ": expects a model or a graph for --device=reference, "
                                           "but got a compiled program");
  TENON_ASSIGN_OR_RETURN(runtime::Program program, runtime::readProgram(options.model.path));
  if (options.model.device != "auto" && options.model.device != program.device)
    return usageError(absl::StrFormat("--device=%s: %s is a program for %s", options.model.device,
                                      options.model.path, program.device));
  if (program.device != "cuda")
    rules.deny(Need::Gpu, options.model.path + " is a program for " + program.device);
  TENON_RETURN_IF_ERROR(rules.check());
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), executorOptions(options)));
  return runWith(*executor, options, start);
}

absl::Status run(Options options) {
  auto start = Clock::now();
  denyUnusedSampling(options.generate, options.rules);
  options.graph.inputs = options.generate.file;
  TENON_RETURN_IF_ERROR(readGraphRunOptions(options.graph, options.rules));
  bool mayBeShape = options.model.randomSeed && !std::filesystem::exists(options.model.path);
  if (!mayBeShape) {
    TENON_ASSIGN_OR_RETURN(FileKind kind, identifyFile(options.model.path));
    if (kind == FileKind::Program)
      return runProgram(std::move(options), start);
  }
  options.model.acceptedIds = options.generate.draft > 0;
  options.model.draftIds = options.generate.draftsByHead;
  // A guess is one more row of the only sequence.
  options.model.batch = options.generate.draft + 1;
  if (options.generate.draft > 0 && options.model.sequences == 0)
    options.model.sequences = 1;
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(options.model, options.rules));
  if (!options.graph.isGiven() && options.generate.ids.empty())
    TENON_RETURN_IF_ERROR(requireText(input, options.model.path));
  if (options.model.device == "reference") {
    TENON_ASSIGN_OR_RETURN(auto executor, ReferenceExecutor::create(*input.module));
    return runWith(*executor, options, start);
  }
  if (options.model.device == "auto")
    std::cerr << "device: " << describeChoice(input.target) << std::endl;
  TENON_ASSIGN_OR_RETURN(PlanSettings plan, readPlanFlags(options.plan, input));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileWithProgress(input, options.model, plan.fusion));
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), executorOptions(options)));
  return runWith(*executor, options, start);
}

} // namespace

void addRunCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  options->model.nextIds = true;
  CLI::App* command = app.add_subcommand(
      "run", "Generate text with a model or a compiled program, or call a function of a graph");
  command->footer("Text:   tenon run model.gguf -p 'Once upon a time' -n 100 --temperature 0\n"
                  "Graph:  tenon run graph.mlir --function f -f in.npz -o out.npz\n"
                  "        The arrays of in.npz are named as the function's inputs (or input0, "
                  "input1, …); bf16\n"
                  "        comes as uint16, block-quantised operands as uint8 of their bytes.");
  FlagRules& rules = options->rules;
  addModelOptions(*command, options->model, options->rules);
  addGenerateOptions(*command, options->generate, rules);
  addDeviceOption(*command, options->model, {"auto", "cpu", "cuda", "reference"});
  addTargetOption(*command, options->model, options->rules, "compile for");
  addPlanFlags(*command, options->plan, rules);
  addGraphRunOptions(*command, options->graph);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

} // namespace tenon::tools
