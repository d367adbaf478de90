#include "runtime/cuda/internal/Device.h"

#include <array>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

absl::StatusOr<Device> Device::open(const Driver& driver, int ordinal) {
  int count = 0;
  TENON_RETURN_IF_ERROR(driver.check(driver.deviceGetCount(&count), "count the CUDA devices"));
  if (ordinal < 0 || ordinal >= count)
    return absl::NotFoundError(absl::StrFormat(
        "expects one of this machine's %d CUDA devices, but got device %d", count, ordinal));
  Device device(driver);
  device.number = ordinal;
  TENON_RETURN_IF_ERROR(
      driver.check(driver.deviceGet(&device.device, ordinal), "open the CUDA device"));
  std::array<char, 256> name{};
  TENON_RETURN_IF_ERROR(driver.check(
      driver.deviceGetName(name.data(), name.size() - 1, device.device), "read a device's name"));
  device.deviceName = name.data();
  TENON_RETURN_IF_ERROR(driver.check(driver.devicePrimaryCtxRetain(&device.primary, device.device),
                                     absl::StrFormat("create a context on %s", device.deviceName)));
  device.retained = PrimaryContext(driver, device.device);
  TENON_RETURN_IF_ERROR(device.makeCurrent());
  return device;
}

absl::Status Device::makeCurrent() const {
  return table->check(table->ctxSetCurrent(primary), "make the device's context current");
}

absl::StatusOr<int> Device::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  TENON_RETURN_IF_ERROR(table->check(table->deviceGetAttribute(&value, attribute, device),
                                     "read an attribute of the device"));
  return value;
}

absl::StatusOr<std::string> Device::describe() const {
  TENON_ASSIGN_OR_RETURN(int major, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  TENON_ASSIGN_OR_RETURN(int minor, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  return absl::StrFormat("%s (compute capability %d.%d)", deviceName, major, minor);
}

absl::StatusOr<Device::Memory> Device::memory() const {
  size_t freeBytes = 0, totalBytes = 0;
  TENON_RETURN_IF_ERROR(
      table->check(table->memGetInfo(&freeBytes, &totalBytes), "read the device's free memory"));
  return Memory{freeBytes, totalBytes};
}

absl::StatusOr<DeviceMemory> Device::allocate(uint64_t bytes, std::string_view purpose) const {
  if (bytes == 0)
    return DeviceMemory();
  CUdeviceptr address = 0;
  CUresult result = table->memAlloc(&address, bytes);
  if (result != CUDA_SUCCESS)
    return table->check(
        result, absl::StrFormat("allocate %u bytes of device memory for %s", bytes, purpose));
  return DeviceMemory(*table, address);
}

absl::StatusOr<PinnedMemory> Device::allocatePinned(uint64_t bytes,
                                                    std::string_view purpose) const {
  if (bytes == 0)
    return PinnedMemory();
  void* address = nullptr;
  CUresult result = table->memHostAlloc(&address, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result != CUDA_SUCCESS)
    return table->check(
        result, absl::StrFormat("allocate %u bytes of pinned host memory for %s", bytes, purpose));
  return PinnedMemory(*table, address);
}

absl::StatusOr<Stream> Device::createStream() const {
  CUstream stream = nullptr;
  TENON_RETURN_IF_ERROR(
      table->check(table->streamCreate(&stream, CU_STREAM_NON_BLOCKING), "create a stream"));
  return Stream(*table, stream);
}

absl::StatusOr<Event> Device::createEvent(bool timed) const {
  CUevent event = nullptr;
  unsigned flags = timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
  TENON_RETURN_IF_ERROR(table->check(table->eventCreate(&event, flags), "create an event"));
  return Event(*table, event);
}

} // namespace tenon::runtime::internal
