#include <unistd.h>

#include <array>
#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "runtime/program/ProgramFile.h"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/PlanFlags.h"
#include "tools/cli/Version.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/UsageError.h"
#include "tools/measure/ExplainReport.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelOptions model;
  FlagRules rules; ///< of all flags
  std::string output;
  PlanFlags plan;
  JsonFlag json;
};

/// What a program says of where it comes from (`Program::report`): the Tenon that compiled it, its plan
/// and the decisions of fusion.
std::string describeCompilation(const PlanFlags& plan,
                                const std::vector<passes::FusionDecision>& decisions) {
  std::vector<ExplainedFusion> fusions;
  for (const passes::FusionDecision& decision : decisions)
    fusions.push_back({&decision});
  nlohmann::ordered_json report = {{"version", versionNumber()},
                                   {"commit", versionCommit()},
                                   {"plan", plan.plan},
                                   {"launch", plan.launch},
                                   {"decisions", describeFusionGroups(fusions)}};
  return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

absl::Status compile(const Options& options) {
  if (options.output.empty())
    return usageError("-o: expects a file, but got an empty name");
  bool isPrinted = options.output == "-";
  if (isPrinted && options.json.replacesText())
    return usageError("--json: expects --json=FILE where -o - prints the program");
  if (isPrinted && ::isatty(STDOUT_FILENO) != 0)
    return usageError("-o -: expects standard output to be a file or a pipe, but it is a terminal");
  const std::string path = outputPath(options.output);
  TENON_RETURN_IF_ERROR(checkOutput(path, std::array{options.model.path}));
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(options.model, options.rules));
  TENON_ASSIGN_OR_RETURN(PlanSettings plan, readPlanFlags(options.plan, input));
  std::vector<passes::FusionDecision> decisions;
  plan.fusion.report = &decisions;
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileWithProgress(input, options.model, plan.fusion));
  program.report = describeCompilation(options.plan, decisions);
  if (input.hasModel() && !program.tokenizer)
    std::cerr << "tenon: note: "
              << readModelTokenizer(*input.module, input.shape.get()).status().message()
              << "; the program takes and gives token ids alone" << std::endl;
  TENON_RETURN_IF_ERROR(runtime::writeProgram(program, path));
  size_t steps = 0;
  for (const runtime::Function& function : program.functions)
    steps += function.steps.size();
  std::cerr << absl::StrFormat("%s: %d functions, %d steps, %d kernels for %s\n", path,
                               program.functions.size(), steps, program.kernels.size(),
                               program.target);
  return writeJson(options.json, {{"output", options.output},
                                  {"target", program.target},
                                  {"functions", program.functions.size()},
                                  {"steps", steps},
                                  {"kernels", program.kernels.size()}});
}

} // namespace

void addCompileCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  options->model.nextIds = true;
  CLI::App* command = app.add_subcommand("compile", "Compile a model ahead of time into a program");
  addModelOptions(*command, options->model, options->rules);
  command
      ->add_option("-o,--output", options->output,
                   "The program to write, .tnn; - for standard output")
      ->required();
  addTargetOption(*command, options->model, options->rules, "compile for");
  addPlanFlags(*command, options->plan, options->rules);
  addJsonFlag(*command, options->json, "one object: output, target, functions, steps, kernels");
  command->callback([options, &action] { action = [options] { return compile(*options); }; });
}

} // namespace tenon::tools
