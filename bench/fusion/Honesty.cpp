#include "bench/fusion/Honesty.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_format.h"

namespace tenon::bench {

/// Of nearest rank; `values` sorted and not empty.
static double percentile(const std::vector<double>& values, double percent) {
  auto rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
  return values[std::max<size_t>(rank, 1) - 1];
}

Honesty judge(const std::vector<PointTimes>& points) {
  Honesty honesty;
  honesty.points = points.size();
  std::vector<double> errors;
  double chosen = 0, best = 0;
  for (const PointTimes& point : points) {
    errors.push_back(std::abs(point.predictedFused / point.measuredFused - 1));
    errors.push_back(std::abs(point.predictedUnfused / point.measuredUnfused - 1));
    bool unfusedWins = point.measuredUnfused <= point.measuredFused;
    honesty.fasterUnfused += unfusedWins;
    honesty.refusals += !point.takesFusion();
    honesty.rightRefusals += !point.takesFusion() && unfusedWins;
    chosen += point.chosen(), best += point.best();
    honesty.meanRegret += point.regret() / static_cast<double>(points.size());
    honesty.worstRegret = std::max(honesty.worstRegret, point.regret());
  }
  std::ranges::sort(errors);
  honesty.medianError = percentile(errors, 50);
  honesty.p95Error = percentile(errors, 95);
  honesty.worstError = errors.back();
  honesty.totalRegret = chosen / best - 1;
  return honesty;
}

static std::string formatRow(const std::string& name, const Honesty& h) {
  return absl::StrFormat("| %s | %d | %d | %d of %d | %.1f | %.1f | %.2f | %.2f | %.1f |\n", name,
                         h.points, h.fasterUnfused, h.rightRefusals, h.refusals,
                         100 * h.medianError, 100 * h.p95Error, 100 * h.totalRegret,
                         100 * h.meanRegret, 100 * h.worstRegret);
}

std::string formatTable(const std::vector<PointTimes>& points) {
  std::map<std::string, std::vector<PointTimes>> chains;
  for (const PointTimes& point : points)
    chains[point.chain].push_back(point);
  std::string text = "| chain | points | faster unfused | refusals right | median error, % | 95th "
                     "percentile, % | regret, % | mean a point, % | worst choice, % |\n"
                     "|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [chain, ofChain] : chains)
    text += formatRow(chain, judge(ofChain));
  return text + formatRow("all", judge(points));
}

} // namespace tenon::bench
