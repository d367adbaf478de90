#include <algorithm>
#include <array>
#include <iostream>
#include <limits>
#include <memory>
#include <sys/resource.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "runtime/ChromeTrace.h"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tools/bench/BenchReport.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/Version.h"
#include "tools/driver/UsageError.h"
#include "tools/report/HtmlReport.h"
#include "tools/report/Provenance.h"
#include "tools/report/ReportTables.h"
#include "tools/run/RunGraph.h"
#include "tools/tenon/Command.h"
#include "tools/tenon/MeasuredPlan.h"

namespace tenon::tools {

namespace {

/// Peak memory of the process, which on a CPU is that of the model.
uint64_t processPeakBytes() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

BenchReport makeReport(const BenchSettings& options, MeasuredPlan& plan) {
  const runtime::Program& program = plan.executor->program();
  BenchReport report;
  report.plan = plan.name;
  report.hardware = describeChoice(plan.target);
  report.threads = options.executor.threads;
  report.isModel = isLanguageFunction(plan.bench.function());
  report.rows = plan.bench.function().rows;
  report.launch = program.device == "cuda" ? options.plan.launch : "none";
  report.model = options.model.path;
  report.device = program.target;
  report.activations = program.states.empty() ? "none" : program.states.front().encoding;
  report.function = plan.bench.function().name;
  report.position =
      plan.bench.function().role == runtime::Role::Prefill ? 0 : options.bench.position;
  if (!options.bench.chunks.empty())
    report.chunks = absl::StrJoin(options.positions, ",");
  report.deviceBytes =
      plan.executor->deviceBytes() > 0 ? plan.executor->deviceBytes() : processPeakBytes();
  report.readMBs = plan.target.getProperty("dram_mb_per_s").value_or(0);
  report.times = plan.bench.result();
  report.work = plan.work;
  report.predictedNs = plan.predicted.stepsNs;
  report.predictedBeyondNs = plan.predicted.beyondNs;
  report.workspaceBytes = program.workspaceBytes;
  report.groups = plan.groups;
  return report;
}

/// Prints the timeline of a plan, adds it to the plan's figures and to `calls`.
absl::Status reportTimeline(const BenchSettings& options, const MeasuredPlan& plan,
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

using ReportForm = std::string (*)(const nlohmann::ordered_json& document);

std::string formatJson(const nlohmann::ordered_json& document) {
  return document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// The ending of a file for a call as a Chrome trace.
constexpr std::string_view traceEnding = ".trace.json";

/// What writes a report into a file of that ending; null for another ending.
ReportForm reportForm(const std::string& path) {
  if (path.ends_with(traceEnding))
    return nullptr;
  if (path.ends_with(".md"))
    return formatMarkdown;
  if (path.ends_with(".html"))
    return formatHtml;
  return path.ends_with(".json") ? formatJson : nullptr;
}

/// Checks the files to write before anything is measured.
absl::Status checkOutputs(const BenchSettings& options) {
  for (const std::string& path : options.files) {
    if (!reportForm(path) && !path.ends_with(traceEnding))
      return usageError(absl::StrFormat("-o: expects a file that ends in .md, .html, .json or "
                                        ".trace.json, but got '%s'",
                                        path));
    TENON_RETURN_IF_ERROR(checkOutput(path, std::array{options.model.path}));
  }
  if (options.json.path.empty() || options.json.replacesText())
    return absl::OkStatus();
  return checkOutput(options.json.path, std::array{options.model.path});
}

/// Whether a file to write is one of `isForm`.
bool writesForm(const BenchSettings& options, bool (*isForm)(const std::string& path)) {
  return std::ranges::any_of(options.files, isForm);
}

bool isTrace(const std::string& path) { return path.ends_with(traceEnding); }

/// Whether the report in a file of that ending holds the code of kernels.
bool holdsCode(const std::string& path) { return reportForm(path) && !path.ends_with(".md"); }

/// A load of requests instead of calls of one function.
absl::Status benchLoad(BenchSettings& options) {
  TENON_RETURN_IF_ERROR(checkLoad(options.load));
  if (options.plans == defaultPlans())
    std::erase(options.plans, "vanilla");
  if (std::ranges::find(options.plans, "vanilla") != options.plans.end())
    return usageError("--plans: vanilla is right from position 0 on alone, but a load of requests "
                      "continues prompts");
  if (options.shape.role == Role::Prefill)
    return usageError(
        absl::StrFormat("--shapes: expects decode:ROWS for a load of requests, of which up to ROWS "
                        "are answered at once, but got 'prefill:%d'",
                        options.shape.rows));
  options.model.shapes.clear();
  options.rules.deny(Need::OneFunction, "a load of requests is measured");
  return benchLoad(options.load, options.model, options.rules, options.shape.rows, options.plans,
                   options.plan, options.executor, options.json);
}

/// One plan as the document has it; with the code of its kernels where a file of the report holds it.
absl::StatusOr<nlohmann::ordered_json> documentPlan(const BenchSettings& options,
                                                    MeasuredPlan& plan, const MeasuredPlan& first,
                                                    const BenchReport& report) {
  DocumentedPlan documented{.report = &report,
                            .program = &plan.executor->program(),
                            .function = plan.bench.functionIndex(),
                            .steps = plan.steps,
                            .decisions = plan.decisions};
  if (&plan != &first)
    documented.difference =
        compareResults(plan.bench.function(), first.bench.results(), plan.bench.results());
  if (writesForm(options, holdsCode)) {
    TENON_ASSIGN_OR_RETURN(documented.code,
                           printKernelCode(*plan.input.module, *documented.program));
  }
  return describePlan(documented);
}

/// Writes the reports among the files, each in the form that its ending says.
absl::Status writeReports(const BenchSettings& options, const nlohmann::ordered_json& document) {
  for (const std::string& path : options.files)
    if (ReportForm form = reportForm(path))
      TENON_RETURN_IF_ERROR(writeTextFile(path, form(document)));
  return absl::OkStatus();
}

/// Writes the traces among the files: `calls` where blocks left stamps, else the last plan's profile.
absl::Status writeTraces(const BenchSettings& options,
                         const std::vector<runtime::TracedCall>& calls, const MeasuredPlan& last) {
  size_t function = last.bench.functionIndex();
  for (const std::string& path : options.files)
    if (isTrace(path))
      TENON_RETURN_IF_ERROR(calls.empty()
                                ? runtime::writeChromeTrace(last.executor->program(), function,
                                                            last.executor->profile(function), path)
                                : runtime::writeChromeTimelines(calls, path));
  return absl::OkStatus();
}

/// The shape that `--shapes` says, which is one; for a load of requests, mixed ones beside it, which
/// `mixed` takes.
absl::StatusOr<frontends::EntryShape> readShape(std::vector<std::string> shapes,
                                                std::vector<std::string>* mixed) {
  auto isMixed = [](const std::string& shape) { return shape.starts_with("mixed:"); };
  if (mixed) {
    std::ranges::copy_if(shapes, std::back_inserter(*mixed), isMixed);
    std::erase_if(shapes, isMixed);
  }
  if (shapes.empty())
    return frontends::EntryShape{Role::Decode, 1};
  if (shapes.size() > 1)
    return usageError(
        absl::StrFormat("--shapes: expects one shape to measure, but got %u", shapes.size()));
  return parseEntryShape(shapes.front());
}

/// The chunk that `FIRST` or `FIRST+ROWS` means.
absl::StatusOr<TokenChunk> readChunk(const std::string& text) {
  std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('+', 1));
  TokenChunk chunk;
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (!absl::SimpleAtoi(parts.first, &chunk.position) || chunk.position < 0 ||
      chunk.position > most ||
      (text.find('+') != text.npos && !absl::SimpleAtoi(parts.second, &chunk.rows)) ||
      chunk.rows < 1 || chunk.rows > most)
    return usageError(absl::StrFormat(
        "--position: expects an integer at least 0, or FIRST+ROWS, such as 512+4, of a sequence, "
        "but got '%s'",
        text));
  return chunk;
}

/// One number is a position of all rows.
absl::Status readPositions(BenchSettings& options) {
  for (const std::string& text : options.positions) {
    TENON_ASSIGN_OR_RETURN(options.bench.chunks.emplace_back(), readChunk(text));
  }
  if (options.positions.size() > 1 || options.positions.front().find('+') != std::string::npos)
    return options.generate > 0
               ? usageError("--generate: expects one --position of all sequences, but got several")
               : absl::OkStatus();
  options.bench.position = options.bench.chunks.front().position;
  options.bench.chunks.clear();
  return absl::OkStatus();
}

absl::Status readMeasure(BenchSettings& options) {
  const std::vector<std::string>& words = options.measure;
  options.countsBytes = words.size() < 2;
  if (!absl::SimpleAtoi(words.front(), &options.bench.calls) || options.bench.calls < 1 ||
      words.size() > 2 || (words.size() == 2 && words[1] != "time"))
    return usageError(absl::StrFormat("--measure: expects an integer at least 1, or that and time, "
                                      "such as 200,time, but got '%s'",
                                      absl::StrJoin(words, ",")));
  return absl::OkStatus();
}

absl::Status bench(BenchSettings options) {
  TENON_RETURN_IF_ERROR(checkOutputs(options));
  TENON_RETURN_IF_ERROR(readPositions(options));
  TENON_RETURN_IF_ERROR(readMeasure(options));
  TENON_ASSIGN_OR_RETURN(options.shape,
                         readShape(options.model.shapes,
                                   options.load.isGiven() ? &options.model.mixedShapes : nullptr));
  options.executor.setLaunch(options.plan.launch);
  if (options.load.isGiven())
    return benchLoad(options);
  for (auto [need, isMet] : {std::pair(Need::Decode, options.shape.role == Role::Decode),
                             std::pair(Need::Position, options.shape.role != Role::Prefill)})
    if (!isMet)
      options.rules.deny(need, "--shapes is " + options.model.shapes.front());
  std::vector<MeasuredPlan> plans;
  for (const std::string& plan : options.plans) {
    TENON_ASSIGN_OR_RETURN(MeasuredPlan loaded, loadPlan(options, plan));
    plans.push_back(std::move(loaded));
    if (plans.back().name == plannedName)
      break;
  }
  TENON_RETURN_IF_ERROR(measurePlans(options, plans));
  const absl::Status counted = countTraffic(options, plans);
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();
  std::vector<runtime::TracedCall> calls;
  for (MeasuredPlan& plan : plans) {
    const runtime::Program& program = plan.executor->program();
    size_t function = plan.bench.functionIndex();
    BenchReport report = makeReport(options, plan);
    if (!options.json.replacesText())
      std::cout << formatReport(report, program, function) << std::flush;
    TENON_ASSIGN_OR_RETURN(figures.emplace_back(),
                           documentPlan(options, plan, plans.front(), report));
    if (writesForm(options, isTrace) && plan.target.getDevice() == DeviceKind::Cuda)
      TENON_RETURN_IF_ERROR(reportTimeline(options, plan, report, figures.back(), calls));
  }
  TENON_RETURN_IF_ERROR(writeTraces(options, calls, plans.back()));
  for (nlohmann::ordered_json& plan : figures) {
    plan["version"] = versionNumber();
    plan["commit"] = versionCommit();
  }
  const MeasuredPlan& first = plans.front();
  nlohmann::ordered_json document = makeBenchDocument(
      figures, first.target, describeProvenance(first.executor->program(), counted),
      isLanguageFunction(first.bench.function()));
  if (!options.json.replacesText())
    std::cout << "\n"
              << formatProvenance(document) << "\n"
              << formatText(makeReportTables(document)) << std::flush;
  TENON_RETURN_IF_ERROR(writeReports(options, document));
  return writeJson(options.json, figures);
}

} // namespace

void addBenchCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<BenchSettings>();
  CLI::App* command = app.add_subcommand("bench", "Measure one plan, or several beside each other, "
                                                  "of a model's decode, prefill or mixed or of any "
                                                  "graph: times, memory, results, groups, kernels");
  command->footer("tenon bench llama-3.2-1b --random-weights=1 --type=bf16 --device=cuda\n"
                  "tenon bench model.gguf --shapes=prefill:512 --plans=vanilla,unfused,auto "
                  "-o plans.html\n"
                  "tenon bench graph.mlir --function=block");
  addModelOptions(*command, options->model, options->rules);
  addDeviceOption(*command, options->model);
  addTargetOption(*command, options->model, options->rules, "compile for");
  FlagRules& rules = options->rules;
  addPlansOption(*command, options->plans, rules, /*withVanilla=*/true);
  addFusionFlags(*command, options->plan, rules);
  rules.require(command->add_option("--function", options->function,
                                    "The function of a graph to measure (default: the only one)"),
                {Need::OneFunction, Need::Functions});
  rules.require(
      command
          ->add_option(
              "--position", options->positions,
              "Position of decode's tokens, and of each sequence's first in mixed: as many "
              "keys lie before them. Or what the rows of a call are: of each sequence "
              "FIRST+ROWS, so many at positions from FIRST on, or FIRST, one of them; the "
              "other rows are idle. Four guesses beside a token: 512+5; two sequences of "
              "unlike lengths: 40,8000")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->capture_default_str(),
      {Need::Position, Need::OneFunction});
  rules.require(
      command
          ->add_option(
              "--generate", options->generate,
              "Also time that many tokens of a greedy generation from the position on, host "
              "time included; a GPU then chooses the tokens and feeds them to itself")
          ->check(integerFrom(0)),
      {Need::Decode, Need::OneFunction, Need::Language});
  addLoadFlag(*command, options->load);
  rules.require(command
                    ->add_option("--measure,--steps", options->measure,
                                 "The function is measured in any case: by so many calls. On a GPU "
                                 "whose counters can be read (CUPTI) the bytes that memory moves "
                                 "are counted, too, which takes seconds; 200,time leaves it out")
                    ->delimiter(',')
                    ->allow_extra_args(false)
                    ->capture_default_str(),
                {Need::OneFunction});
  addThreadsOption(*command, options->executor.threads);
  addJsonFlag(*command, options->json, "an array of one object a plan");
  rules.require(
      command
          ->add_option(
              "-o,--output", options->files,
              "A file to write, by its ending; may be given several times. .md, .json and .html, "
              "a page with graph, timeline, roofline and every kernel's code: the plans compared. "
              ".trace.json: a call as a Chrome trace; on a CPU of the last plan, on a GPU of each "
              "plan with the gaps between its steps, as launched: its kernels are compiled once "
              "more, to say when each block starts, works and ends. Also a table, and part of "
              "--json")
          ->allow_extra_args(false),
      {Need::OneFunction});
  command->callback([options, &action] { action = [options] { return bench(*options); }; });
}

} // namespace tenon::tools
