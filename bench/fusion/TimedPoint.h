#ifndef TENON_BENCH_FUSION_TIMEDPOINT_H
#define TENON_BENCH_FUSION_TIMEDPOINT_H

#include "bench/fusion/FusionPoints.h"
#include "runtime/Executor.h"
#include "runtime/program/Program.h"
#include "tools/common/Distribution.h"

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

/// Loads both plans and times them in turn, `calls` calls each. Of all copies together.
struct PointDistributions {
  tools::Distribution fused, unfused;
};
absl::StatusOr<PointDistributions> timePoint(CompiledPoint point, const std::string& launch,
                                             int64_t calls);

} // namespace tenon::bench

#endif // TENON_BENCH_FUSION_TIMEDPOINT_H
