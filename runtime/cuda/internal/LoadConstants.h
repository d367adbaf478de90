#ifndef TENON_RUNTIME_CUDA_INTERNAL_LOADCONSTANTS_H
#define TENON_RUNTIME_CUDA_INTERNAL_LOADCONSTANTS_H

#include "runtime/cuda/internal/DeviceProgramMemory.h"

namespace tenon::runtime::internal {

/// Brings every constant of `program` to its place in `memory` and returns once all are there:
/// ranges of the model files, which are mapped and checked as `mapSourceFiles` says, one after the
/// other; embedded bytes; random values, made on the device meanwhile.
absl::StatusOr<CudaLoadTimes> loadConstants(const Device& device, const Program& program,
                                            const DeviceProgramMemory& memory, CUstream stream);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_LOADCONSTANTS_H
