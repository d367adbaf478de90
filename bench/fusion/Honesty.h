#ifndef TENON_BENCH_FUSION_HONESTY_H
#define TENON_BENCH_FUSION_HONESTY_H

#include <string>
#include <vector>

namespace tenon::bench {

/// What the cost model said of a point, and what a device took. All in ns.
struct PointTimes {
  std::string point, chain;
  double predictedFused = 0, predictedUnfused = 0;
  double measuredFused = 0, measuredUnfused = 0;

  /// What plan `auto` does.
  bool takesFusion() const { return predictedFused < predictedUnfused; }
  double chosen() const { return takesFusion() ? measuredFused : measuredUnfused; }
  double best() const { return measuredFused < measuredUnfused ? measuredFused : measuredUnfused; }
  /// How much longer the choice takes than the best, relative to the best.
  double regret() const { return chosen() / best() - 1; }
};

/// How far predictions can be trusted. Errors are |predicted − measured| / measured, of the fused
/// and of the unfused time of each point.
struct Honesty {
  size_t points = 0;
  size_t fasterUnfused = 0; ///< points of which the unfused plan is measured to be faster
  size_t refusals = 0;      ///< fusions that `auto` does not make
  size_t rightRefusals = 0; ///< of these, as fast or faster unfused
  double medianError = 0;
  double p95Error = 0; ///< of nearest rank
  double worstError = 0;
  double totalRegret = 0; ///< Σ (chosen − best) / Σ best
  double meanRegret = 0;  ///< mean of (chosen − best) / best
  double worstRegret = 0;
  /// Σ predicted / Σ measured savings of the fusions that `auto` makes; NaN where it makes none.
  double transferRatio = 0;
  /// Rank correlation of predicted and measured savings (Kendall 1945, τ-b); NaN where all points have
  /// the same saving.
  double tau = 0;
};

/// Of at least one point.
Honesty judge(const std::vector<PointTimes>& points);

/// Markdown: a row a chain and one for all.
std::string formatTable(const std::vector<PointTimes>& points);

} // namespace tenon::bench

#endif // TENON_BENCH_FUSION_HONESTY_H
