#ifndef TENON_TOOLS_MEASURE_MEASUREFUSIONS_H
#define TENON_TOOLS_MEASURE_MEASUREFUSIONS_H

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "passes/cost/MeasuredPoints.h"
#include "passes/fusion/Fusion.h"
#include "tools/measure/KernelTimer.h"

namespace tenon::tools {

/// Measured times of one candidate of fusion, in ns, each with half of its quartiles' distance.
struct FusionTimes {
  int64_t fusedNs = 0, fusedSpreadNs = 0;     ///< of its kernel
  int64_t unfusedNs = 0, unfusedSpreadNs = 0; ///< of its operations, one kernel each, in a chain
};

/// Measures the candidates that the fusion pass considered: equal ones, the layers of a model, once.
/// A candidate's kernel and the chain of its operations take their samples in turns.
class FusionMeasurer {
public:
  FusionMeasurer(TargetAttr target, const TimerOptions& options, int64_t rounds)
      : target(target), options(options), rounds(rounds) {}

  /// Notes a candidate of several operations: for `FusionOptions::inspect`.
  void note(const passes::FusionDecision& decision, llvm::ArrayRef<mlir::Operation*> ops);
  /// Distinct candidates and single operations that were noted.
  size_t size() const { return candidates.size() + singles.size(); }

  /// Measures what was noted, and each single operation of it alone, and adds to `points` the times
  /// of fused kernels and of single ones; what is lost in noise is left out. `onDone` is called after
  /// each with how many are done. Errors name the operations.
  absl::Status measureAll(passes::cost::MeasuredPoints& points,
                          const std::function<void(size_t)>& onDone);

  /// The times of the decision's candidate; null where it was not noted, or not measured.
  const FusionTimes* find(const passes::FusionDecision& decision) const;
  /// What noise has hidden: the operations of each.
  llvm::ArrayRef<std::string> leftOut() const { return lost; }

private:
  struct Noted {
    mlir::OwningOpRef<mlir::ModuleOp> module; ///< the operations alone
    std::optional<FusionTimes> times = {};
  };

  absl::Status keepGoing(const absl::Status& status, mlir::ModuleOp isolated);
  absl::Status measureCandidate(Noted& noted, passes::cost::MeasuredPoints& points) const;
  absl::Status measureSingle(mlir::ModuleOp module, passes::cost::MeasuredPoints& points) const;

  TargetAttr target;
  TimerOptions options;
  int64_t rounds;
  std::vector<std::string> lost;
  std::map<std::string, Noted> candidates;                          ///< by content
  std::map<std::string, mlir::OwningOpRef<mlir::ModuleOp>> singles; ///< by content
};

} // namespace tenon::tools

#endif // TENON_TOOLS_MEASURE_MEASUREFUSIONS_H
