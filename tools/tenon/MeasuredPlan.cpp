#include "tools/tenon/MeasuredPlan.h"

#include <algorithm>
#include <iostream>

#include "absl/strings/str_format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Status.h"
#include "tools/bench/FunctionInputs.h"
#include "tools/cli/Progress.h"
#include "tools/driver/UsageError.h"
#include "tools/run/RunGraph.h"

namespace tenon::tools {

namespace {

/// Generations of each plan, which alternate.
constexpr int64_t generateRounds = 4;

/// Where the function that the options mean is in `program`.
absl::StatusOr<size_t> chooseFunction(const BenchSettings& options,
                                      const runtime::Program& program) {
  if (!options.function.empty() || !program.model)
    return findFunction(program, options.function);
  auto role = static_cast<runtime::Role>(options.shape.role);
  auto found = std::ranges::find_if(program.functions, [&](const runtime::Function& function) {
    return function.role == role && function.rows == options.shape.rows;
  });
  if (found == program.functions.end())
    return absl::NotFoundError(absl::StrFormat(
        "bench: expects a %s function of %d rows in %s, but there is none; "
        "--function names another",
        stringifyRole(options.shape.role).str(), options.shape.rows, options.model.path));
  return found - program.functions.begin();
}

/// Adds a function for each group of the steps of function `index`.
absl::StatusOr<std::vector<GroupFunction>> addGroups(runtime::Program& program,
                                                     mlir::ModuleOp module, size_t index) {
  TENON_ASSIGN_OR_RETURN(std::vector<std::string> groups,
                         groupSteps(module, program.functions[index].name));
  return addGroupFunctions(program, index, groups);
}

absl::StatusOr<ModelBench> makeBench(const BenchSettings& options, runtime::Executor& executor,
                                     mlir::ModuleOp module, size_t index) {
  const runtime::Function& function = executor.program().functions[index];
  BenchOptions bench = options.bench;
  bench.position = function.role == runtime::Role::Prefill ? 0 : bench.position;
  bench.generatedTokens = function.role == runtime::Role::Decode
                              ? (options.generate + generateRounds - 1) / generateRounds
                              : 0;
  if (isLanguageFunction(function))
    return ModelBench::create(executor, function.role, function.rows, bench);
  if (!bench.chunks.empty())
    return usageError("--position: expects one position of a graph's function, but got several");
  auto body = module.lookupSymbol<mlir::func::FuncOp>(function.name);
  return ModelBench::ofGraph(executor, index, makeFunctionInputs(body, bench.position), bench);
}

/// The model as the options mean it: of a model file the one function that is measured.
absl::StatusOr<LoadedModel> readBenchModel(const BenchSettings& options) {
  ModelOptions model = options.model;
  model.nextIds = options.generate > 0;
  if (model.shapes.empty())
    model.shapes = {"decode:1"};
  FlagRules rules = options.rules;
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(model, rules));
  if (!input.hasModel())
    rules.deny(Need::Language, options.model.path + " is a graph");
  if (!input.isText)
    rules.deny(Need::Functions, options.model.path + " is a model, of which --shapes says the "
                                                     "function");
  TENON_RETURN_IF_ERROR(rules.check());
  return input;
}

/// Of the sequences that a call reads, the position of the last row; their mean where rows are of chunks.
int64_t newestPosition(const BenchSettings& options, const ModelBench& bench) {
  const runtime::Function& function = bench.function();
  if (options.bench.chunks.empty())
    return function.role == runtime::Role::Prefill ? function.rows - 1 : options.bench.position;
  int64_t positions = 0;
  for (const TokenChunk& chunk : options.bench.chunks)
    positions += chunk.position + chunk.rows;
  return positions / std::min(function.rows, bench.sequences()) - 1;
}

} // namespace

