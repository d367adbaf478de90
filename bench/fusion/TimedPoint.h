#ifndef TENON_BENCH_FUSION_TIMEDPOINT_H
#define TENON_BENCH_FUSION_TIMEDPOINT_H

#include <memory>

#include "bench/fusion/FusionPoints.h"
#include "runtime/program/Program.h"
#include "tools/bench/Distribution.h"
#include "tools/driver/MakeExecutor.h"

namespace tenon::bench {

/// A point compiled for a GPU under a plan.
struct CompiledPlan {
  runtime::Program program;
  int64_t kernels = 0;    ///< of one copy
  double predictedNs = 0; ///< of one copy
};

struct CompiledPoint {
  int copies = 0;
  CompiledPlan fused, unfused;

  bool fuses() const { return fused.kernels < unfused.kernels; }
};

/// Compiles the point for the target of that name; weights become random values made on the device.
/// `launch` is `stream`, `graph` or `graph-pdl`.
absl::StatusOr<CompiledPoint> compilePoint(const FusionPoint& point, const std::string& target,
                                           const std::string& launch);

/// Of all copies together.
struct PointDistributions {
  tools::Distribution fused, unfused;
};

/// Times points on the first GPU. The plans of the last point stay loaded until those of the next
/// are: a device without any starts anew, which takes longer than most points.
class PointTimer {
public:
  /// `launch` as of `compilePoint`.
  explicit PointTimer(const std::string& launch);

  /// Loads both plans and times them in turn, `calls` calls each.
  absl::StatusOr<PointDistributions> time(CompiledPoint point, int64_t calls);

private:
  tools::ExecutorOptions how;
  std::unique_ptr<runtime::Executor> fused, unfused;
};

} // namespace tenon::bench

#endif // TENON_BENCH_FUSION_TIMEDPOINT_H
