#ifndef TENON_TOOLS_CLI_PLANFLAGS_H
#define TENON_TOOLS_CLI_PLANFLAGS_H

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "passes/cost/MeasuredPoints.h"
#include "passes/fusion/Fusion.h"
#include "tools/cli/FlagRules.h"
#include "tools/driver/LoadedModel.h"

namespace tenon::tools {

/// What the flags say about fusion.
struct PlanFlags {
  std::string plan = "auto";
  std::string numerics = "exact";
  std::string launch = "graph-pdl";
  std::vector<std::string> disabled; ///< names of fusion rules and raises
  std::string points;                ///< as `PointsFlag.h` reads it
};

/// The options that flags stand for, and what they refer to.
struct PlanSettings {
  passes::FusionOptions fusion;
  std::unique_ptr<passes::cost::MeasuredPoints> points; ///< may be null
};

/// Adds `--plans` (or `--plan`), several plans to compare. `vanilla` is one where the command only
/// calls prompts at position 0.
void addPlansOption(CLI::App& command, std::vector<std::string>& plans, FlagRules& rules,
                    bool withVanilla = false);
/// Adds the flags that fill `flags`, but for the plan, to `command`.
void addFusionFlags(CLI::App& command, PlanFlags& flags, FlagRules& rules);
/// The same and the plan, `--plan` (or `--plans`).
void addPlanFlags(CLI::App& command, PlanFlags& flags, FlagRules& rules);

/// The options that the flags stand for where `input` is compiled. InvalidArgument names a flag and
/// what it may be.
absl::StatusOr<PlanSettings> readPlanFlags(const PlanFlags& flags, const LoadedModel& input);

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_PLANFLAGS_H
