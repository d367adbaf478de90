#ifndef TENON_TOOLS_COMMON_PLANFLAGS_H
#define TENON_TOOLS_COMMON_PLANFLAGS_H

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "passes/fusion/Fusion.h"

namespace tenon::tools {

/// What the flags say about fusion.
struct PlanFlags {
  std::string plan = "auto";
  std::string launch = "graph-pdl";
  int64_t maxFusions = -1;
  std::vector<std::string> disabledRules;
};

/// Adds `--plans`, several plans to compare.
void addPlansOption(CLI::App& command, std::vector<std::string>& plans);
/// Adds the flags that fill `flags`, but for the plan, to `command`.
void addFusionFlags(CLI::App& command, PlanFlags& flags);
/// The same and the plan.
void addPlanFlags(CLI::App& command, PlanFlags& flags);

/// The options that the flags stand for. InvalidArgument names a flag and what it may be.
absl::StatusOr<passes::FusionOptions> readPlanFlags(const PlanFlags& flags);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_PLANFLAGS_H
