#ifndef TENON_RUNTIME_CUDA_INTERNAL_DEVICESTEPMEMORY_H
#define TENON_RUNTIME_CUDA_INTERNAL_DEVICESTEPMEMORY_H

#include "runtime/StepObserver.h"
#include "runtime/cuda/internal/DeviceProgramMemory.h"

namespace tenon::runtime::internal {

/// The memory of a call of `function` on a GPU.
class DeviceStepMemory final : public StepMemory {
public:
  /// All of it outlives the object.
  DeviceStepMemory(const Device& device, const DeviceProgramMemory& memory, CUstream stream,
                   size_t function)
      : device(device), memory(memory), stream(stream), function(function) {}

  absl::Status read(const BufferRef& ref, std::span<std::byte> bytes) override;
  absl::Status write(const BufferRef& ref, std::span<const std::byte> bytes) override;

private:
  const Device& device;
  const DeviceProgramMemory& memory;
  CUstream stream;
  size_t function;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_DEVICESTEPMEMORY_H
