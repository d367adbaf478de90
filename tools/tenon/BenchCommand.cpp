#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <sys/resource.h>

#include "absl/strings/str_format.h"
#include "frontends/models/ImportModel.h"
#include "nlohmann/json.hpp"
#include "runtime/ChromeTrace.h"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tools/common/BenchModel.h"
#include "tools/common/BenchReport.h"
#include "tools/common/CommandLine.h"
#include "tools/common/FunctionWork.h"
#include "tools/common/InputModel.h"
#include "tools/common/JsonFlag.h"
#include "tools/common/MakeExecutor.h"
#include "tools/common/PlanFlags.h"
#include "tools/common/PredictSteps.h"
#include "tools/common/Progress.h"
#include "tools/common/TimelineReport.h"
#include "tools/common/UsageError.h"
#include "tools/common/Version.h"
#include "tools/tenon/BenchLoad.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelInputOptions model;
  BenchOptions bench;
  ExecutorOptions executor;
  std::vector<std::string> plans = {"unfused", "auto"};
  PlanFlags plan; ///< but for the plan's name
  int64_t rows = 1;
  int64_t prefill = 0;
  int64_t generate = 0;
  JsonFlag json;
  std::string trace;
  std::string timeline;
  LoadOptions load;
};

/// Generations of each plan, which alternate.
constexpr int64_t generateRounds = 4;

/// A plan of the model, loaded and under measurement.
struct MeasuredPlan {
  std::string name;
  std::unique_ptr<runtime::Executor> executor;
  ModelBench bench;
  std::vector<StepWork> work;
  std::vector<int64_t> predictedNs; ///< by step
  std::vector<GroupFunction> groups;
  TargetAttr target; ///< lives as long as `input.context`
  InputModel input;
};

/// Adds a function for each group of the steps of the one that will be measured, if it is there.
absl::StatusOr<std::vector<GroupFunction>>
addGroups(runtime::Program& program, mlir::ModuleOp module, runtime::Role role, int64_t rows) {
  auto found = std::ranges::find_if(program.functions, [&](const runtime::Function& function) {
    return function.role == role && function.rows == rows;
  });
  if (found == program.functions.end())
    return std::vector<GroupFunction>();
  TENON_ASSIGN_OR_RETURN(std::vector<std::string> groups, groupSteps(module, found->name));
  return addGroupFunctions(program, found - program.functions.begin(), groups);
}

absl::StatusOr<MeasuredPlan> loadPlan(const Options& options, const std::string& plan) {
  ModelInputOptions model = options.model;
  bool isPrefill = options.prefill > 0;
  int64_t rows = isPrefill ? options.prefill : options.rows;
  model.nextIds = options.generate > 0;
  model.shapes = {absl::StrFormat("%s:%d", isPrefill ? "prefill" : "decode", rows)};
  TENON_ASSIGN_OR_RETURN(InputModel input, readInputModel(model));
  PlanFlags flags = options.plan;
  flags.plan = plan;
  if (options.model.device == "auto" && plan == options.plans.front())
    std::cerr << "device: " << describeChoice(input.target) << std::endl;
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(flags, input.target));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileInputModel(input, model, settings.fusion));
  runtime::Role role = isPrefill ? runtime::Role::Prefill : runtime::Role::Decode;
  TENON_ASSIGN_OR_RETURN(std::vector<GroupFunction> groups,
                         addGroups(program, *input.module, role, rows));
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), options.executor));
  BenchOptions bench = options.bench;
  bench.position = isPrefill ? 0 : bench.position;
  bench.generatedTokens = isPrefill ? 0 : (options.generate + generateRounds - 1) / generateRounds;
  TENON_ASSIGN_OR_RETURN(ModelBench measured, ModelBench::create(*executor, role, rows, bench));
  int64_t newest = isPrefill ? rows - 1 : bench.position;
  TENON_ASSIGN_OR_RETURN(std::vector<StepWork> work,
                         computeWork(*input.module, measured.function().name, newest));
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> predictedNs,
                         predictSteps(*input.module, measured.function().name, input.target,
                                      settings.fusion.launchMode));
  TargetAttr target = input.target;
  return MeasuredPlan{plan,
                      std::move(executor),
                      std::move(measured),
                      std::move(work),
                      std::move(predictedNs),
                      std::move(groups),
                      target,
                      std::move(input)};
}

/// Peak memory of the process, which on a CPU is that of the model.
uint64_t processPeakBytes() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

