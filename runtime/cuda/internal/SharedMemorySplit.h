#ifndef TENON_RUNTIME_CUDA_INTERNAL_SHAREDMEMORYSPLIT_H
#define TENON_RUNTIME_CUDA_INTERNAL_SHAREDMEMORYSPLIT_H

#include <span>

#include "runtime/cuda/internal/KernelModules.h"

namespace tenon::runtime::internal {

/// Makes multiprocessors divide their memory between shared memory and the first-level cache in one
/// way while a function runs whose program asks for it (`Function::sharedPercent`). They change the
/// division only when no block is there, so that a kernel that prefers another one waits for all
/// blocks of the kernel before it (docs/notebook/2026-11-28-warps-and-pieces-of-one-row.md).
///
/// Shared memory is what two steps need of which a block of the second starts beside one of the
/// first, as far as registers, threads and shared memory allow; the rest is cache. Functions that
/// would need more than their program grants keep what the driver chooses for each kernel. `kernels`
/// are those of the program, which are told what they prefer.
absl::Status splitSharedMemory(const Device& device, const Program& program,
                               std::span<const LoadedKernel> kernels);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_SHAREDMEMORYSPLIT_H
