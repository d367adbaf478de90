#include "codegen/cuda/CompileForCuda.h"

#include <atomic>
#include <thread>

#include "codegen/KernelSet.h"
#include "codegen/ProgramBuilder.h"
#include "codegen/cuda/CubinCache.h"
#include "codegen/cuda/KernelSource.h"
#include "runtime/program/ValidateProgram.h"
#include "support/Diagnostics.h"
#include "support/Status.h"

using namespace mlir;

namespace tenon::codegen {

using namespace cuda;

/// True where `value` is a weight or constant, or another view of one.
static bool isConstant(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value.getDefiningOp() && llvm::isa<GetWeightOp, ConstantOp>(value.getDefiningOp());
}

/// For each distinct kernel, which of its inputs are constant wherever it runs.
static std::vector<std::vector<bool>> findConstants(ModuleOp module, const KernelSet& kernels) {
  std::vector<std::vector<bool>> constants;
  for (KernelOp kernel : kernels.kernels())
    constants.emplace_back(kernel.getInputs().size(), true);
  module.walk([&](KernelOp kernel) {
    std::vector<bool>& known = constants[kernels.indexOf(kernel)];
    for (auto [index, input] : llvm::enumerate(kernel.getInputs()))
      known[index] = known[index] && isConstant(input);
  });
  return constants;
}

static absl::StatusOr<std::vector<KernelSource>>
printSources(ModuleOp module, const KernelSet& kernels, const Architecture& architecture) {
  DiagnosticCollector diagnostics(module.getContext());
  std::vector<std::vector<bool>> constants = findConstants(module, kernels);
  std::vector<KernelSource> sources;
  for (auto [index, kernel] : llvm::enumerate(kernels.kernels())) {
    FailureOr<KernelSource> source = printKernel(kernel, architecture, constants[index]);
    if (failed(source))
      return diagnostics.takeStatus();
    sources.push_back(*std::move(source));
  }
  return sources;
}

/// Compiles every source, on as many threads as the machine has cores.
static absl::StatusOr<std::vector<CompiledSource>>
compileSources(const std::vector<KernelSource>& sources, const KernelSet& kernels,
               const Architecture& architecture) {
  std::vector<absl::StatusOr<CompiledSource>> results(sources.size(), CompiledSource());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < sources.size();)
      results[i] = compileCached(sources[i].text, kernels.symbol(i), architecture.name);
  };
  std::vector<std::thread> threads;
  size_t workers = std::min<size_t>(sources.size(), std::thread::hardware_concurrency());
  for (size_t i = 1; i < workers; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread& thread : threads)
    thread.join();
  std::vector<CompiledSource> compiled;
  for (absl::StatusOr<CompiledSource>& result : results) {
    TENON_RETURN_IF_ERROR(result.status());
    compiled.push_back(*std::move(result));
  }
  return compiled;
}

static CudaKernel describeSource(const KernelSource& source, std::string name) {
  CudaKernel kernel;
  kernel.name = std::move(name);
  kernel.source = source.text;
  kernel.threads = source.threads;
  kernel.dynamicSmemBytes = source.dynamicSmemBytes;
  return kernel;
}

static CudaKernel describeKernel(const KernelSource& source, std::string name,
                                 const CompiledSource& compiled) {
  CudaKernel kernel = describeSource(source, std::move(name));
  kernel.ptx = compiled.ptx;
  for (const KernelResources& resources : compiled.kernels)
    if (resources.symbol == source.symbol) {
      kernel.registers = resources.registers;
      kernel.spillBytes = resources.spillLoadBytes + resources.spillStoreBytes;
      kernel.staticSmemBytes = resources.staticSmemBytes;
    }
  return kernel;
}

absl::StatusOr<std::vector<CudaKernel>> printCudaKernels(ModuleOp module) {
  TENON_ASSIGN_OR_RETURN(Architecture architecture, readArchitecture(module));
  KernelSet kernels(module);
  TENON_ASSIGN_OR_RETURN(std::vector<KernelSource> sources,
                         printSources(module, kernels, architecture));
  std::vector<CudaKernel> printed;
  for (auto [index, source] : llvm::enumerate(sources))
    printed.push_back(describeSource(source, kernels.symbol(index)));
  return printed;
}

absl::StatusOr<runtime::Program> compileForCuda(ModuleOp module,
                                                const CudaCodegenOptions& options) {
  TENON_ASSIGN_OR_RETURN(Architecture architecture, readArchitecture(module));
  KernelSet kernels(module);
  TENON_ASSIGN_OR_RETURN(runtime::Program program, buildProgram(module, [&](KernelOp kernel) {
                           return kernels.indexOf(kernel);
                         }));
  TENON_ASSIGN_OR_RETURN(std::vector<KernelSource> sources,
                         printSources(module, kernels, architecture));
  TENON_ASSIGN_OR_RETURN(std::vector<CompiledSource> compiled,
                         compileSources(sources, kernels, architecture));
  for (auto [index, source] : llvm::enumerate(sources)) {
    runtime::Kernel& kernel = program.kernels.emplace_back();
    kernel.symbol = source.symbol;
    kernel.code = static_cast<uint32_t>(index);
    kernel.launch = runtime::CudaLaunch{static_cast<uint32_t>(source.threads),
                                        static_cast<uint32_t>(source.dynamicSmemBytes), source.pdl};
    if (options.kernels)
      options.kernels->push_back(describeKernel(source, kernels.symbol(index), compiled[index]));
    program.code.emplace_back(std::move(compiled[index].cubin));
  }
  TENON_RETURN_IF_ERROR(runtime::validateProgram(program));
  return program;
}

} // namespace tenon::codegen
