// The runtime alone: runs compiled programs without the compiler in the binary.
#include <chrono>
#include <iostream>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "runtime/program/ProgramFile.h"
#include "runtime/program/SourceFiles.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/FlagRules.h"
#include "tools/cli/Process.h"
#include "tools/cli/Version.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/run/GenerateCommand.h"
#include "tools/run/RunGraph.h"

namespace {

using namespace tenon;

constexpr const char* description =
    "Runs programs that `tenon compile` wrote, with the runtime alone.\n"
    "\n"
    "A program is native code and runs with your rights: run none whose origin you do not trust.\n"
    "What is checked of it finds damage, not malice (docs/SECURITY.md).\n"
    "\n"
    "  tenon-run model.tnn -p 'Once upon a time' -n 100      generate text\n"
    "  tenon-run model.tnn -p 'Once' --temperature 0.8 --seed 7\n"
    "  tenon-run model.tnn -p 'Once' --json                  ids, text and times for scripts\n"
    "  tenon-run graph.tnn --function f -f in.npz -o out.npz     call a function\n";

/// With `check`, model files are hashed anew, whatever their stamps say.
absl::Status runProgram(const std::string& path, bool check, const tools::GenerateOptions& options,
                        const tools::GraphRunOptions& graph) {
  auto start = std::chrono::steady_clock::now();
  TENON_ASSIGN_OR_RETURN(runtime::Program program, runtime::readProgram(path));
  if (check)
    TENON_RETURN_IF_ERROR(runtime::checkSourceFiles(program));
  auto executor = tools::makeExecutor(std::move(program), {.threads = options.threads});
  if (!executor.ok())
    return absl::Status(executor.status().code(),
                        path + ": " + std::string(executor.status().message()));
  auto loadNs = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  if (graph.isGiven())
    return tools::runGraph(**executor, graph);
  return tools::generateText(**executor, options, loadNs, std::cout, std::cerr);
}

} // namespace

int main(int argc, char** argv) {
  tools::beginProcess("tenon-run");
  CLI::App app(description, "tenon-run");
  app.set_version_flag("--version", [] { return tools::versionText("tenon-run", false); });
  std::string path;
  app.add_option("PROGRAM", path, "The compiled program, .tnn")->required();
  bool check = false;
  app.add_flag("--check", check,
               "Read the whole model file and compare it with the one compiled from, even where a "
               "stamp in the cache folder says that it is unchanged");
  tools::GenerateOptions options;
  tools::FlagRules rules;
  tools::addGenerateOptions(app, options, rules);
  tools::GraphRunOptions graph;
  tools::addGraphRunOptions(app, graph);
  if (std::optional<int> code = tools::parseCommandLine(app, argc, argv))
    return tools::endProcess(*code);
  tools::denyUnusedSampling(options, rules);
  graph.inputs = options.file;
  absl::Status status = tools::readGraphRunOptions(graph, rules);
  status.Update(rules.check());
  if (status.ok())
    status = runProgram(path, check, options, graph);
  return tools::endProcess(tools::reportStatus(app, status));
}
