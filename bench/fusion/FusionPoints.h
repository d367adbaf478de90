#ifndef TENON_BENCH_FUSION_FUSIONPOINTS_H
#define TENON_BENCH_FUSION_FUSIONPOINTS_H

#include "bench/fusion/FusionChains.h"
#include "passes/Pipeline.h"

namespace tenon::bench {

/// A chain at a shape.
struct FusionPoint {
  const FusionChain* chain = nullptr;
  ChainShape shape;

  /// `rms_qkv f16 1x4096x6144`.
  std::string name() const;
};

/// The sets of points: what the cost model is fitted to and checked with, the same from 17 rows on,
/// and what is measured beside PyTorch.
inline constexpr const char* pointSets[] = {"calibrate", "check", "many-calibrate", "many-check",
                                            "peers"};

/// Reads the points of `set`, one of `pointSets`, from the text of a file of shapes:
///
///     # comment
///     SET CHAIN TYPES ROWS HIDDEN [COLUMNS]
///
/// each of the last four a list between commas; the points are all combinations. Errors name the
/// line.
absl::StatusOr<std::vector<FusionPoint>> parsePoints(const std::string& text,
                                                     const std::string& set);
/// The points of `set` in all files `*.shapes` of the folder, in the order of their names.
absl::StatusOr<std::vector<FusionPoint>> readPoints(const std::string& folder,
                                                    const std::string& set);

/// The point as a module under a plan with the rules of its chain alone.
struct PlannedPoint {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< up to the phase that was asked for
  int64_t kernels = 0;                      ///< of one copy
};
absl::StatusOr<PlannedPoint> planPoint(mlir::MLIRContext& context, const FusionPoint& point,
                                       int copies, passes::Plan plan, TargetAttr target,
                                       Phase upTo = Phase::Planned);

/// The mode of that name: `stream`, `graph` or `graph-pdl`.
passes::cost::LaunchMode launchModeOf(const std::string& name);

/// What the cost model says that one copy takes in a scheduled module of one: the sum over kernels,
/// in ns.
absl::StatusOr<double> predict(mlir::ModuleOp scheduled, TargetAttr target,
                               passes::cost::LaunchMode mode);

} // namespace tenon::bench

#endif // TENON_BENCH_FUSION_FUSIONPOINTS_H
