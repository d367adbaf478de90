#include "tools/tenon/Command.h"

#include <optional>

#include "tools/cli/CommandLine.h"
#include "tools/cli/Process.h"
#include "tools/cli/Version.h"

namespace {

constexpr const char* description =
    "Tenon compiles transformer inference graphs and runs them.\n"
    "\n"
    "MODEL is a GGUF file, a Hugging Face folder, a graph in textual IR (.mlir, of any phase) or,\n"
    "for `run`, a compiled program (.tnn). A program is native code and runs with your rights: "
    "run\n"
    "none whose origin you do not trust. The others are data (docs/SECURITY.md).\n"
    "\n"
    "  tenon run model.gguf -p 'Once upon a time'          generate text\n"
    "  tenon compile model.gguf -o model.tnn               compile ahead of time\n"
    "  tenon dump model.gguf --as=planned               read the IR of a phase\n"
    "  tenon bench model.gguf                              measure it, kernel by kernel\n"
    "  tenon help COMMAND                                  what a command takes";

constexpr const char* footer =
    "Exit codes: 0 done, 1 failed, 2 wrong usage. Text goes to standard output, times and progress "
    "to\n"
    "standard error. TENON_CACHE_DIR (default: tenon in XDG_CACHE_HOME or ~/.cache) names the "
    "folder\n"
    "of compiled kernels and measured times, CUDA_VISIBLE_DEVICES the GPUs.";

} // namespace

int main(int argc, char** argv) {
  tenon::tools::beginProcess("tenon");
  CLI::App app(description, "tenon");
  app.footer(footer);
  app.set_version_flag("--version", [] { return tenon::tools::versionText("tenon", true); });
  app.require_subcommand(1);
  tenon::tools::Action action;
  for (auto add : {tenon::tools::addBenchCommand, tenon::tools::addCalibrateCommand,
                   tenon::tools::addCompileCommand, tenon::tools::addDevicesCommand,
                   tenon::tools::addDumpCommand, tenon::tools::addEmbedCommand,
                   tenon::tools::addExplainCommand, tenon::tools::addInspectCommand,
                   tenon::tools::addPerplexityCommand, tenon::tools::addRandomModelCommand,
                   tenon::tools::addRunCommand, tenon::tools::addTokenizeCommand,
                   tenon::tools::addTuneCommand, tenon::tools::addVerifyCommand})
    add(app, action);

  if (std::optional<int> code = tenon::tools::parseCommandLine(app, argc, argv))
    return tenon::tools::endProcess(*code);
  return tenon::tools::endProcess(tenon::tools::reportStatus(app, action()));
}