absl::StatusOr<MeasuredPlan> loadPlan(const BenchSettings& options, const std::string& plan) {
  TENON_ASSIGN_OR_RETURN(LoadedModel input, readBenchModel(options));
  const bool wasFused = passes::getPhase(*input.module) >= Phase::Fused;
  PlanFlags flags = options.plan;
  flags.plan = plan;
  if (options.model.device == "auto" && plan == options.plans.front())
    std::cerr << "device: " << describeChoice(input.target) << std::endl;
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(flags, input));
  std::vector<passes::FusionDecision> decisions;
  settings.fusion.report = &decisions;
  std::vector<passes::FunctionFusion> functions;
  settings.fusion.functions = &functions;
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileWithProgress(input, options.model, settings.fusion));
  for (const passes::FunctionFusion& function : functions)
    std::ranges::copy_if(function.neighbours, std::back_inserter(decisions),
                         [](const auto& pair) { return pair.rule == "neighbours"; });
  TENON_ASSIGN_OR_RETURN(size_t index, chooseFunction(options, program));
  TENON_ASSIGN_OR_RETURN(std::vector<GroupFunction> groups,
                         addGroups(program, *input.module, index));
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), options.executor));
  TENON_ASSIGN_OR_RETURN(ModelBench measured, makeBench(options, *executor, *input.module, index));
  const runtime::Function& function = measured.function();
  int64_t newest = newestPosition(options, measured);
  TENON_ASSIGN_OR_RETURN(std::vector<StepWork> work,
                         computeWork(*input.module, function.name, newest));
  TENON_ASSIGN_OR_RETURN(
      PredictedCall predicted,
      predictCall(*input.module, function.name, input.target, settings.fusion.launchMode, newest));
  TENON_ASSIGN_OR_RETURN(std::vector<StepDetails> steps,
                         describeSteps(*input.module, function.name));
  TargetAttr target = input.target;
  return MeasuredPlan{wasFused ? plannedName : plan,
                      std::move(executor),
                      std::move(measured),
                      std::move(work),
                      std::move(predicted),
                      std::move(groups),
                      std::move(steps),
                      std::move(decisions),
                      target,
                      std::move(input)};
}

absl::Status measurePlans(const BenchSettings& options, std::vector<MeasuredPlan>& plans) {
  Progress progress("measuring");
  for (MeasuredPlan& plan : plans)
    TENON_RETURN_IF_ERROR(plan.bench.prepare());
  for (int64_t call = 0; call < options.bench.calls; ++call) {
    for (MeasuredPlan& plan : plans)
      TENON_RETURN_IF_ERROR(plan.bench.call());
    progress.update(call + 1, options.bench.calls);
  }
  for (int64_t round = 0; options.generate > 0 && round < generateRounds; ++round)
    for (MeasuredPlan& plan : plans)
      TENON_RETURN_IF_ERROR(plan.bench.generate());
  constexpr int64_t groupCalls = 25;
  for (MeasuredPlan& plan : plans)
    TENON_RETURN_IF_ERROR(
        plan.bench.callGroups(plan.groups, std::min(groupCalls, options.bench.calls)));
  for (MeasuredPlan& plan : plans)
    TENON_RETURN_IF_ERROR(plan.bench.profile());
  return absl::OkStatus();
}

absl::Status countTraffic(const BenchSettings& options, std::vector<MeasuredPlan>& plans) {
  if (!options.countsBytes)
    return absl::UnavailableError("--measure has time alone");
  for (MeasuredPlan& plan : plans)
    TENON_RETURN_IF_ERROR(plan.bench.countTraffic(plan.groups));
  return absl::OkStatus();
}

absl::StatusOr<MeasuredTimelines> measureTimelines(const BenchSettings& options,
                                                   const MeasuredPlan& plan) {
  TENON_ASSIGN_OR_RETURN(
      runtime::Program program,
      compileWithProgress(plan.input, options.model, /*fusion=*/{}, /*stamps=*/true));
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), options.executor));
  TENON_ASSIGN_OR_RETURN(ModelBench measured, makeBench(options, *executor, *plan.input.module,
                                                        plan.bench.functionIndex()));
  TENON_RETURN_IF_ERROR(measured.prepare());
  MeasuredTimelines timelines;
  TENON_ASSIGN_OR_RETURN(timelines.calls, measured.timelines());
  timelines.stepsNs = measured.result().stepsNs;
  return timelines;
}

} // namespace tenon::tools
