#ifndef TENON_TOOLS_CALIBRATE_CALIBRATION_H
#define TENON_TOOLS_CALIBRATE_CALIBRATION_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "tools/measure/Samples.h"

namespace tenon::tools {

/// A property of a target as it was measured.
struct MeasuredProperty {
  std::string name;
  int64_t value = 0;
  std::string note; ///< how, a sentence or two for the target file
};

struct CalibrationOptions {
  int threads = 0;     ///< of a CPU; 0: every core
  int64_t rounds = 15; ///< samples of each measurement, whose median counts
  /// Is told each property that is left out because other work on the machine hides it.
  std::function<void(const std::string& property)> onLeftOut = [](const std::string&) {};
  std::function<Sample(Sample)> replaceSample = {}; ///< as in `TimerOptions`
};

/// Measures this machine's CPU with kernels for `base`: cores, step_ns, dram_mb_per_s,
/// cache_mb_per_s, f32_gflops, each as `cost::CostModel` uses it; but what is lost in noise.
absl::StatusOr<std::vector<MeasuredProperty>> calibrateCpu(TargetAttr base,
                                                           const CalibrationOptions& options);

/// Measures this machine's first GPU with kernels for `base`: what the driver says of it, the cost
/// of a launch in each mode, rates of reading, copying and computing, and what the cost model adds
/// for dependent loads, reductions and prologues; but what is lost in noise.
absl::StatusOr<std::vector<MeasuredProperty>> calibrateCuda(TargetAttr base,
                                                            const CalibrationOptions& options);

/// The text of a target file (as in `ir/targets`): `base` with what was measured in place of its
/// own, and `measured = 1`. `where` and `when` go into the comment at the top. What was not measured
/// is said to be the base's.
std::string formatTarget(TargetAttr base, const std::vector<MeasuredProperty>& measured,
                         const std::string& where, const std::string& when);

} // namespace tenon::tools

#endif // TENON_TOOLS_CALIBRATE_CALIBRATION_H
