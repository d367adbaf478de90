#ifndef TENON_RUNTIME_CUDA_INTERNAL_DEVICEPROGRAMMEMORY_H
#define TENON_RUNTIME_CUDA_INTERNAL_DEVICEPROGRAMMEMORY_H

#include <vector>

#include "runtime/cuda/CudaExecutor.h"
#include "runtime/cuda/internal/Device.h"
#include "runtime/program/Program.h"

namespace tenon::runtime::internal {

/// Where the ports of a function lie in the memory for ports, in bytes. Inputs come first, so that
/// one copy brings all of them.
struct PortLayout {
  std::vector<uint64_t> inputs;
  std::vector<uint64_t> outputs;
  uint64_t inputBytes = 0; ///< where the inputs end
  uint64_t totalBytes = 0;
};

PortLayout layoutPorts(const Function& function);

/// What `program` needs of the device's memory.
CudaMemoryUse computeMemoryUse(const Program& program);

/// ResourceExhausted if `use` exceeds what is free: says what was asked for what, what is free,
/// and, where the states are the model's caches, the context that would fit.
absl::Status checkMemoryFits(const Program& program, const CudaMemoryUse& use,
                             const std::string& deviceName, const Device::Memory& memory);

/// The device memory of a loaded program. Constants, states and ports start at multiples of 256
/// bytes.
class DeviceProgramMemory {
public:
  /// Allocates what `program` needs, after checking that it fits; fills nothing.
  static absl::StatusOr<DeviceProgramMemory> create(const Device& device, const Program& program);

  const CudaMemoryUse& use() const { return memoryUse; }

  /// The address of an argument of a step of `function`.
  CUdeviceptr address(size_t function, const BufferRef& ref) const;
  CUdeviceptr constant(size_t index) const { return constants.get() + constantOffsets[index]; }
  CUdeviceptr ports() const { return portMemory.get(); }
  CUdeviceptr libraryWorkspace() const { return libraryMemory.get(); }
  const PortLayout& portLayout(size_t function) const { return portLayouts[function]; }

  /// Starts making every byte of every state zero.
  absl::Status clearStates(const Driver& driver, CUstream stream) const;

private:
  CudaMemoryUse memoryUse;
  std::vector<uint64_t> constantOffsets;
  std::vector<uint64_t> stateOffsets;
  std::vector<PortLayout> portLayouts;
  DeviceMemory constants;
  DeviceMemory states;
  DeviceMemory workspace;
  DeviceMemory portMemory;
  DeviceMemory libraryMemory;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_DEVICEPROGRAMMEMORY_H
