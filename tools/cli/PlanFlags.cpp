#include "tools/cli/PlanFlags.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "passes/fusion/FusionRule.h"
#include "passes/simplify/raise/Raise.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/PointsFlag.h"

namespace tenon::tools {

static std::vector<std::string> raiseNames() {
  std::vector<std::string> names;
  for (const passes::Raise& raise : passes::allRaises())
    names.push_back(raise.name.str());
  return names;
}

/// Sorts what `--disable` names into rules and raises.
static absl::Status readDisabled(const std::vector<std::string>& disabled,
                                 passes::FusionOptions& options) {
  const std::vector<std::string> raises = raiseNames();
  std::vector<std::string> names;
  for (const passes::fusion::FusionRule* rule : passes::fusion::allRules())
    names.push_back(rule->name.str());
  for (const std::string& name : disabled) {
    if (std::ranges::count(raises, name) != 0)
      options.disabledRaises.push_back(name);
    else if (std::ranges::count(names, name) != 0)
      options.disabledRules.push_back(name);
    else
      return absl::InvalidArgumentError(absl::StrFormat(
          "--disable: expects a fusion rule (%s) or an operation (%s), but got '%s'",
          absl::StrJoin(names, ", "), absl::StrJoin(raises, ", "), name));
  }
  return absl::OkStatus();
}

void addPlansOption(CLI::App& command, std::vector<std::string>& plans, FlagRules& rules,
                    bool withVanilla) {
  std::vector<std::string> names = {"unfused", "split", "fused", "auto"};
  if (withVanilla)
    names.insert(names.begin(), "vanilla");
  rules.require(command
                    .add_option("--plan,--plans", plans,
                                "The plans to compare: " + absl::StrJoin(names, ", "))
                    ->delimiter(',')
                    ->allow_extra_args(false)
                    ->check(oneOf(names))
                    ->capture_default_str(),
                {Need::Fusion});
}

void addFusionFlags(CLI::App& command, PlanFlags& flags, FlagRules& rules) {
  rules.require(
      command
          .add_option("--numerics", flags.numerics,
                      "exact: every rounding is the model's; relaxed: 1/rms of an RMS norm may "
                      "follow the products of its rows instead of leading them: under auto where "
                      "it is predicted to be faster, under fused and split wherever nothing else "
                      "reads the norm (see `explain`)")
          ->check(oneOf({"exact", "relaxed"}))
          ->capture_default_str(),
      {Need::Fusion});
  rules.require(
      command
          .add_option("--launch", flags.launch,
                      "How a GPU's kernels are launched: stream, one by one; graph, as nodes of a "
                      "CUDA graph; graph-pdl, the same, each started before the last has ended")
          ->check(oneOf({"stream", "graph", "graph-pdl"}))
          ->capture_default_str(),
      {Need::Gpu});
  rules.require(
      command
          .add_option("--disable", flags.disabled,
                      "What to leave out: fusion rules (see `explain`), or operations to leave in "
                      "the primitives that a graph has them in: " +
                          absl::StrJoin(raiseNames(), ", "))
          ->delimiter(',')
          ->allow_extra_args(false),
      {Need::Fusion});
  addPointsFlag(command, flags.points, rules);
}

void addPlanFlags(CLI::App& command, PlanFlags& flags, FlagRules& rules) {
  rules.require(
      command
          .add_option(
              "--plan,--plans", flags.plan,
              "Which operations share kernels: auto, what the cost model says is fastest; fused, "
              "fewest kernels; split, the same cut into one kernel an operation, equal bit for "
              "bit; unfused, each in its own best kernel. One plan: bench, perplexity and verify "
              "compare several")
          ->check(oneOf({"auto", "fused", "split", "unfused"}))
          ->capture_default_str(),
      {Need::Fusion});
  addFusionFlags(command, flags, rules);
}

absl::StatusOr<PlanSettings> readPlanFlags(const PlanFlags& flags, const LoadedModel& input) {
  PlanSettings settings;
  passes::FusionOptions& options = settings.fusion;
  options.plan = *passes::parsePlan(flags.plan); // the option takes no other words
  options.numerics =
      flags.numerics == "relaxed" ? passes::Numerics::Relaxed : passes::Numerics::Exact;
  options.tf32 = input.tf32;
  TENON_RETURN_IF_ERROR(readDisabled(flags.disabled, options));
  options.launchMode = flags.launch == "stream"  ? passes::cost::LaunchMode::Stream
                       : flags.launch == "graph" ? passes::cost::LaunchMode::Graph
                                                 : passes::cost::LaunchMode::GraphPdl;
  TENON_ASSIGN_OR_RETURN(settings.points, findPoints(flags.points, input.target, flags.launch));
  options.times = settings.points.get();
  return settings;
}

} // namespace tenon::tools
