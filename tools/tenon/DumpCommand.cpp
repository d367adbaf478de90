#include <iostream>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "codegen/cuda/CompileForCuda.h"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tools/common/InputModel.h"
#include "tools/common/PlanFlags.h"
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
  std::string kernel;
  bool locations = false;
  PlanFlags plan;
};

/// What a kernel takes of a multiprocessor, as a comment.
std::string describeResources(const codegen::CudaKernel& kernel) {
  return absl::StrFormat("// %s: %d threads, %d registers, %d bytes spilled, %d + %d bytes of "
                         "static and dynamic shared memory\n",
                         kernel.name, kernel.stated.threads, kernel.registers, kernel.spillBytes,
                         kernel.staticSmemBytes, kernel.stated.dynamicSmemBytes);
}

/// The kernels for a GPU whose names begin with `prefix`, as source or PTX.
absl::StatusOr<std::string> printCudaKernels(mlir::ModuleOp module, const std::string& as,
                                             const std::string& prefix) {
  std::vector<codegen::CudaKernel> kernels;
  TENON_RETURN_IF_ERROR(codegen::compileForCuda(module, {.kernels = &kernels}).status());
  std::string text, names;
  for (const codegen::CudaKernel& kernel : kernels) {
    names += (names.empty() ? "" : ", ") + kernel.name;
    if (absl::StartsWith(kernel.name, prefix))
      text += describeResources(kernel) + (as == "ptx" ? kernel.ptx : kernel.source) + "\n";
  }
  if (text.empty())
    return absl::NotFoundError(absl::StrFormat("--kernel: expects the beginning of one of %s, but "
                                               "got '%s'",
                                               names, prefix));
  return text;
}

/// The kernels of a planned module as the code generator's text.
absl::StatusOr<std::string> printKernels(mlir::ModuleOp module, const Options& dump,
                                         TargetAttr target) {
  const std::string& as = dump.as;
  bool wantsCuda = as == "cuda" || as == "ptx";
  if (wantsCuda != (target.getDevice() == DeviceKind::Cuda))
    return absl::InvalidArgumentError(
        absl::StrFormat("--as=%s: expects a target for %s, but got %s", as,
                        wantsCuda ? "cuda" : "cpu", target.getName().str()));
  if (wantsCuda)
    return printCudaKernels(module, as, dump.kernel);
  if (!dump.kernel.empty())
    return absl::InvalidArgumentError("--kernel: expects --as=cuda or --as=ptx");
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
  if (options.as != "ir")
    phase = Phase::Planned;
  TENON_ASSIGN_OR_RETURN(InputModel input, readInputModel(options.model, options.target));
  passes::PipelineOptions pipeline;
  pipeline.upTo = *phase;
  if (*phase >= Phase::Fused)
    pipeline.target = input.target;
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(options.plan, input.target));
  pipeline.fusion = settings.fusion;
  mlir::ModuleOp module = *input.module;
  TENON_RETURN_IF_ERROR(passes::runPipeline(module, pipeline));
  if (options.as != "ir") {
    TENON_ASSIGN_OR_RETURN(std::string text, printKernels(module, options, input.target));
    std::cout << text;
    return absl::OkStatus();
  }
  mlir::OpPrintingFlags flags;
  if (options.locations)
    flags.enableDebugInfo();
  llvm::raw_os_ostream stream(std::cout);
  module.print(stream, flags);
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
                   "ir, or the planned module's kernels: for a CPU as optimised llvm IR or asm, "
                   "assembly; for a GPU as cuda source or ptx")
      ->check(CLI::IsMember({"ir", "llvm", "asm", "cuda", "ptx"}))
      ->capture_default_str();
  addPlanFlags(*command, options->plan);
  command->add_option("--kernel", options->kernel,
                      "Of a GPU's kernels, those whose names begin so: k3 or k3_rms_norm");
  command->add_flag("--locations", options->locations, "Print the name of each operation too");
  command->callback([options, &action] { action = [options] { return dump(*options); }; });
}

} // namespace tenon::tools
