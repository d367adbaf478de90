#ifndef TENON_RUNTIME_CUDA_INTERNAL_DEVICE_H
#define TENON_RUNTIME_CUDA_INTERNAL_DEVICE_H

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/cuda/internal/Driver.h"

namespace tenon::runtime::internal {

/// An object of the driver, released by the driver's function `release` at the end of its life. The
/// device's context must be current then.
template <typename T, auto release> class Owned {
public:
  Owned() = default;
  Owned(const Driver& driver, T object) : driver(&driver), object(object) {}
  Owned(Owned&& other) noexcept
      : driver(std::exchange(other.driver, nullptr)), object(other.object) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(driver, other.driver);
    std::swap(object, other.object);
    return *this;
  }
  ~Owned() {
    if (driver)
      (driver->*release)(object);
  }

  explicit operator bool() const { return driver != nullptr; }
  T get() const { return object; }

private:
  const Driver* driver = nullptr;
  T object{};
};

using PrimaryContext = Owned<CUdevice, &Driver::devicePrimaryCtxRelease>;
using DeviceMemory = Owned<CUdeviceptr, &Driver::memFree>;
using PinnedMemory = Owned<void*, &Driver::memFreeHost>;
using Stream = Owned<CUstream, &Driver::streamDestroy>;
using Event = Owned<CUevent, &Driver::eventDestroy>;
using Module = Owned<CUmodule, &Driver::moduleUnload>;
using Graph = Owned<CUgraph, &Driver::graphDestroy>;
using GraphExecutable = Owned<CUgraphExec, &Driver::graphExecDestroy>;

/// One GPU with its primary context, which other users of the process share.
class Device {
public:
  /// Opens device number `ordinal` and makes its context current. NotFound if there is no such
  /// device; the message says how many there are.
  static absl::StatusOr<Device> open(const Driver& driver, int ordinal);

  const Driver& driver() const { return *table; }
  const std::string& name() const { return deviceName; }
  int ordinal() const { return number; }
  CUcontext context() const { return primary; }
  /// Makes the device's context the calling thread's: before any other call from a thread.
  absl::Status makeCurrent() const;

  absl::StatusOr<int> attribute(CUdevice_attribute attribute) const;
  /// "NVIDIA H200 (compute capability 9.0)".
  absl::StatusOr<std::string> describe() const;

  struct Memory {
    uint64_t freeBytes = 0;
    uint64_t totalBytes = 0;
  };
  absl::StatusOr<Memory> memory() const;

  /// Device memory, aligned to 256 bytes at least, not zeroed; nothing for 0 bytes. `purpose` is
  /// for messages.
  absl::StatusOr<DeviceMemory> allocate(uint64_t bytes, std::string_view purpose) const;
  /// Page-locked host memory; nothing for 0 bytes.
  absl::StatusOr<PinnedMemory> allocatePinned(uint64_t bytes, std::string_view purpose) const;
  absl::StatusOr<Stream> createStream() const;
  absl::StatusOr<Event> createEvent(bool timed) const;

private:
  Device(const Driver& driver) : table(&driver) {}

  const Driver* table;
  int number = 0; ///< as the driver counts
  CUdevice device = 0;
  CUcontext primary = nullptr;
  PrimaryContext retained;
  std::string deviceName;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_DEVICE_H
