#include <array>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "runtime/program/ProgramFile.h"
#include "support/Status.h"
#include "tools/common/GenerateCommand.h"
#include "tools/common/InputModel.h"
#include "tools/common/MakeExecutor.h"
#include "tools/common/PlanFlags.h"
#include "tools/common/ReferenceExecutor.h"
#include "tools/common/RunGraph.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelInputOptions model;
  GenerateOptions generate;
  GraphRunOptions graph;
  PlanFlags plan;
  std::string device = "cpu";
  std::string target = "native";
};

bool isProgram(const std::string& path) {
  std::array<char, 64> head = {};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return runtime::isProgramFile(
      std::as_bytes(std::span(head.data(), static_cast<size_t>(file.gcount()))));
}

/// Runs what the flags ask for: text, or one call of a function.
absl::Status runWith(runtime::Executor& executor, const Options& options, int64_t loadNs) {
  if (!options.graph.inputs.empty() || !options.graph.outputs.empty())
    return runGraph(executor, options.graph);
  return generateText(executor, options.generate, loadNs, std::cout, std::cerr);
}

absl::Status run(const Options& options) {
  auto start = std::chrono::steady_clock::now();
  auto elapsedNs = [&] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  };
  ExecutorOptions executorOptions{.threads = options.generate.threads};
  executorOptions.setLaunch(options.plan.launch);
  if (isProgram(options.model.path)) {
    if (options.device == "reference")
      return absl::InvalidArgumentError(
          options.model.path + ": expects a model or a graph for --device=reference, but got a "
                               "compiled program");
    TENON_ASSIGN_OR_RETURN(runtime::Program program, runtime::readProgram(options.model.path));
    TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), executorOptions));
    return runWith(*executor, options, elapsedNs());
  }
  if (options.device == "reference") {
    if (options.model.randomSeed)
      return absl::InvalidArgumentError(
          "--random-weights: expects --device=cpu or cuda, whose programs make them at load");
    auto context = makeContext();
    TENON_ASSIGN_OR_RETURN(auto module, readModel(*context, options.model));
    TENON_ASSIGN_OR_RETURN(auto executor, ReferenceExecutor::create(*module));
    return runWith(*executor, options, elapsedNs());
  }
  TENON_ASSIGN_OR_RETURN(InputModel input,
                         readInputModel(options.model, options.device, options.target));
  TENON_ASSIGN_OR_RETURN(PlanSettings plan, readPlanFlags(options.plan, input.target));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileInputModel(input, options.model, plan.fusion));
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), executorOptions));
  return runWith(*executor, options, elapsedNs());
}

} // namespace

void addRunCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  options->model.nextIds = true;
  CLI::App* command = app.add_subcommand(
      "run", "Generate text with a model or a compiled program, or call a function of a graph");
  command->footer("Text:   tenon run model.gguf -p 'Once upon a time' -n 100 --temperature 0\n"
                  "Graph:  tenon run graph.mlir --function f --inputs in.npz --outputs out.npz\n"
                  "        The arrays of in.npz are named as the function's inputs (or input0, "
                  "input1, …); bf16\n"
                  "        comes as uint16, block-quantised operands as uint8 of their bytes.");
  addModelInputOptions(*command, options->model);
  addGenerateOptions(*command, options->generate);
  command->add_option("--device", options->device, "cpu, cuda, or reference: the interpreter")
      ->check(CLI::IsMember({"cpu", "cuda", "reference"}))
      ->capture_default_str();
  command->add_option("--target", options->target, "The target to compile for (see `devices`)")
      ->capture_default_str();
  addPlanFlags(*command, options->plan);
  command->add_option("--function", options->graph.function,
                      "The function to call (default: the only one)");
  command->add_option("--inputs", options->graph.inputs, "Its inputs, a NumPy .npz archive");
  command->add_option("--outputs", options->graph.outputs, "Where its results go, .npz");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

} // namespace tenon::tools
