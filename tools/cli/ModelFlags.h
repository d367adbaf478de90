#ifndef TENON_TOOLS_CLI_MODELFLAGS_H
#define TENON_TOOLS_CLI_MODELFLAGS_H

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/statusor.h"
#include "passes/fusion/Fusion.h"
#include "runtime/program/Program.h"
#include "tools/cli/FlagRules.h"
#include "tools/driver/LoadedModel.h"

namespace tenon::tools {

/// Adds MODEL and the flags that say what is read of it to `command`.
void addModelOptions(CLI::App& command, ModelOptions& options, FlagRules& rules);
/// Adds `--target`; `use` says what for: `compile`.
void addTargetOption(CLI::App& command, ModelOptions& options, FlagRules& rules,
                     const std::string& use);
/// Adds `--device`, one of `devices`.
void addDeviceOption(CLI::App& command, ModelOptions& options,
                     std::vector<std::string> devices = {"auto", "cpu", "cuda"});

/// Loads the model, and refuses by `rules` the flags that do not apply to it.
absl::StatusOr<LoadedModel> loadModel(const ModelOptions& options, FlagRules rules);

/// `NVIDIA H200, target h200`: what will run programs for `target`, or the target alone where this
/// machine has no such device.
std::string describeChoice(TargetAttr target);

/// `compileModel`, which says on a terminal how long it has been at work.
absl::StatusOr<runtime::Program> compileWithProgress(const LoadedModel& model,
                                                     const ModelOptions& options,
                                                     const passes::FusionOptions& fusion = {},
                                                     bool stamps = false);

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_MODELFLAGS_H
