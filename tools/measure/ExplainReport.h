#ifndef TENON_TOOLS_MEASURE_EXPLAINREPORT_H
#define TENON_TOOLS_MEASURE_EXPLAINREPORT_H

#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "passes/fusion/Fusion.h"
#include "passes/relax/DeferNorms.h"
#include "passes/simplify/Simplify.h"
#include "tools/measure/MeasureFusions.h"

namespace tenon::tools {

/// A decision of the fusion pass, and what was measured of its candidate, if anything was.
struct ExplainedFusion {
  const passes::FusionDecision* decision;
  std::optional<FusionTimes> times = {};

  /// Whether the faster of kernel and chain is another one by measurement than by prediction.
  bool measurementDecidesOtherwise() const;
  /// What prediction is off by, in percent of what was measured: of the kernel, of the chain.
  double fusedErrorPercent() const;
  double unfusedErrorPercent() const;
};

/// One object for a candidate: function, rule, ops, shape, taken, reason, predicted_fused_ns,
/// predicted_unfused_ns, limiter, unfused_limiter and, where there is such a kernel, bytes_saved and
/// flops_saved; where it was measured, measured_fused_ns, measured_unfused_ns, the spread of both
/// (fused_spread_ns, unfused_spread_ns), fused_error_percent, unfused_error_percent and
/// measurement_decides_otherwise. Times of a kernel that there is not are null.
nlohmann::json describeFusion(const ExplainedFusion& fusion);

/// The decisions as `describeFusion` has them, equal ones (those of the layers) in one object, which
/// says how many they are: times. No object names an operation's layer: ops are kinds.
nlohmann::ordered_json describeFusionGroups(const std::vector<ExplainedFusion>& fusions);

/// For each function what its kernels take and would take apart, then a line for each chain that is one
/// kernel, with its share of the operations' time apart and what the function could gain at most if
/// the chain took no time (Amdahl's law), and the ten refusals of neighbours that could save most.
std::string formatOverview(const std::vector<passes::FunctionFusion>& functions,
                           const std::vector<passes::FusionDecision>& decisions);

/// A line for every function and operation that was raised in it from its primitives, with how often;
/// empty where none was.
std::string formatRaised(const std::vector<passes::RaisedOperation>& raised);

/// A line for every function and number of GEMMs that norms were deferred past, and for every reason
/// why norms before GEMMs were not, with how often; empty where there is no such norm.
std::string formatDeferrals(const std::vector<passes::NormDeferral>& deferrals);

/// A line for every two neighbours that do not share a kernel, equal ones together.
std::string formatNeighbours(const std::vector<passes::FunctionFusion>& functions);

/// A table for each function, equal decisions (those of the layers) in one row, and, where anything
/// was measured, a summary of the errors.
std::string formatFusions(const std::vector<ExplainedFusion>& fusions);

} // namespace tenon::tools

#endif // TENON_TOOLS_MEASURE_EXPLAINREPORT_H
