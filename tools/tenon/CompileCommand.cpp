#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "runtime/program/ProgramFile.h"
#include "support/Status.h"
#include "tools/common/InputModel.h"
#include "tools/common/PlanFlags.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelInputOptions model;
  std::string output;
  std::string target = "native";
  PlanFlags plan;
};

absl::Status compile(const Options& options) {
  TENON_ASSIGN_OR_RETURN(InputModel input, readInputModel(options.model, options.target));
  TENON_ASSIGN_OR_RETURN(PlanSettings plan, readPlanFlags(options.plan, input.target));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         compileInputModel(input, options.model, plan.fusion));
  TENON_RETURN_IF_ERROR(runtime::writeProgram(program, options.output));
  size_t steps = 0;
  for (const runtime::Function& function : program.functions)
    steps += function.steps.size();
  std::cerr << absl::StrFormat("%s: %d functions, %d steps, %d kernels for %s\n", options.output,
                               program.functions.size(), steps, program.kernels.size(),
                               program.target);
  return absl::OkStatus();
}

} // namespace

void addCompileCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  options->model.nextIds = true;
  CLI::App* command = app.add_subcommand("compile", "Compile a model ahead of time into a program");
  addModelInputOptions(*command, options->model);
  command->add_option("-o,--output", options->output, "The program to write, .tnn")->required();
  command->add_option("--target", options->target, "The target to compile for (see `devices`)")
      ->capture_default_str();
  addPlanFlags(*command, options->plan);
  command->callback([options, &action] { action = [options] { return compile(*options); }; });
}

} // namespace tenon::tools
