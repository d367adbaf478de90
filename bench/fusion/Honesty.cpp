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

static double predictedSaving(const PointTimes& point) {
  return point.predictedUnfused - point.predictedFused;
}

static double measuredSaving(const PointTimes& point) {
  return point.measuredUnfused - point.measuredFused;
}

static double transferRatio(const std::vector<PointTimes>& points) {
  double predicted = 0, measured = 0;
  for (const PointTimes& point : points)
    if (point.takesFusion())
      predicted += predictedSaving(point), measured += measuredSaving(point);
  return predicted / measured;
}

/// Pairs that both order alike, less those that they order differently, over the geometric mean of the
/// pairs that each orders.
static double kendallTau(const std::vector<PointTimes>& points) {
  auto sign = [](double x) { return (x > 0) - (x < 0); };
  double agreement = 0, predictedPairs = 0, measuredPairs = 0;
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      int predicted = sign(predictedSaving(points[i]) - predictedSaving(points[j]));
      int measured = sign(measuredSaving(points[i]) - measuredSaving(points[j]));
      agreement += predicted * measured;
      predictedPairs += predicted != 0;
      measuredPairs += measured != 0;
    }
  return agreement / std::sqrt(predictedPairs * measuredPairs);
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
  honesty.transferRatio = transferRatio(points);
  honesty.tau = kendallTau(points);
  return honesty;
}

/// Nothing where there is none.
static std::string formatRatio(double ratio) {
  return std::isfinite(ratio) ? absl::StrFormat("%.2f", ratio) : "";
}

static std::string formatRow(const std::string& name, const Honesty& h) {
  return absl::StrFormat(
      "| %s | %d | %d | %d of %d | %.1f | %.1f | %.2f | %.2f | %.1f | %s | %s |\n", name, h.points,
      h.fasterUnfused, h.rightRefusals, h.refusals, 100 * h.medianError, 100 * h.p95Error,
      100 * h.totalRegret, 100 * h.meanRegret, 100 * h.worstRegret, formatRatio(h.transferRatio),
      formatRatio(h.tau));
}

std::string formatTable(const std::vector<PointTimes>& points) {
  std::map<std::string, std::vector<PointTimes>> chains;
  for (const PointTimes& point : points)
    chains[point.chain].push_back(point);
  std::string text =
      "| chain | points | faster unfused | refusals right | median error, % | 95th "
      "percentile, % | regret, % | mean a point, % | worst choice, % | transfer ratio | "
      "tau |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [chain, ofChain] : chains)
    text += formatRow(chain, judge(ofChain));
  return text + formatRow("all", judge(points));
}

} // namespace tenon::bench
