#include <iostream>
#include <memory>

#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tools/common/CompileModel.h"
#include "tools/common/ModelInput.h"
#include "tools/tenon/Command.h"
#ifdef TENON_CPU
#include "codegen/cpu/CompileForCpu.h"
#endif
#include "llvm/Support/raw_os_ostream.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelInputOptions model;
  std::string phase = "planned";
  std::string target = "native";
  std::string as = "ir";
  bool locations = false;
};

/// The kernels of a planned module as the code generator's text.
absl::StatusOr<std::string> printKernels(mlir::ModuleOp module, const std::string& as) {
#ifdef TENON_CPU
  std::string text;
  codegen::CpuCodegenOptions options;
  (as == "llvm" ? options.llvmIr : options.assembly) = &text;
  TENON_RETURN_IF_ERROR(codegen::compileForCpu(module, options).status());
  return text;
#else
  return absl::UnimplementedError("--as=" + as + ": this build has no CPU backend");
#endif
}

absl::Status dump(const Options& options) {
  std::optional<Phase> phase = symbolizePhase(options.phase);
  if (!phase)
    return absl::InvalidArgumentError("--phase: expects a phase, but got '" + options.phase + "'");
  auto context = makeContext();
  TENON_ASSIGN_OR_RETURN(auto module, readModel(*context, options.model));
  if (options.as != "ir")
    phase = Phase::Planned;
  passes::PipelineOptions pipeline{.upTo = *phase};
  if (*phase >= Phase::Scheduled) {
    TENON_ASSIGN_OR_RETURN(pipeline.target, chooseTarget(*context, options.target));
  }
  TENON_RETURN_IF_ERROR(passes::runPipeline(*module, pipeline));
  if (options.as != "ir") {
    TENON_ASSIGN_OR_RETURN(std::string text, printKernels(*module, options.as));
    std::cout << text;
    return absl::OkStatus();
  }
  mlir::OpPrintingFlags flags;
  if (options.locations)
    flags.enableDebugInfo();
  llvm::raw_os_ostream stream(std::cout);
  module->print(stream, flags);
  stream << "\n";
  return absl::OkStatus();
}

} // namespace

void addDumpCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "dump", "Print the IR of a phase; the text can be edited and given to any command as MODEL");
  addModelInputOptions(*command, options->model);
  command->add_option("--phase", options->phase, "input, simplified, fused, scheduled or planned")
      ->check(CLI::IsMember({"input", "simplified", "fused", "scheduled", "planned"}))
      ->capture_default_str();
  command->add_option("--target", options->target, "The target to schedule for (see `devices`)")
      ->capture_default_str();
  command
      ->add_option("--as", options->as,
                   "ir, or the planned module's kernels as optimised llvm IR or asm, assembly")
      ->check(CLI::IsMember({"ir", "llvm", "asm"}))
      ->capture_default_str();
  command->add_flag("--locations", options->locations, "Print the name of each operation too");
  command->callback([options, &action] { action = [options] { return dump(*options); }; });
}

} // namespace tenon::tools
