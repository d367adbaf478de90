#include "tools/report/PlanDetails.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "codegen/cuda/CompileForCuda.h"
#include "ir/Dialect.h"
#include "ir/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "support/Status.h"
#include "tools/bench/BenchReport.h"
#include "tools/bench/StepGroups.h"
#include "tools/report/Disassemble.h"
#ifdef TENON_CPU
#include "codegen/cpu/CompileForCpu.h"
#endif
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon::tools {

static std::string printKernel(KernelOp kernel, AsmState& names) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, names);
  return text;
}

static StepDetails describe(KernelOp kernel, AsmState& names) {
  StepDetails details;
  for (Operation& op : kernel.getBlock().without_terminator()) {
    if (isView(&op) || llvm::isa<ConstantOp>(op))
      continue;
    std::string name = op.getName().stripDialect().str();
    details.operations += (details.operations.empty() ? "" : "+") + name;
    if (auto location = op.getLoc()->findInstanceOf<NameLoc>())
      name += " " + location.getName().str();
    details.names.push_back(std::move(name));
  }
  details.ir = printKernel(kernel, names);
  return details;
}

absl::StatusOr<std::vector<StepDetails>> describeSteps(ModuleOp planned, const std::string& name) {
  TENON_ASSIGN_OR_RETURN(std::vector<std::string> groups, groupSteps(planned, name));
  std::vector<StepDetails> steps;
  llvm::DenseMap<Operation*, size_t> indices;
  auto function = planned.lookupSymbol<func::FuncOp>(name);
  AsmState names(function);
  function.walk([&](KernelOp kernel) {
    StepDetails step = describe(kernel, names);
    step.group = groups[steps.size()];
    for (Value input : kernel.getInputs())
      if (Operation* producer = getViewSource(input).getDefiningOp())
        if (auto found = indices.find(producer); found != indices.end())
          step.reads.push_back(found->second);
    std::ranges::sort(step.reads);
    step.reads.erase(std::ranges::unique(step.reads).begin(), step.reads.end());
    indices[kernel] = steps.size();
    steps.push_back(std::move(step));
  });
  return steps;
}

static absl::StatusOr<std::map<std::string, KernelCode>> printCudaCode(ModuleOp planned) {
  std::vector<codegen::CudaKernel> kernels;
  TENON_ASSIGN_OR_RETURN(runtime::Program compiled,
                         codegen::compileForCuda(planned, {.kernels = &kernels}));
  std::map<std::string, KernelCode> code;
  for (auto [kernel, cubin] : llvm::zip_equal(kernels, compiled.code)) {
    code[kernel.name] = {{"cuda", std::move(kernel.source)}, {"ptx", std::move(kernel.ptx)}};
    if (findDisassembler()) {
      TENON_ASSIGN_OR_RETURN(std::string sass, disassemble({cubin.data(), cubin.size()}));
      code[kernel.name].emplace_back("sass", std::move(sass));
    }
  }
  return code;
}

#ifdef TENON_CPU
/// The function `symbol` of a module of LLVM IR as text: from its `define` to the brace that ends it.
static std::string findLlvmFunction(const std::string& text, const std::string& symbol) {
  size_t name = text.find("@" + symbol + "(");
  while (name != std::string::npos) {
    size_t line = text.rfind('\n', name) + 1;
    if (text.compare(line, 7, "define ") == 0)
      return text.substr(line, text.find("\n}\n", name) + 3 - line);
    name = text.find("@" + symbol + "(", name + 1);
  }
  return "";
}

static absl::StatusOr<std::map<std::string, KernelCode>>
printCpuCode(ModuleOp planned, const runtime::Program& program) {
  std::string text;
  codegen::CpuCodegenOptions options;
  options.llvmIr = &text;
  TENON_RETURN_IF_ERROR(codegen::compileForCpu(planned, options).status());
  std::map<std::string, KernelCode> code;
  for (uint32_t index = 0; index < program.kernels.size(); ++index)
    code[kernelLabel(program, index)] = {
        {"llvm", findLlvmFunction(text, program.kernels[index].symbol)}};
  return code;
}
#endif

absl::StatusOr<std::vector<KernelCode>> printKernelCode(ModuleOp planned,
                                                        const runtime::Program& program) {
  std::map<std::string, KernelCode> found;
  if (program.device == "cuda") {
    TENON_ASSIGN_OR_RETURN(found, printCudaCode(planned));
  }
#ifdef TENON_CPU
  if (program.device == "cpu") {
    TENON_ASSIGN_OR_RETURN(found, printCpuCode(planned, program));
  }
#endif
  std::vector<KernelCode> code;
  for (uint32_t index = 0; index < program.kernels.size(); ++index)
    code.push_back(found[kernelLabel(program, index)]);
  return code;
}

} // namespace tenon::tools
