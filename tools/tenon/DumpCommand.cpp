#include <array>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "codegen/cuda/CompileForCuda.h"
#include "passes/Pipeline.h"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/PlanFlags.h"
#include "tools/driver/BuildParts.h"
#include "tools/driver/UsageError.h"
#include "tools/report/Disassemble.h"
#include "tools/tenon/Command.h"
#ifdef TENON_CPU
#include "codegen/cpu/CompileForCpu.h"
#endif
#include "llvm/Support/raw_ostream.h"

namespace tenon::tools {

namespace {

struct Options {
  ModelOptions model;
  FlagRules rules;            ///< of all flags
  std::string as = "planned"; ///< a phase, or a form of code with the words of kernels after
  std::string output = "-";
  PlanFlags plan;
};

/// What a kernel takes of a multiprocessor, as a comment.
std::string describeResources(const codegen::CudaKernel& kernel) {
  return absl::StrFormat("// %s: %d threads, %d registers, %d bytes spilled, %d + %d bytes of "
                         "static and dynamic shared memory\n",
                         kernel.name, kernel.stated.threads, kernel.registers, kernel.spillBytes,
                         kernel.staticSmemBytes, kernel.stated.dynamicSmemBytes);
}

/// What its schedule says that a kernel takes, as a comment.
std::string describeStated(const codegen::CudaKernel& kernel) {
  const kernels::BlockResources& stated = kernel.stated;
  return absl::StrFormat("// %s: stated %d threads, %d registers, %d + %d bytes of static and "
                         "dynamic shared memory\n",
                         kernel.name, stated.threads, stated.registers, stated.staticSmemBytes,
                         stated.dynamicSmemBytes);
}

/// True where `part` is some of the words of `name`: `k3`, `rms_norm` and `k3_rms` of `k3_rms_norm`.
bool hasWords(const std::string& name, const std::string& part) {
  return absl::StartsWith(name, part) || absl::StrContains(name, "_" + part);
}

/// What `--as` says.
struct Form {
  std::string name;   ///< a phase, or a form of the planned module's kernels
  std::string kernel; ///< words of the kernels that are printed; empty: all

