#ifndef TENON_TOOLS_TENON_COMMAND_H
#define TENON_TOOLS_TENON_COMMAND_H

#include <functional>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"

namespace tenon::tools {

/// What a chosen subcommand does once its flags are parsed; `Main.cpp` runs it and turns its
/// status into the exit code.
using Action = std::function<absl::Status()>;

/// Each adds one subcommand to `app` that sets `action` when it is chosen. One file a command.
void addBenchCommand(CLI::App& app, Action& action);
void addCalibrateCommand(CLI::App& app, Action& action);
void addCompileCommand(CLI::App& app, Action& action);
void addDevicesCommand(CLI::App& app, Action& action);
void addDumpCommand(CLI::App& app, Action& action);
void addEmbedCommand(CLI::App& app, Action& action);
void addExplainCommand(CLI::App& app, Action& action);
void addInspectCommand(CLI::App& app, Action& action);
void addPerplexityCommand(CLI::App& app, Action& action);
void addRandomModelCommand(CLI::App& app, Action& action);
void addRunCommand(CLI::App& app, Action& action);
void addTokenizeCommand(CLI::App& app, Action& action);
void addTuneCommand(CLI::App& app, Action& action);
void addVerifyCommand(CLI::App& app, Action& action);

} // namespace tenon::tools

#endif // TENON_TOOLS_TENON_COMMAND_H
