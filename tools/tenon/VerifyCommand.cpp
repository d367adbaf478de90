#include <iostream>
#include <memory>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tools/common/BenchModel.h"
#include "tools/common/FunctionInputs.h"
#include "tools/common/InputModel.h"
#include "tools/common/MakeExecutor.h"
#include "tools/common/PlanFlags.h"
#include "tools/tenon/Command.h"
#include "tools/verify/VerifyReport.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelInputOptions model;
  PlanFlags plan;
  std::string device = "cpu";
  std::string target = "native";
  int64_t position = 16;
  int threads = 0;
  bool json = false;
};

/// Calls a function of a language model behind `position` tokens, or a prefill from position 0.
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

absl::Status verify(const Options& options) {
  TENON_ASSIGN_OR_RETURN(InputModel input,
                         readInputModel(options.model, options.device, options.target));
  TENON_ASSIGN_OR_RETURN(PlanSettings plan, readPlanFlags(options.plan, input.target));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileInputModel(input, options.model, plan.fusion));
  TENON_ASSIGN_OR_RETURN(auto executor,
                         makeExecutor(std::move(program), {.threads = options.threads}));
  std::vector<VerifiedCall> calls;
  nlohmann::json list = nlohmann::json::array();
  for (size_t index = 0; index < executor->program().functions.size(); ++index) {
    TENON_ASSIGN_OR_RETURN(VerifiedCall call,
                           verifyFunction(options, *executor, *input.module, index));
    if (!options.json)
      std::cout << (index > 0 ? "\n" : "") << formatVerification(call) << std::flush;
    for (nlohmann::json& step : describeVerification(call))
      list.push_back(std::move(step));
    calls.push_back(std::move(call));
  }
  if (options.json)
    std::cout << list.dump(1) << "\n";
  return verdictOf(calls);
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
  addModelInputOptions(*command, options->model);
  addPlanFlags(*command, options->plan);
  addDeviceOptions(*command, options->device, options->target);
  command
      ->add_option("--position", options->position,
                   "Position of decode's tokens: as many tokens are read before")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--threads", options->threads, "CPU threads; 0 for every core")
      ->capture_default_str();
  command->add_flag("--json", options->json, "A JSON array of one object a step");
  command->callback([options, &action] { action = [options] { return verify(*options); }; });
}

} // namespace tenon::tools
