#include "codegen/cuda/CompileForCuda.h"

#include <atomic>
#include <thread>

#include "codegen/KernelSet.h"
#include "codegen/ProgramBuilder.h"
#include "codegen/cuda/ArgumentSpaces.h"
#include "codegen/cuda/CubinCache.h"
#include "codegen/cuda/KernelSource.h"
#include "codegen/cuda/LibraryCall.h"
#include "runtime/program/ValidateProgram.h"
#include "support/Diagnostics.h"
#include "support/Status.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen {

using namespace cuda;

/// A distinct kernel that has a source, and the launches that run it.
struct NamedSource {
  uint32_t index; ///< in the `KernelSet`
  std::string name;
  KernelSource source;
};

/// Prints every kernel but those that a library computes.
static absl::StatusOr<std::vector<NamedSource>> printSources(ModuleOp module,
                                                             const KernelSet& kernels,
                                                             const Architecture& architecture,
                                                             bool stamps) {
  DiagnosticCollector diagnostics(module.getContext());
  std::vector<std::vector<MemorySpace>> spaces = findSpaces(module, kernels);
  std::vector<NamedSource> sources;
  for (uint32_t index = 0; index < kernels.kernels().size(); ++index) {
    KernelOp kernel = kernels.kernels()[index];
    if (isLibraryGemm(kernel))
      continue;
    FailureOr<KernelSource> source = printKernel(kernel, architecture, spaces[index], stamps);
    if (failed(source))
      return diagnostics.takeStatus();
    sources.push_back({index, kernels.symbol(index), *std::move(source)});
  }
  return sources;
}

/// Describes the kernels that a library computes.
static absl::Status describeLibraryKernels(ModuleOp module, const KernelSet& kernels,
                                           std::vector<runtime::Kernel>& described) {
  DiagnosticCollector diagnostics(module.getContext());
  for (uint32_t index = 0; index < described.size(); ++index) {
    if (!isLibraryGemm(kernels.kernels()[index]))
      continue;
    FailureOr<runtime::LibraryMatmul> matmul = describeGemm(kernels.kernels()[index]);
    if (failed(matmul))
      return diagnostics.takeStatus();
    described[index].symbol = "cublaslt";
    described[index].launch = *matmul;
  }
  return absl::OkStatus();
}

/// Compiles every source, on that many threads, or as many as the machine has cores.
static absl::StatusOr<std::vector<CompiledSource>>
compileSources(const std::vector<NamedSource>& sources, const Architecture& architecture,
               unsigned threadCount) {
  std::vector<absl::StatusOr<CompiledSource>> results(sources.size(), CompiledSource());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < sources.size();)
      results[i] = compileCached(sources[i].source.text, sources[i].name, architecture.name);
  };
  std::vector<std::thread> threads;
  size_t workers = std::min<size_t>(
      sources.size(), threadCount ? threadCount : std::thread::hardware_concurrency());
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

static CudaKernel describeSource(const NamedSource& named) {
  const KernelSource& source = named.source;
  CudaKernel kernel;
  kernel.name = named.name;
  kernel.source = source.text;
  kernel.stated = source.resources;
  return kernel;
}

static CudaKernel describeKernel(const NamedSource& named, const CompiledSource& compiled) {
  CudaKernel kernel = describeSource(named);
  kernel.ptx = compiled.ptx;
  for (const KernelResources& resources : compiled.kernels)
    if (resources.symbol == named.source.symbol) {
      kernel.registers = resources.registers;
      kernel.spillBytes = resources.spillLoadBytes + resources.spillStoreBytes;
      kernel.staticSmemBytes = resources.staticSmemBytes;
    }
  return kernel;
}

absl::StatusOr<std::vector<CudaKernel>> printCudaKernels(ModuleOp module, bool stamps) {
  TENON_ASSIGN_OR_RETURN(Architecture architecture, readArchitecture(module));
  KernelSet kernels(module);
  TENON_ASSIGN_OR_RETURN(std::vector<NamedSource> sources,
                         printSources(module, kernels, architecture, stamps));
  std::vector<CudaKernel> printed;
  for (const NamedSource& source : sources)
    printed.push_back(describeSource(source));
  return printed;
}

absl::StatusOr<runtime::Program> compileForCuda(ModuleOp module,
                                                const CudaCodegenOptions& options) {
  TENON_ASSIGN_OR_RETURN(Architecture architecture, readArchitecture(module));
  KernelSet kernels(module);
  TENON_ASSIGN_OR_RETURN(runtime::Program program, buildProgram(module, [&](KernelOp kernel) {
                           return kernels.indexOf(kernel);
                         }));
  TENON_RETURN_IF_ERROR(describeLibraryKernels(module, kernels, program.kernels));
  TENON_ASSIGN_OR_RETURN(std::vector<NamedSource> sources,
                         printSources(module, kernels, architecture, options.stamps));
  TENON_ASSIGN_OR_RETURN(std::vector<CompiledSource> compiled,
                         compileSources(sources, architecture, options.threads));
  for (auto [code, named] : llvm::enumerate(sources)) {
    const KernelSource& source = named.source;
    runtime::Kernel& kernel = program.kernels[named.index];
    kernel.symbol = source.symbol;
    kernel.code = static_cast<uint32_t>(code);
    kernel.launch = runtime::CudaLaunch{static_cast<uint32_t>(source.resources.threads),
                                        static_cast<uint32_t>(source.resources.dynamicSmemBytes),
                                        source.pdl, options.stamps, source.tensorMaps};
    if (options.kernels)
      options.kernels->push_back(describeKernel(named, compiled[code]));
    program.code.emplace_back(std::move(compiled[code].cubin));
  }
  TENON_RETURN_IF_ERROR(runtime::validateProgram(program));
  return program;
}

} // namespace tenon::codegen
