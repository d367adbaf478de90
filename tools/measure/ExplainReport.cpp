#include "tools/measure/ExplainReport.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

namespace tenon::tools {

using passes::FusionDecision;
using passes::cost::nameOf;

bool ExplainedFusion::measurementDecidesOtherwise() const {
  return (times->fusedNs < times->unfusedNs) != (decision->fused.ns < decision->unfused.ns);
}

static double errorPercent(int64_t predictedNs, int64_t measuredNs) {
  return 100.0 * static_cast<double>(predictedNs - measuredNs) / static_cast<double>(measuredNs);
}

double ExplainedFusion::fusedErrorPercent() const {
  return errorPercent(decision->fused.ns, times->fusedNs);
}
double ExplainedFusion::unfusedErrorPercent() const {
  return errorPercent(decision->unfused.ns, times->unfusedNs);
}

nlohmann::json describeFusion(const ExplainedFusion& fusion) {
  const FusionDecision& decision = *fusion.decision;
  nlohmann::json object = {{"function", decision.function},
                           {"rule", decision.rule},
                           {"ops", decision.ops},
                           {"shape", decision.shape},
                           {"taken", decision.taken},
                           {"reason", decision.reason},
                           {"predicted_fused_ns", nullptr},
                           {"predicted_unfused_ns", decision.unfused.ns},
                           {"limiter", nullptr},
                           {"unfused_limiter", nameOf(decision.unfused.limiter).str()}};
  if (decision.legal) {
    object["predicted_fused_ns"] = decision.fused.ns;
    object["limiter"] = nameOf(decision.fused.limiter).str();
    object["bytes_saved"] = decision.bytesSaved;
    object["flops_saved"] = decision.flopsSaved;
  }
  if (!decision.noLibrary.empty())
    object["no_library"] = decision.noLibrary;
  if (fusion.times) {
    object["measured_fused_ns"] = fusion.times->fusedNs;
    object["measured_unfused_ns"] = fusion.times->unfusedNs;
    object["fused_spread_ns"] = fusion.times->fusedSpreadNs;
    object["unfused_spread_ns"] = fusion.times->unfusedSpreadNs;
    object["fused_error_percent"] = fusion.fusedErrorPercent();
    object["unfused_error_percent"] = fusion.unfusedErrorPercent();
    object["measurement_decides_otherwise"] = fusion.measurementDecidesOtherwise();
  }
  return object;
}

namespace {

/// Equal decisions in one row.
struct Row {
  const ExplainedFusion* fusion;
  int64_t times = 1;
};

} // namespace

static std::string operationsOf(const FusionDecision& decision) {
  std::vector<std::string> names;
  for (const std::string& op : decision.ops)
    names.push_back(op.substr(0, op.find(' ')));
  return absl::StrJoin(names, " ");
}

/// Everything of a decision that the table shows, but the layer.
static std::string contentOf(const FusionDecision& decision) {
  return absl::StrJoin({decision.function, decision.rule, operationsOf(decision), decision.shape,
                        decision.legal ? std::string() : decision.reason,
                        std::to_string(decision.taken), std::to_string(decision.fused.ns),
                        std::to_string(decision.unfused.ns)},
                       "|");
}

static std::vector<Row> joinEqual(const std::vector<ExplainedFusion>& fusions) {
  std::vector<Row> rows;
  std::map<std::string, size_t> indices;
  for (const ExplainedFusion& fusion : fusions) {
    auto [found, isNew] = indices.try_emplace(contentOf(*fusion.decision), rows.size());
    if (isNew)
      rows.push_back({&fusion});
    else
      ++rows[found->second].times;
  }
  return rows;
}

nlohmann::ordered_json describeFusionGroups(const std::vector<ExplainedFusion>& fusions) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const Row& row : joinEqual(fusions)) {
    groups.push_back(nlohmann::ordered_json(describeFusion(*row.fusion)));
    std::vector<std::string> kinds = absl::StrSplit(operationsOf(*row.fusion->decision), ' ');
    groups.back()["ops"] = std::move(kinds);
    groups.back()["times"] = row.times;
  }
  return groups;
}

static std::string formatHeader(const std::string& function, bool measured) {
  std::string text =
      absl::StrFormat("@%s\n%-5s %5s %9s %9s ", function, "taken", "times", "fused ns", "apart ns");
  if (measured)
    text += absl::StrFormat("%9s %9s %7s %7s %-5s ", "measured", "apart", "error %", "apart %",
                            "other");
  return text + absl::StrFormat("%-8s %11s %12s  %s\n", "limiter", "bytes saved", "flops saved",
                                "rule: operations → result; reason");
}