BenchReport makeReport(const Options& options, MeasuredPlan& plan) {
  const runtime::Program& program = plan.executor->program();
  BenchReport report;
  report.plan = plan.name;
  report.hardware = describeChoice(plan.target);
  report.threads = options.executor.threads;
  report.rows = plan.bench.function().rows;
  report.launch = program.device == "cuda" ? options.plan.launch : "none";
  report.model = options.model.path;
  report.device = program.target;
  report.activations = program.states.empty() ? "none" : program.states.front().encoding;
  report.function = plan.bench.function().name;
  report.position = options.prefill > 0 ? 0 : options.bench.position;
  report.deviceBytes =
      plan.executor->deviceBytes() > 0 ? plan.executor->deviceBytes() : processPeakBytes();
  report.readMBs = plan.target.getProperty("dram_mb_per_s").value_or(0);
  report.times = plan.bench.result();
  report.work = plan.work;
  report.predictedNs = plan.predictedNs;
  report.workspaceBytes = program.workspaceBytes;
  report.groups = plan.groups;
  return report;
}

/// The plans alternate call by call, so that what changes on the device meets all alike.
absl::Status measure(const Options& options, std::vector<MeasuredPlan>& plans) {
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
  for (int64_t call = 0; call < std::min(groupCalls, options.bench.calls); ++call)
    for (MeasuredPlan& plan : plans)
      TENON_RETURN_IF_ERROR(plan.bench.callGroups(plan.groups));
  for (MeasuredPlan& plan : plans)
    TENON_RETURN_IF_ERROR(plan.bench.profile());
  return absl::OkStatus();
}

/// The calls once more, by kernels whose blocks leave stamps.
absl::StatusOr<MeasuredTimelines> measureTimelines(const Options& options,
                                                   const MeasuredPlan& plan) {
  TENON_ASSIGN_OR_RETURN(
      runtime::Program program,
      compileInputModel(plan.input, options.model, /*fusion=*/{}, /*stamps=*/true));
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(std::move(program), options.executor));
  const runtime::Function& function = plan.bench.function();
  BenchOptions bench = options.bench;
  bench.position = options.prefill > 0 ? 0 : bench.position;
  TENON_ASSIGN_OR_RETURN(ModelBench measured,
                         ModelBench::create(*executor, function.role, function.rows, bench));
  TENON_RETURN_IF_ERROR(measured.prepare());
  MeasuredTimelines timelines;
  TENON_ASSIGN_OR_RETURN(timelines.calls, measured.timelines());
  timelines.stepsNs = measured.result().stepsNs;
  return timelines;
}

/// Prints the timeline of a plan, adds it to the plan's figures and to `calls`.
absl::Status reportTimeline(const Options& options, const MeasuredPlan& plan,
                            const BenchReport& report, nlohmann::ordered_json& figures,
                            std::vector<runtime::TracedCall>& calls) {
  TENON_ASSIGN_OR_RETURN(MeasuredTimelines measured, measureTimelines(options, plan));
  const runtime::Program& program = plan.executor->program();
  size_t function = plan.bench.functionIndex();
  std::cout << formatTimeline(measured, report, program, function) << std::flush;
  figures["timeline"] = describeTimeline(measured, report, program, function);
  calls.push_back({absl::StrFormat("%s, plan %s, launch %s", plan.bench.function().name, plan.name,
                                   report.launch),
                   &program, function, typicalCall(measured)});
  return absl::OkStatus();
}

/// Checks the files to write before anything is measured.
absl::Status checkOutputs(const Options& options) {
  for (auto [flag, path] :
       {std::pair("--trace", &options.trace), {"--timeline", &options.timeline}})
    if (*path == "-")
      return usageError(
          absl::StrFormat("%s: expects a file, but got '-', where the table goes", flag));
  std::string json = options.json.replacesText() ? "" : options.json.path;
  for (const std::string& path : {json, options.trace, options.timeline})
    if (!path.empty())
      TENON_RETURN_IF_ERROR(checkOutput(path, std::array{options.model.path}));
  return absl::OkStatus();
}

/// A load of requests instead of calls of one function.
absl::Status benchLoad(Options& options) {
  if (!options.load.requests.empty() && options.load.poisson.perSecond > 0)
    return usageError("--requests and --poisson: expects one of them, but got both");
  options.model.rules.deny(Need::OneFunction, "a load of requests is measured");
  options.load.poisson.requests = options.bench.calls;
  return benchLoad(options.load, options.model, options.rows, options.plans, options.plan,
                   options.executor, options.json);
}

