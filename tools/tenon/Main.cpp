#include "tools/tenon/Command.h"

#include <iostream>

namespace {

constexpr const char* description =
    "Tenon compiles transformer inference graphs and runs them.\n"
    "\n"
    "MODEL is a GGUF file, a graph in textual IR (.mlir, of any phase) or, for `run`, a compiled\n"
    "program (.tnn).\n"
    "\n"
    "  tenon run model.gguf -p 'Once upon a time'          generate text\n"
    "  tenon compile model.gguf -o model.tnn               compile ahead of time\n"
    "  tenon dump model.gguf --phase=planned               read the IR of a phase\n"
    "  tenon bench model.gguf                              measure it, kernel by kernel\n"
    "  tenon COMMAND --help                                what a command takes";

/// Exit codes: the request was done, failed, or was worded wrongly.
enum ExitCode { Done = 0, Failed = 1, WrongUsage = 2 };

} // namespace

int main(int argc, char** argv) {
  CLI::App app(description, "tenon");
  app.set_version_flag("--version", TENON_VERSION);
  app.require_subcommand(1);
  tenon::tools::Action action;
  for (auto add : {tenon::tools::addBenchCommand, tenon::tools::addCalibrateCommand,
                   tenon::tools::addCompileCommand, tenon::tools::addDevicesCommand,
                   tenon::tools::addDumpCommand, tenon::tools::addExplainCommand,
                   tenon::tools::addInspectCommand, tenon::tools::addPerplexityCommand,
                   tenon::tools::addRandomModelCommand, tenon::tools::addRunCommand,
                   tenon::tools::addTokenizeCommand, tenon::tools::addTuneCommand,
                   tenon::tools::addVerifyCommand})
    add(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? Done : WrongUsage;
  }
  absl::Status status = action();
  if (status.ok())
    return Done;
  std::cerr << "tenon: error: " << status.message() << std::endl;
  return Failed;
}
