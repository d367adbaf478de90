#include <iostream>
#include <memory>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tools/bench/BenchModel.h"
#include "tools/bench/FunctionInputs.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/PlanFlags.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/tenon/Command.h"
#include "tools/verify/VerifyReport.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelOptions model;
  FlagRules rules; ///< of all flags
  std::vector<std::string> plans = {"auto"};
  PlanFlags plan; ///< but for the plan's name
  int64_t position = 16;
  int threads = 0;
  JsonFlag json;
};

/// Calls a function of a language model after `position` tokens of each sequence, or a prefill from
/// position 0.
absl::Status callModel(runtime::Executor& executor, const runtime::Function& function,
                       int64_t position, runtime::StepObserver& observer) {
  TENON_ASSIGN_OR_RETURN(ModelBench bench,
                         ModelBench::create(executor, function.role, function.rows,
                                            {.position = position, .warmupCalls = 0}));
  TENON_RETURN_IF_ERROR(bench.prepare());
  return bench.observe(observer);
}

/// Calls any other function on random inputs.
absl::Status callGraph(runtime::Executor& executor, size_t index, mlir::ModuleOp module,
                       int64_t position, runtime::StepObserver& observer) {
  const runtime::Function& function = executor.program().functions[index];
  ValueBytes inputs =
      makeFunctionInputs(module.lookupSymbol<mlir::func::FuncOp>(function.name), position);
  ValueBytes outputs;
  for (const runtime::Port& port : function.outputs)
    outputs.emplace_back(port.bytes);
  std::vector<std::span<const std::byte>> arguments(inputs.begin(), inputs.end());
  std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
  TENON_RETURN_IF_ERROR(executor.resetStates());
  return executor.runObserved(index, arguments, results, observer);
}

absl::StatusOr<VerifiedCall> verifyFunction(const Options& options, runtime::Executor& executor,
                                            mlir::ModuleOp module, size_t index) {
  const runtime::Program& program = executor.program();
  const runtime::Function& function = program.functions[index];
  TENON_ASSIGN_OR_RETURN(auto verifier, FunctionVerifier::create(module, program, index,
                                                                 {.threads = options.threads}));
  bool isModel = program.model && function.role != runtime::Role::Other;
  int64_t position = function.role == runtime::Role::Prefill ? 0 : options.position;
  TENON_RETURN_IF_ERROR(isModel ? callModel(executor, function, position, *verifier)
                                : callGraph(executor, index, module, position, *verifier));
  return VerifiedCall{function.name, position, verifier->checks()};
}

/// Verifies one plan; adds its steps to `list`.
absl::Status verifyPlan(const Options& options, const std::string& plan,
                        nlohmann::ordered_json& list) {
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(options.model, options.rules));
  if (options.model.device == "auto" && plan == options.plans.front())
    std::cerr << "device: " << describeChoice(input.target) << std::endl;
  PlanFlags flags = options.plan;
  flags.plan = plan;
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(flags, input));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileWithProgress(input, options.model, settings.fusion));
  TENON_ASSIGN_OR_RETURN(auto executor,
                         makeExecutor(std::move(program), {.threads = options.threads}));
  std::vector<VerifiedCall> calls;
  for (size_t index = 0; index < executor->program().functions.size(); ++index) {
    TENON_ASSIGN_OR_RETURN(VerifiedCall call,
                           verifyFunction(options, *executor, *input.module, index));
    if (!options.json.replacesText())
      std::cout << (list.empty() ? "" : "\n")
                << (options.plans.size() > 1 ? "plan " + plan + ", " : "")
                << formatVerification(call) << std::flush;
    for (const nlohmann::json& step : describeVerification(call)) {
      list.push_back(nlohmann::ordered_json(step));
      list.back()["plan"] = plan;
    }
    calls.push_back(std::move(call));
  }
  return verdictOf(calls);
}

absl::Status verify(const Options& options) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  absl::Status verdict;
  for (const std::string& plan : options.plans)
    verdict.Update(verifyPlan(options, plan, list));
  TENON_RETURN_IF_ERROR(writeJson(options.json, list));
  return verdict;
}

} // namespace

void addVerifyCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "verify", "Check every fused kernel, where it runs, against its own split chain (equal bits) "
                "and every kernel against the reference on the device's own inputs");
  command->footer(
      "tenon verify model.gguf --plan=fused --device=cuda\n"
      "Exit code 1, and the kernels named, where bits differ, or results are further from "
      "the reference than 1 % of their largest value (bf16: 4 %).");
  addModelOptions(*command, options->model, options->rules);
  addPlansOption(*command, options->plans, options->rules);
  addFusionFlags(*command, options->plan, options->rules);
  addDeviceOption(*command, options->model);
  addTargetOption(*command, options->model, options->rules, "compile for");
  command
      ->add_option("--position", options->position,
                   "Position of decode's tokens, and of each sequence's first in mixed: as many "
                   "tokens are read before")
      ->check(integerFrom(0))
      ->capture_default_str();
  addThreadsOption(*command, options->threads);
  addJsonFlag(*command, options->json, "an array of one object a step");
  command->callback([options, &action] { action = [options] { return verify(*options); }; });
}

} // namespace tenon::tools