absl::Status bench(Options options) {
  TENON_RETURN_IF_ERROR(checkOutputs(options));
  options.executor.setLaunch(options.plan.launch);
  if (options.load.poisson.perSecond <= 0)
    options.model.rules.deny(Need::Arrivals, "--poisson is not given");
  if (options.load.isGiven())
    return benchLoad(options);
  options.model.rules.deny(Need::Shapes, "bench makes the one that --rows or --prefill says");
  if (options.prefill > 0)
    options.model.rules.deny(Need::Decode, "--prefill is given too");
  std::vector<MeasuredPlan> plans;
  for (const std::string& plan : options.plans) {
    TENON_ASSIGN_OR_RETURN(MeasuredPlan loaded, loadPlan(options, plan));
    plans.push_back(std::move(loaded));
  }
  TENON_RETURN_IF_ERROR(measure(options, plans));
  nlohmann::ordered_json reports = nlohmann::ordered_json::array();
  std::vector<runtime::TracedCall> calls;
  std::vector<BenchReport> measured;
  for (MeasuredPlan& plan : plans) {
    const runtime::Program& program = plan.executor->program();
    size_t function = plan.bench.functionIndex();
    BenchReport report = makeReport(options, plan);
    if (!options.json.replacesText())
      std::cout << formatReport(report, program, function) << std::flush;
    reports.push_back(describeReport(report, program, function));
    if (!options.trace.empty())
      TENON_RETURN_IF_ERROR(runtime::writeChromeTrace(
          program, function, plan.executor->profile(function), options.trace));
    if (!options.timeline.empty())
      TENON_RETURN_IF_ERROR(reportTimeline(options, plan, report, reports.back(), calls));
    measured.push_back(std::move(report));
  }
  if (!options.json.replacesText())
    std::cout << formatComparison(measured);
  if (!options.timeline.empty())
    TENON_RETURN_IF_ERROR(runtime::writeChromeTimelines(calls, options.timeline));
  for (nlohmann::ordered_json& report : reports) {
    report["version"] = versionNumber();
    report["commit"] = versionCommit();
  }
  return writeJson(options.json, reports);
}

} // namespace

void addBenchCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "bench", "Measure decode or prefill of a model: distribution of times, table of kernels");
  command->footer("tenon bench llama-3.2-1b --random-weights=1 --type=bf16 --device=cuda\n"
                  "tenon bench model.gguf --device=cuda --prefill=512 --json=times.json");
  addModelInputOptions(*command, options->model);
  addDeviceOption(*command, options->model);
  addTargetOption(*command, options->model, "compile for");
  FlagRules& rules = options->model.rules;
  addPlansOption(*command, options->plans, rules);
  addFusionFlags(*command, options->plan, rules);
  rules.require(
      command
          ->add_option("--rows", options->rows,
                       "Rows of decode, each its own sequence; of requests: those at once")
          ->check(integerFrom(1, frontends::highestRows))
          ->capture_default_str(),
      {Need::Decode});
  rules.require(command
                    ->add_option("--prefill", options->prefill,
                                 "Measure prefill of that many tokens instead of decode")
                    ->check(integerFrom(1, frontends::highestRows)),
                {Need::OneFunction});
  rules.require(command
                    ->add_option("--position", options->bench.position,
                                 "Position of decode's tokens: as many keys lie before them")
                    ->check(integerFrom(0))
                    ->capture_default_str(),
                {Need::Decode, Need::OneFunction});
  rules.require(
      command
          ->add_option(
              "--generate", options->generate,
              "Also time that many tokens of a greedy generation from the position on, host "
              "time included; a GPU then chooses the tokens and feeds them to itself")
          ->check(integerFrom(0)),
      {Need::Decode, Need::OneFunction});
  addLoadOptions(*command, options->load, rules);
  command->add_option("--steps", options->bench.calls, "Calls to measure, or requests of --poisson")
      ->check(integerFrom(1))
      ->capture_default_str();
  addThreadsOption(*command, options->executor.threads);
  addJsonFlag(*command, options->json, "an array of one object a plan");
  rules.require(command->add_option("--trace", options->trace,
                                    "A file for the last profiled call as a Chrome trace"),
                {Need::OneFunction});
  rules.require(command->add_option(
                    "--timeline", options->timeline,
                    "A file for a call of each plan as a Chrome trace with the gaps between its "
                    "steps, as launched: a GPU's kernels are compiled once more, to say when each "
                    "block starts, works and ends. Also a table, and part of --json"),
                {Need::Gpu, Need::OneFunction});
  command->callback([options, &action] { action = [options] { return bench(*options); }; });
}

} // namespace tenon::tools
