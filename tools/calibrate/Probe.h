#ifndef TENON_TOOLS_CALIBRATE_PROBE_H
#define TENON_TOOLS_CALIBRATE_PROBE_H

#include <string>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "runtime/program/Program.h"
#include "tools/calibrate/Calibration.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/measure/IsolatedKernels.h"
#include "tools/measure/KernelTimer.h"

namespace tenon::tools {

/// Times kernels of a calibration, in ns each, as `KernelTimer` does.
class Prober {
public:
  Prober(TargetAttr target, const CalibrationOptions& options) : target(target), options(options) {}

  /// The kernels of the function `f` of a graph in text, in phase `simplified`, `launch` as
  /// `--launch` has it.
  absl::StatusOr<double> timeGraph(const std::string& text, Grouping grouping,
                                   const char* launch = "graph") const;
  /// The steps of the one function of a program. `expectedNs`: about what they take together.
  absl::StatusOr<double> timeProgram(runtime::Program program, int64_t touchedBytes,
                                     int64_t expectedNs, const char* launch = "graph") const;

  TargetAttr getTarget() const { return target; }

private:
  TimerOptions timerFor(const char* launch) const;

  TargetAttr target;
  CalibrationOptions options;
};

/// ns - less, of two measurements of which the first does more work; noise where it took no longer.
absl::StatusOr<double> timeBeyond(const char* what, double ns, double less);

/// Text of `y = x · Wᵀ` with a weight of its own: x [rows, depth], W [columns, depth], both of
/// `type`.
std::string productGraph(int64_t rows, int64_t columns, int64_t depth, const std::string& type);
/// Text of `y = a + b` of [rows, columns].
std::string sumGraph(int64_t rows, int64_t columns, const std::string& type);

} // namespace tenon::tools

#endif // TENON_TOOLS_CALIBRATE_PROBE_H
