#include "runtime/cuda/internal/DeviceStepMemory.h"

#include "support/Status.h"

namespace tenon::runtime::internal {

absl::Status DeviceStepMemory::read(const BufferRef& ref, std::span<std::byte> bytes) {
  const Driver& driver = device.driver();
  TENON_RETURN_IF_ERROR(driver.check(
      driver.memcpyDtoHAsync(bytes.data(), memory.address(function, ref), bytes.size(), stream),
      "read a step's argument"));
  return driver.check(driver.streamSynchronize(stream), "read a step's argument");
}

absl::Status DeviceStepMemory::write(const BufferRef& ref, std::span<const std::byte> bytes) {
  const Driver& driver = device.driver();
  TENON_RETURN_IF_ERROR(driver.check(
      driver.memcpyHtoDAsync(memory.address(function, ref), bytes.data(), bytes.size(), stream),
      "write a step's argument"));
  return driver.check(driver.streamSynchronize(stream), "write a step's argument");
}

} // namespace tenon::runtime::internal
