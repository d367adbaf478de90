#include "tools/driver/MakeExecutor.h"

#include <iostream>

#include "absl/strings/str_format.h"
#ifdef TENON_CPU
#include "runtime/cpu/CpuExecutor.h"
#include "runtime/cpu/UsableCores.h"
#endif
#ifdef TENON_CUDA
#include "runtime/cuda/CudaExecutor.h"
#endif

namespace tenon::tools {

void ExecutorOptions::setLaunch(std::string_view mode) {
  graphs = mode != "stream";
  dependentLaunches = mode == "graph-pdl";
}

absl::StatusOr<std::unique_ptr<runtime::Executor>> makeExecutor(runtime::Program program,
                                                                const ExecutorOptions& options) {
#ifdef TENON_CPU
  if (program.device == "cpu") {
    int cores = runtime::usableCores();
    if (options.threads > cores)
      std::cerr << absl::StrFormat("warning: --threads: %d threads share %d cores, which is slower "
                                   "than a thread a core\n",
                                   options.threads, cores);
    return runtime::CpuExecutor::create(std::move(program), {.threads = options.threads});
  }
#endif
#ifdef TENON_CUDA
  if (program.device == "cuda")
    return runtime::CudaExecutor::create(std::move(program),
                                         {.device = options.gpu,
                                          .graphs = options.graphs,
                                          .dependentLaunches = options.dependentLaunches});
#endif
  return absl::UnimplementedError(absl::StrFormat(
      "this build runs no programs for device %s, but the program is one", program.device));
}

} // namespace tenon::tools
