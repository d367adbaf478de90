#ifndef TENON_CODEGEN_CUDA_COMPILEFORCUDA_H
#define TENON_CODEGEN_CUDA_COMPILEFORCUDA_H

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/cuda/BlockResources.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/program/Program.h"

namespace tenon::codegen {

/// One distinct kernel of a module, for inspection.
struct CudaKernel {
  std::string name;               ///< `k3_rms_norm`: unique in the module
  std::string source;             ///< CUDA C++
  std::string ptx;                ///< empty where only sources were asked for
  kernels::BlockResources stated; ///< what its schedule says that a block takes
  // As ptxas reports them; 0 where only sources were asked for.
  int registers = 0;
  int spillBytes = 0;
  int staticSmemBytes = 0;
};

struct CudaCodegenOptions {
  /// If set, receives every distinct kernel.
  std::vector<CudaKernel>* kernels = nullptr;
  unsigned threads = 0; ///< that compile; 0: as many as the machine has cores
  /// Kernels in which every block says when it started, passed its wait and ended
  /// (`runtime::CudaLaunch::stamps`).
  bool stamps = false;
};

/// Compiles a planned module for the CUDA device that its `tenon.target` describes: every distinct
/// kernel region becomes a cubin (made by NVRTC, or found in the cache; no GPU and no driver are
/// needed), every `tenon.kernel` a step. Chooses nothing: the schedule of each kernel names its
/// emitter and all of its parameters, or cuBLASLt, which is resolved when the program is loaded.
/// The module is not changed.
///
/// Fails with InvalidArgument, naming the location, where the module is not planned, a region or
/// schedule is none that an emitter computes, or the target is no CUDA device; with
/// FailedPrecondition where NVRTC cannot be opened.
absl::StatusOr<runtime::Program> compileForCuda(mlir::ModuleOp module,
                                                const CudaCodegenOptions& options);

/// The sources of the distinct kernels of a scheduled module, without NVRTC.
absl::StatusOr<std::vector<CudaKernel>> printCudaKernels(mlir::ModuleOp module,
                                                         bool stamps = false);

} // namespace tenon::codegen

#endif // TENON_CODEGEN_CUDA_COMPILEFORCUDA_H
