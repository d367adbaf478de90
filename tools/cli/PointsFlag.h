#ifndef TENON_TOOLS_CLI_POINTSFLAG_H
#define TENON_TOOLS_CLI_POINTSFLAG_H

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "passes/cost/MeasuredPoints.h"
#include "tools/cli/FlagRules.h"

namespace tenon::tools {

/// Adds `--points`: where measured times are kept.
void addPointsFlag(CLI::App& command, std::string& points, FlagRules& rules);

/// The device of this machine that runs programs for `target`, and its driver: `znver5, 2 threads`
/// or `NVIDIA H200, driver for CUDA 13.0`. NotFound where there is none.
absl::StatusOr<std::string> describeDevice(TargetAttr target);

/// The measured times that the flag means for look-ups: those of a file, which must be there; with
/// `none`, or without a flag and a file of the cache folder, null. Without a flag a file that
/// cannot be read is null, too, with a warning: predictions serve instead. Times are those of this
/// machine's device, or, where it has none of that kind, of the device that was measured last.
/// `launch` as `MeasuredOn` has it.
absl::StatusOr<std::unique_ptr<passes::cost::MeasuredPoints>>
findPoints(const std::string& flag, TargetAttr target, const std::string& launch);

/// The same to add times of this machine's device to: the file is made where there is none, and
/// must be named where there is no cache folder.
absl::StatusOr<std::unique_ptr<passes::cost::MeasuredPoints>>
openPoints(const std::string& flag, TargetAttr target, const std::string& launch);

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_POINTSFLAG_H
