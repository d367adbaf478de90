#include "passes/fusion/Fusion.h"

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "passes/fusion/FusionRule.h"
#include "llvm/ADT/StringSwitch.h"

namespace tenon::passes {

std::optional<Plan> parsePlan(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Plan>>(name)
      .Case("vanilla", Plan::Vanilla)
      .Case("unfused", Plan::Unfused)
      .Case("split", Plan::Split)
      .Case("fused", Plan::Fused)
      .Case("auto", Plan::Auto)
      .Default(std::nullopt);
}

kernels::LibraryUse libraryUse(const FusionOptions& options) {
  using kernels::LibraryGemms;
  if (!options.libraries)
    return {LibraryGemms::None, options.tf32};
  bool isApart = options.plan == Plan::Unfused || options.plan == Plan::Vanilla;
  return {isApart ? LibraryGemms::All : LibraryGemms::ManyRows, options.tf32};
}

absl::Status checkFusionOptions(const FusionOptions& options) {
  std::vector<std::string> names;
  for (const fusion::FusionRule* rule : fusion::allRules())
    names.push_back(rule->name.str());
  for (const std::string& disabled : options.disabledRules)
    if (!llvm::is_contained(names, disabled))
      return absl::InvalidArgumentError(absl::StrFormat("fusion rules: expects %s, but got '%s'",
                                                        absl::StrJoin(names, ", "), disabled));
  return absl::OkStatus();
}

} // namespace tenon::passes