static std::string formatRow(const Row& row, bool measured) {
  const FusionDecision& decision = *row.fusion->decision;
  std::string fused = "-", limiter = "-", bytes = "-", flops = "-";
  if (decision.legal) {
    fused = std::to_string(decision.fused.ns);
    limiter = nameOf(decision.fused.limiter).str();
    bytes = std::to_string(decision.bytesSaved), flops = std::to_string(decision.flopsSaved);
  }
  std::string text = absl::StrFormat("%-5s %5d %9s %9d ", decision.taken ? "yes" : "no", row.times,
                                     fused, decision.unfused.ns);
  if (measured && row.fusion->times)
    text += absl::StrFormat("%9d %9d %7.1f %7.1f %-5s ", row.fusion->times->fusedNs,
                            row.fusion->times->unfusedNs, row.fusion->fusedErrorPercent(),
                            row.fusion->unfusedErrorPercent(),
                            row.fusion->measurementDecidesOtherwise() ? "yes" : "no");
  else if (measured)
    text += absl::StrFormat("%9s %9s %7s %7s %-5s ", "-", "-", "-", "-", "-");
  text += absl::StrFormat("%-8s %11s %12s  %s: %s → %s; %s", limiter, bytes, flops, decision.rule,
                          operationsOf(decision), decision.shape, decision.reason);
  return text + (decision.noLibrary.empty() ? "\n" : "; no library: " + decision.noLibrary + "\n");
}

namespace {

/// Equal decisions of different layers together.
struct DecisionGroup {
  const FusionDecision* first;
  int64_t times = 0, fusedNs = 0, apartNs = 0, mostSavedNs = 0;
};

} // namespace

/// `matmul blk.*.attn_q is part of …`: the same of every layer.
static std::string withoutLayers(const std::string& reason) {
  std::string text;
  for (size_t i = 0; i < reason.size(); ++i) {
    size_t end = reason.find_first_not_of("0123456789", i);
    bool isLayer =
        end != i && end != std::string::npos && reason[end] == '.' && i > 0 && reason[i - 1] == '.';
    text += isLayer ? "*" : reason.substr(i, 1);
    i = isLayer ? end - 1 : i;
  }
  return text;
}

template <typename Decisions>
static std::vector<DecisionGroup> groupDecisions(Decisions decisions) {
  std::vector<DecisionGroup> groups;
  std::map<std::string, size_t> indices;
  for (const FusionDecision* decision : decisions) {
    std::string key = absl::StrJoin(
        {operationsOf(*decision), decision->shape, withoutLayers(decision->reason)}, "|");
    auto [found, isNew] = indices.try_emplace(key, groups.size());
    if (isNew)
      groups.push_back({decision});
    DecisionGroup& group = groups[found->second];
    ++group.times;
    group.fusedNs += decision->fused.ns;
    group.apartNs += decision->unfused.ns;
    group.mostSavedNs += decision->mostSavedNs;
  }
  return groups;
}

static std::vector<const FusionDecision*>
pointersTo(const std::vector<FusionDecision>& decisions,
           const std::function<bool(const FusionDecision&)>& keep) {
  std::vector<const FusionDecision*> kept;
  for (const FusionDecision& decision : decisions)
    if (keep(decision))
      kept.push_back(&decision);
  return kept;
}

/// The largest first; equal ones by their operations.
static void sortBy(std::vector<DecisionGroup>& groups,
                   int64_t (*size)(const DecisionGroup& group)) {
  std::ranges::sort(groups, [&](const DecisionGroup& a, const DecisionGroup& b) {
    return size(a) != size(b) ? size(a) > size(b) : operationsOf(*a.first) < operationsOf(*b.first);
  });
}

/// The chains of a function that are one kernel, the greatest gain first.
static std::string formatChains(const passes::FunctionFusion& function,
                                const std::vector<FusionDecision>& decisions) {
  std::vector<DecisionGroup> chains =
      groupDecisions(pointersTo(decisions, [&](const FusionDecision& decision) {
        return decision.taken && decision.function == function.function;
      }));
  if (chains.empty())
    return "  no chain is one kernel\n";
  sortBy(chains, [](const DecisionGroup& group) { return group.apartNs - group.fusedNs; });
  std::string text = absl::StrFormat("  %5s %7s %7s %10s %8s  %s\n", "times", "share", "bound",
                                     "gained us", "gained", "chains that are one kernel");
  auto all = static_cast<double>(std::max<int64_t>(function.apartNs, 1));
  for (const DecisionGroup& chain : chains) {
    double share = static_cast<double>(chain.apartNs) / all;
    auto gained = static_cast<double>(chain.apartNs - chain.fusedNs);
    text += absl::StrFormat("  %5d %5.1f %% %7s %10.1f %6.1f %%  %s\n", chain.times, 100 * share,
                            share < 1 ? absl::StrFormat("%.2f", 1 / (1 - share)) : "any",
                            gained / 1e3, 100 * gained / all, operationsOf(*chain.first));
  }
  return text;
}

