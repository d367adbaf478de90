#ifndef TENON_TOOLS_DRIVER_MAKEEXECUTOR_H
#define TENON_TOOLS_DRIVER_MAKEEXECUTOR_H

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// What flags say about running a program, on whichever device it is for.
struct ExecutorOptions {
  int threads = 0;               ///< of a CPU; 0: every core that the process may use
  int gpu = 0;                   ///< number of the GPU, as the driver counts them
  bool graphs = true;            ///< whether a GPU replays calls as CUDA graphs
  bool dependentLaunches = true; ///< whether kernels start early there that may

  /// Sets both as `--launch` says: `stream`, `graph` or `graph-pdl`.
  void setLaunch(std::string_view mode);
};

/// Loads `program` on the device that it was compiled for. Unimplemented where this build has no
/// runtime for it; else fails as the device's executor.
absl::StatusOr<std::unique_ptr<runtime::Executor>> makeExecutor(runtime::Program program,
                                                                const ExecutorOptions& options);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_MAKEEXECUTOR_H
