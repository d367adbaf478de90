#ifndef TENON_TOOLS_MEASURE_TUNESCHEDULES_H
#define TENON_TOOLS_MEASURE_TUNESCHEDULES_H

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/MeasuredPoints.h"
#include "tools/measure/KernelTimer.h"

namespace tenon::tools {

/// One schedule of a kernel and its time.
struct TunedSchedule {
  std::string schedule; ///< as IR spells it
  int64_t ns = 0;
  int64_t spreadNs = 0; ///< half of the quartiles' distance
};

/// A kernel of a model with the schedules that were tried, the scheduler's own choice first.
struct TunedKernel {
  std::string name;       ///< of its first place in the model
  std::string operations; ///< of its region
  int64_t places = 0;     ///< where the model runs it
  std::vector<TunedSchedule> schedules;

  /// The fastest; the scheduler's own where others gain less than the spread of both.
  size_t best() const;
};

/// Measures, for each distinct kernel of `scheduled` (a module in that phase, of the target's own
/// choices) that has them, the schedules that compute the same bits in turns, and adds their times
/// to `points`. Where the fastest is not the scheduler's own by more than the spread of both, the
/// points let the scheduler take it. A kernel whose times are lost in noise is left out, and given to
/// `onLeftOut`. `onDone` is called after each kernel with how many are done, and of how many.
absl::StatusOr<std::vector<TunedKernel>>
tuneSchedules(mlir::ModuleOp scheduled, const TimerOptions& options, int64_t rounds,
              passes::cost::MeasuredPoints& points,
              const std::function<void(size_t, size_t)>& onDone,
              const std::function<void(const TunedKernel&)>& onLeftOut);

} // namespace tenon::tools

#endif // TENON_TOOLS_MEASURE_TUNESCHEDULES_H
