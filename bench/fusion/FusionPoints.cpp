#include "bench/fusion/FusionPoints.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "passes/fusion/FusionRule.h"
#include "support/Status.h"

namespace tenon::bench {

std::string FusionPoint::name() const {
  std::string text =
      absl::StrFormat("%s %s %dx%d", chain->name, shape.type, shape.rows, shape.hidden);
  return shape.columns > 0 ? absl::StrFormat("%sx%d", text, shape.columns) : text;
}

static absl::StatusOr<std::vector<int64_t>> parseNumbers(absl::string_view text) {
  std::vector<int64_t> numbers;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t number = 0;
    constexpr int64_t most = 1 << 20;
    if (!absl::SimpleAtoi(part, &number) || number < 1 || number > most)
      return absl::InvalidArgumentError(
          absl::StrFormat("expects numbers from 1 to %d between commas, but got '%s'", most, text));
    numbers.push_back(number);
  }
  return numbers;
}

static absl::Status parseLine(const std::vector<absl::string_view>& words,
                              std::vector<FusionPoint>& points) {
  if (words.size() < 5 || words.size() > 6)
    return absl::InvalidArgumentError("expects SET CHAIN TYPES ROWS HIDDEN [COLUMNS]");
  const FusionChain* chain = findChain(std::string(words[1]));
  if (!chain)
    return absl::InvalidArgumentError(absl::StrFormat("no chain is named '%s'", words[1]));
  std::vector<int64_t> columns = {0};
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> rows, parseNumbers(words[3]));
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> hidden, parseNumbers(words[4]));
  if (words.size() == 6) {
    TENON_ASSIGN_OR_RETURN(columns, parseNumbers(words[5]));
  }
  for (absl::string_view type : absl::StrSplit(words[2], ',')) {
    if (type != "f16" && type != "bf16" && type != "f32")
      return absl::InvalidArgumentError(
          absl::StrFormat("expects types of f16, bf16 and f32, but got '%s'", type));
    for (int64_t h : hidden)
      for (int64_t c : columns)
        for (int64_t r : rows)
          points.push_back({chain, {std::string(type), r, h, c}});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<FusionPoint>> parsePoints(const std::string& text,
                                                     const std::string& set) {
  std::vector<FusionPoint> points;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    std::vector<absl::string_view> words =
        absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty())
      continue;
    if (std::ranges::find(pointSets, words[0]) == std::end(pointSets))
      return absl::InvalidArgumentError(
          absl::StrFormat("line %d: expects a set of %s, but got '%s'", number,
                          absl::StrJoin(pointSets, ", "), words[0]));
    std::vector<FusionPoint> ofLine;
    if (absl::Status status = parseLine(words, ofLine); !status.ok())
      return absl::InvalidArgumentError(
          absl::StrFormat("line %d: %s", number, std::string(status.message())));
    if (words[0] == set)
      points.insert(points.end(), ofLine.begin(), ofLine.end());
  }
  return points;
}

absl::StatusOr<std::vector<FusionPoint>> readPoints(const std::string& folder,
                                                    const std::string& set) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".shapes")
      paths.push_back(entry.path());
  if (paths.empty())
    return absl::NotFoundError(folder + ": expects files *.shapes, but found none");
  std::ranges::sort(paths);
  std::vector<FusionPoint> points;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    absl::StatusOr<std::vector<FusionPoint>> ofFile = parsePoints(text.str(), set);
    if (!ofFile.ok())
      return absl::InvalidArgumentError(path.string() + ": " +
                                        std::string(ofFile.status().message()));
    points.insert(points.end(), ofFile->begin(), ofFile->end());
  }
  return points;
}

/// Every rule that the chain does not name.
static std::vector<std::string> otherRules(const FusionChain& chain) {
  std::vector<std::string> others;
  for (const passes::fusion::FusionRule* rule : passes::fusion::allRules())
    if (!llvm::is_contained(chain.rules, rule->name.str()))
      others.push_back(rule->name.str());
  return others;
}

absl::StatusOr<PlannedPoint> planPoint(mlir::MLIRContext& context, const FusionPoint& point,
                                       int copies, passes::Plan plan, TargetAttr target,
                                       Phase upTo) {
  PlannedPoint planned;
  TENON_ASSIGN_OR_RETURN(planned.module,
                         makeChainModule(context, *point.chain, point.shape, copies));
  passes::PipelineOptions options = {.upTo = upTo, .target = target};
  // As the fusion pass prices single operations: products of few rows by kernels of Tenon's own.
  constexpr int64_t mostFewRows = 16;
  options.fusion.libraries = point.shape.rows > mostFewRows;
  options.fusion.plan = plan;
  options.fusion.disabledRules = otherRules(*point.chain);
  TENON_RETURN_IF_ERROR(passes::runPipeline(*planned.module, options));
  int64_t kernels = 0;
  planned.module->walk([&](KernelOp) { ++kernels; });
  planned.kernels = kernels / copies;
  return planned;
}

passes::cost::LaunchMode launchModeOf(const std::string& name) {
  return name == "stream"  ? passes::cost::LaunchMode::Stream
         : name == "graph" ? passes::cost::LaunchMode::Graph
                           : passes::cost::LaunchMode::GraphPdl;
}

absl::StatusOr<double> predict(mlir::ModuleOp scheduled, TargetAttr target,
                               passes::cost::LaunchMode mode) {
  auto model = passes::cost::CostModel::create(scheduled.getLoc(), target, mode);
  if (failed(model))
    return absl::InvalidArgumentError("expects a target with what the cost model needs");
  double ns = 0;
  scheduled.walk([&](KernelOp kernel) { ns += model->estimate(kernel).ns; });
  return ns;
}

} // namespace tenon::bench