/// The refusals of neighbours that could save most.
static std::string formatRefusals(const passes::FunctionFusion& function) {
  std::vector<DecisionGroup> refusals =
      groupDecisions(pointersTo(function.neighbours, [](const FusionDecision& decision) {
        return !decision.legal && decision.mostSavedNs > 0;
      }));
  if (refusals.empty())
    return "";
  sortBy(refusals, [](const DecisionGroup& group) { return group.mostSavedNs; });
  constexpr size_t most = 10;
  refusals.resize(std::min(refusals.size(), most));
  std::string text = absl::StrFormat("  %5s %10s %8s  %s\n", "times", "at most us", "of step",
                                     "refused neighbours that could save most");
  for (const DecisionGroup& refusal : refusals) {
    auto saved = static_cast<double>(refusal.mostSavedNs);
    text +=
        absl::StrFormat("  %5d %10.1f %6.1f %%  %s: %s\n", refusal.times, saved / 1e3,
                        100 * saved / static_cast<double>(std::max<int64_t>(function.plannedNs, 1)),
                        operationsOf(*refusal.first), withoutLayers(refusal.first->reason));
  }
  return text;
}

std::string formatOverview(const std::vector<passes::FunctionFusion>& functions,
                           const std::vector<FusionDecision>& decisions) {
  std::string text;
  for (const passes::FunctionFusion& function : functions)
    text += absl::StrFormat(
                "%s as predicted: %.1f us one operation at a time, %.1f us as planned, %.2f times "
                "as fast\n",
                function.function, function.apartNs / 1e3, function.plannedNs / 1e3,
                static_cast<double>(function.apartNs) /
                    static_cast<double>(std::max<int64_t>(function.plannedNs, 1))) +
            formatChains(function, decisions) + formatRefusals(function) + "\n";
  return text;
}

std::string formatRaised(const std::vector<passes::RaisedOperation>& raised) {
  std::map<std::pair<std::string, std::string>, int> times;
  for (const passes::RaisedOperation& operation : raised)
    ++times[{operation.function, operation.operation}];
  std::string text;
  for (const auto& [key, count] : times)
    text +=
        absl::StrFormat("%s: raised from primitives: %d times %s\n", key.first, count, key.second);
  return text.empty() ? text : text + "\n";
}

std::string formatDeferrals(const std::vector<passes::NormDeferral>& deferrals) {
  std::map<std::pair<std::string, std::string>, int> times;
  for (const passes::NormDeferral& norm : deferrals)
    ++times[{norm.function, norm.refusal.empty()
                                ? absl::StrFormat("deferred past %d GEMM%s", norm.gemms,
                                                  norm.gemms == 1 ? "" : "s")
                                : "not deferred: " + norm.refusal}];
  std::string text;
  for (const auto& [key, count] : times)
    text += absl::StrFormat("%s: 1/rms of a norm %s (%d times)\n", key.first, key.second, count);
  return text.empty() ? text : text + "\n";
}

std::string formatNeighbours(const std::vector<passes::FunctionFusion>& functions) {
  std::string text;
  auto all = [](const FusionDecision&) { return true; };
  for (const passes::FunctionFusion& function : functions) {
    if (function.neighbours.empty())
      continue;
    text += absl::StrFormat("\n%s: neighbours that do not share a kernel\n", function.function);
    for (const DecisionGroup& group : groupDecisions(pointersTo(function.neighbours, all)))
      text += absl::StrFormat("  %d times: %s → %s: %s\n", group.times, operationsOf(*group.first),
                              group.first->shape, withoutLayers(group.first->reason));
  }
  return text;
}

/// Errors of all rows that were measured, kernels and chains, and how many decide otherwise.
static std::string formatSummary(const std::vector<Row>& rows) {
  std::vector<double> errors;
  int64_t otherwise = 0, measured = 0;
  for (const Row& row : rows) {
    if (!row.fusion->times)
      continue;
    errors.push_back(std::abs(row.fusion->fusedErrorPercent()));
    errors.push_back(std::abs(row.fusion->unfusedErrorPercent()));
    otherwise += row.fusion->measurementDecidesOtherwise();
    ++measured;
  }
  if (errors.empty())
    return "";
  std::ranges::sort(errors);
  return absl::StrFormat("\n%d candidates measured: error of prediction, median %.1f %%, 95th "
                         "percentile %.1f %%; measurement decides %d otherwise\n",
                         measured, errors[(errors.size() - 1) / 2],
                         errors[(errors.size() * 95 + 99) / 100 - 1], otherwise);
}

std::string formatFusions(const std::vector<ExplainedFusion>& fusions) {
  std::vector<Row> rows = joinEqual(fusions);
  bool measured = std::ranges::any_of(
      fusions, [](const ExplainedFusion& fusion) { return fusion.times.has_value(); });
  std::string text, function;
  for (const Row& row : rows) {
    if (row.fusion->decision->function != function) {
      text += function.empty() ? "" : "\n";
      function = row.fusion->decision->function;
      text += formatHeader(function, measured);
    }
    text += formatRow(row, measured);
  }
  return text + formatSummary(rows);
}

} // namespace tenon::tools
