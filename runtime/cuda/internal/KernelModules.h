#ifndef TENON_RUNTIME_CUDA_INTERNAL_KERNELMODULES_H
#define TENON_RUNTIME_CUDA_INTERNAL_KERNELMODULES_H

#include <cstddef>
#include <vector>

#include "runtime/cuda/internal/Device.h"
#include "runtime/program/Program.h"

namespace tenon::runtime::internal {

/// Loads a cubin, or PTX text ending in a zero byte, into the current context. An error holds what
/// the driver logged; `what` names the code in it. FailedPrecondition if it is for another kind of
/// device.
absl::StatusOr<Module> loadModule(const Device& device, const void* image, std::string_view what);

/// A kernel ready to be launched.
struct LoadedKernel {
  CUfunction function = nullptr; ///< null for a library's routine
  size_t pointers = 0;           ///< that it takes
  size_t tensorMaps = 0;         ///< that it takes after them
};

/// The code of a program on a device.
class KernelModules {
public:
  /// Loads every cubin of `program`, which has been validated, finds its kernels and checks that
  /// the device can launch them as the program says. Errors name the kernel, what it asks for and
  /// what the device has.
  static absl::StatusOr<KernelModules> load(const Device& device, const Program& program);

  /// Of kernel `index` of the program.
  const LoadedKernel& kernel(size_t index) const { return kernels[index]; }

private:
  std::vector<Module> modules;
  std::vector<LoadedKernel> kernels;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_KERNELMODULES_H