  explicit Form(const std::string& as) : name(as.substr(0, as.find(':'))) {
    if (name.size() < as.size())
      kernel = as.substr(name.size() + 1);
  }
  bool isCpu() const { return name == "llvm" || name == "asm"; }
  bool isCuda() const {
    return name == "cuda" || name == "ptx" || name == "sass" || name == "source";
  }
  bool isCode() const { return isCpu() || isCuda(); }
  Phase phase() const { return isCode() ? Phase::Planned : *symbolizePhase(name); }
};

/// A value of `--as`.
CLI::Validator someForm() {
  CLI::Validator isForm = oneOf({"input", "simplified", "fused", "scheduled", "planned", "llvm",
                                 "asm", "cuda", "ptx", "sass", "source"});
  auto check = [isForm](std::string& text) -> std::string {
    Form form(text);
    std::string wrong = isForm(form.name);
    if (!wrong.empty() || form.name == text || form.isCuda())
      return wrong;
    return absl::StrFormat(
        "expects words of kernels' names after cuda, ptx, sass and source alone, but got '%s'",
        text);
  };
  return CLI::Validator(check, "");
}

/// The kernels for a GPU that `form` names, as source, compiled or not, PTX or SASS.
absl::StatusOr<std::string> printCudaKernels(mlir::ModuleOp module, const Form& form) {
  const std::string& as = form.name;
  std::vector<codegen::CudaKernel> kernels;
  runtime::Program program;
  if (as == "source") {
    TENON_ASSIGN_OR_RETURN(kernels, codegen::printCudaKernels(module));
  } else {
    TENON_ASSIGN_OR_RETURN(program, codegen::compileForCuda(module, {.kernels = &kernels}));
  }
  std::string text, names;
  for (auto [index, kernel] : llvm::enumerate(kernels)) {
    names += (names.empty() ? "" : ", ") + kernel.name;
    if (!hasWords(kernel.name, form.kernel))
      continue;
    text += as == "source" ? describeStated(kernel) : describeResources(kernel);
    if (as == "sass") {
      const runtime::SharedBytes& cubin = program.code[index];
      TENON_ASSIGN_OR_RETURN(std::string sass, disassemble({cubin.data(), cubin.size()}));
      text += sass + "\n";
    } else {
      text += (as == "ptx" ? kernel.ptx : kernel.source) + "\n";
    }
  }
  if (text.empty())
    return usageError(absl::StrFormat("--as=%s: expects words of one of %s, but got '%s'", as,
                                      names, form.kernel));
  return text;
}

/// The kernels of a planned module as the code generator's text.
absl::StatusOr<std::string> printKernels(mlir::ModuleOp module, const Form& form,
                                         TargetAttr target) {
  const std::string& as = form.name;
  bool wantsCuda = form.isCuda();
  if (wantsCuda != (target.getDevice() == DeviceKind::Cuda))
    return usageError(absl::StrFormat("--as=%s: expects a target for %s, but got %s", as,
                                      wantsCuda ? "cuda" : "cpu", target.getName().str()));
  if (wantsCuda)
    return printCudaKernels(module, form);
#ifdef TENON_CPU
  std::string text;
  codegen::CpuCodegenOptions options;
  (as == "llvm" ? options.llvmIr : options.assembly) = &text;
  TENON_RETURN_IF_ERROR(codegen::compileForCpu(module, options).status());
  return text;
#else
  return lacksPart("--as=" + as, "code generator for CPUs");
#endif
}

/// Leaves of every location the operation's name; false where no operation has one.
bool keepNamesAlone(mlir::ModuleOp module) {
  bool found = false;
  mlir::Location unknown = mlir::UnknownLoc::get(module.getContext());
  module.walk([&](mlir::Operation* op) {
    auto name = op->getLoc()->findInstanceOf<mlir::NameLoc>();
    found |= bool(name);
    op->setLoc(name ? mlir::Location(mlir::NameLoc::get(name.getName())) : unknown);
  });
  return found;
}

/// The module as text, with names after the operations, `loc("blk.0.attn_norm")`.
std::string printIr(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  if (keepNamesAlone(module))
    flags.enableDebugInfo().useLocalScope(); // names stand where they belong, not as aliases
  module.print(stream, flags);
  stream << "\n";
  // What has no name needs no place for it. A string in the text holds no line break.
  return absl::StrReplaceAll(text, {{" loc(unknown)\n", "\n"}});
}

absl::Status dump(Options options) {
  const Form form(options.as);
  if (form.isCpu() && options.model.target == "native")
    options.model.target = "cpu";
  TENON_RETURN_IF_ERROR(checkOutput(outputPath(options.output), std::array{options.model.path}));
  const Phase phase = form.phase();
  TENON_ASSIGN_OR_RETURN(LoadedModel input, loadModel(options.model, options.rules));
  passes::PipelineOptions pipeline;
  pipeline.upTo = phase;
  if (phase >= Phase::Fused)
    pipeline.target = input.target;
  TENON_ASSIGN_OR_RETURN(PlanSettings settings, readPlanFlags(options.plan, input));
  pipeline.fusion = settings.fusion;
  mlir::ModuleOp module = *input.module;
  if (passes::getPhase(module) > phase)
    return usageError(absl::StrFormat("--as=%s: %s is in the phase %s already", options.as,
                                      options.model.path,
                                      stringifyPhase(passes::getPhase(module)).str()));
  TENON_RETURN_IF_ERROR(passes::runPipeline(module, pipeline));
  if (form.isCode()) {
    TENON_ASSIGN_OR_RETURN(std::string text, printKernels(module, form, input.target));
    return writeTextFile(options.output, text);
  }
  return writeTextFile(options.output, printIr(module));
}

} // namespace

void addDumpCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "dump", "Print the IR of a phase, or code; the IR can be edited and given to any command as "
              "MODEL");
  addModelOptions(*command, options->model, options->rules);
  command->add_option("-o,--output", options->output,
                      "The file to write instead of standard output, -");
  addTargetOption(*command, options->model, options->rules, "schedule for");
  command
      ->add_option(
          "--as,--phase", options->as,
          "The IR of a phase: input, simplified, fused, scheduled, planned. Or the planned "
          "module's "
          "kernels: for a CPU as optimised llvm IR or asm, assembly; for a GPU as cuda source with "
          "what ptxas reports, as ptx, as sass, machine code, where the CUDA toolkit's nvdisasm or "
          "cuobjdump is there, or as source that is not compiled, which needs no NVRTC; of a "
          "GPU's, "
          "cuda:rms_norm and cuda:k3 are those of these words")
      ->check(someForm())
      ->capture_default_str();
  addPlanFlags(*command, options->plan, options->rules);
  command->callback([options, &action] { action = [options] { return dump(*options); }; });
}

} // namespace tenon::tools
