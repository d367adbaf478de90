#ifndef TENON_CODEGEN_CUDA_KERNELSOURCE_H
#define TENON_CODEGEN_CUDA_KERNELSOURCE_H

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/cuda/Emitter.h"
#include "kernels/cuda/BlockResources.h"
#include "mlir/IR/BuiltinOps.h"

namespace tenon::codegen::cuda {

/// The source of one distinct kernel of a module, with what its launch takes.
struct KernelSource {
  std::string symbol; ///< of the function in its own source and cubin
  std::string text;   ///< CUDA C++, includes by name from `deviceHeaders`
  kernels::BlockResources resources;
  bool pdl = false;
  std::vector<runtime::TensorMap> tensorMaps; ///< that the kernel takes
};

/// The architecture of a module's target: its feature `sm_…`. InvalidArgument where the target is
/// no CUDA device or older than sm_80.
absl::StatusOr<Architecture> readArchitecture(mlir::ModuleOp module);

/// Prints `kernel`; `spaces` as in `KernelContext`, `stamps` as in `PhaseStructure`. Emits an error
/// where its schedule is none that an emitter computes.
mlir::FailureOr<KernelSource> printKernel(KernelOp kernel, const Architecture& architecture,
                                          std::vector<MemorySpace> spaces, bool stamps);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_KERNELSOURCE_H
