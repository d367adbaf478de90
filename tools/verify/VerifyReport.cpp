#include "tools/verify/VerifyReport.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace tenon::tools {

namespace {

/// Some steps together.
struct CheckGroup {
  std::string name;
  int64_t steps = 0, fused = 0, differing = 0;
  ReferenceError error;
};

} // namespace

/// The groups in the order in which they first appear.
static std::vector<CheckGroup> groupChecks(const std::vector<StepCheck>& checks,
                                           std::string StepCheck::* name) {
  std::vector<CheckGroup> groups;
  for (const StepCheck& check : checks) {
    auto found = std::ranges::find(groups, check.*name, &CheckGroup::name);
    if (found == groups.end())
      found = groups.insert(groups.end(), CheckGroup{.name = check.*name, .error = {}});
    ++found->steps;
    found->fused += check.isFused;
    found->differing += check.differing;
    found->error.add(check.error);
  }
  return groups;
}

static std::string formatGroups(const char* title, const std::vector<CheckGroup>& groups) {
  size_t width = 12;
  for (const CheckGroup& group : groups)
    width = std::max(width, group.name.size());
  std::string text =
      absl::StrFormat("  %-*s %6s %6s %10s %9s %9s %9s %11s\n", static_cast<int>(width), title,
                      "steps", "fused", "differing", "max ULP", "mean ULP", "max/max", "elements");
  for (const CheckGroup& group : groups)
    text +=
        absl::StrFormat("  %-*s %6d %6d %10d %9.2f %9.4f %9.1e %11d%s\n", static_cast<int>(width),
                        group.name, group.steps, group.fused, group.differing, group.error.maxUlp,
                        group.error.meanUlp(), group.error.relative(), group.error.elements,
                        group.error.notFinite > 0 ? "  not finite on one side" : "");
  return text;
}

std::string formatVerification(const VerifiedCall& call) {
  int64_t fused = std::ranges::count_if(call.checks, &StepCheck::isFused);
  return absl::StrFormat("%s at position %d: %u kernels, %d of them fused; differing: elements "
                         "unlike the kernel's own split chain; errors against the reference on "
                         "the device's own inputs\n",
                         call.function, call.position, call.checks.size(), fused) +
         formatGroups("kind", groupChecks(call.checks, &StepCheck::kind)) + "\n" +
         formatGroups("layer", groupChecks(call.checks, &StepCheck::layer));
}

nlohmann::json describeVerification(const VerifiedCall& call) {
  nlohmann::json list = nlohmann::json::array();
  for (const StepCheck& check : call.checks) {
    nlohmann::json object = {{"function", call.function},
                             {"position", call.position},
                             {"step", list.size()},
                             {"name", check.name},
                             {"kernel", check.kernel},
                             {"kind", check.kind},
                             {"layer", check.layer},
                             {"fused", check.isFused},
                             {"elements", check.elements},
                             {"differing_elements", nullptr},
                             {"max_ulp", check.error.maxUlp},
                             {"mean_ulp", check.error.meanUlp()},
                             {"max_relative", check.error.relative()},
                             {"not_finite", check.error.notFinite},
                             {"far", check.isFar}};
    if (check.isFused)
      object["differing_elements"] = check.differing;
    list.push_back(std::move(object));
  }
  return list;
}

/// The lines of the checks for which `describe` has one: `what`, how many, and the first of them.
static std::string listWrong(const std::vector<VerifiedCall>& calls, const char* what,
                             llvm::function_ref<std::string(const StepCheck& check)> describe) {
  constexpr int64_t mostNamed = 8;
  int64_t wrong = 0;
  std::string names;
  for (const VerifiedCall& call : calls)
    for (const StepCheck& check : call.checks)
      if (std::string text = describe(check); !text.empty() && wrong++ < mostNamed)
        names += absl::StrFormat("\n  %s of %s, kernel %s: %s", check.name, call.function,
                                 check.kernel, text);
  if (wrong == 0)
    return "";
  if (wrong > mostNamed)
    names += absl::StrFormat("\n  and %d more", wrong - mostNamed);
  return absl::StrFormat("verify: expects %s, but %d differ:%s", what, wrong, names);
}

absl::Status verdictOf(const std::vector<VerifiedCall>& calls) {
  std::string bits = listWrong(
      calls, "the bits of its own split chain of every fused kernel", [](const StepCheck& check) {
        return check.differing == 0
                   ? std::string()
                   : absl::StrFormat("%d of %d elements differ", check.differing, check.elements);
      });
  std::string values =
      listWrong(calls, "results near the reference of every kernel", [](const StepCheck& check) {
        if (!check.isFar)
          return std::string();
        return absl::StrFormat("off by %.2g of the largest value, %d not finite on one side",
                               check.error.relative(), check.error.notFinite);
      });
  if (bits.empty() && values.empty())
    return absl::OkStatus();
  return absl::DataLossError(bits + (bits.empty() || values.empty() ? "" : "\n") + values);
}

} // namespace tenon::tools
