#include "tools/cli/PlanFlags.h"

#include "passes/simplify/raise/Raise.h"

#include "absl/strings/str_join.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/PointsFlag.h"

namespace tenon::tools {

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
          .add_option("--launch", flags.launch,
                      "How a GPU's kernels are launched: stream, one by one; graph, as nodes of a "
                      "CUDA graph; graph-pdl, the same, each started before the last has ended")
          ->check(oneOf({"stream", "graph", "graph-pdl"}))
          ->capture_default_str(),
      {Need::Gpu});
  rules.require(
      command.add_option("--disable-rule", flags.disabledRules, "Fusion rules to leave out")
          ->delimiter(',')
          ->allow_extra_args(false),
      {Need::Fusion});
  rules.require(
      command
          .add_option("--disable-raise", flags.disabledRaises,
                      "Operations to leave in the primitives that a graph has them in: activation, "
                      "attention, gelu, glu, layer_norm, rms_norm, rope")
          ->delimiter(',')
          ->allow_extra_args(false),
      {Need::Fusion});
  rules.require(
      command.add_flag("--tf32", flags.tf32,
                       "Let a GPU's library round the factors of f32 products to TF32, 10 bits"),
      {Need::Fusion, Need::Gpu});
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

absl::StatusOr<PlanSettings> readPlanFlags(const PlanFlags& flags, TargetAttr target) {
  PlanSettings settings;
  passes::FusionOptions& options = settings.fusion;
  options.plan = *passes::parsePlan(flags.plan); // the option takes no other words
  options.tf32 = flags.tf32;
  options.disabledRules = flags.disabledRules;
  options.disabledRaises = flags.disabledRaises;
  options.launchMode = flags.launch == "stream"  ? passes::cost::LaunchMode::Stream
                       : flags.launch == "graph" ? passes::cost::LaunchMode::Graph
                                                 : passes::cost::LaunchMode::GraphPdl;
  TENON_RETURN_IF_ERROR(passes::checkFusionOptions(options));
  TENON_RETURN_IF_ERROR(passes::checkRaises(options.disabledRaises));
  TENON_ASSIGN_OR_RETURN(settings.points, findPoints(flags.points, target, flags.launch));
  options.times = settings.points.get();
  return settings;
}

} // namespace tenon::tools
