#ifndef TENON_RUNTIME_CUDA_DEVICES_H
#define TENON_RUNTIME_CUDA_DEVICES_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::runtime {

namespace internal {
struct Driver;
} // namespace internal

/// An NVIDIA GPU of this machine.
struct CudaDeviceInfo {
  std::string name;
  int capabilityMajor = 0; ///< of the compute capability
  int capabilityMinor = 0;
  int multiprocessors = 0;
  uint64_t memoryBytes = 0;
  int driverVersion = 0; ///< the CUDA version that the driver supports, 1000 · major + 10 · minor
};

/// The GPUs that the driver shows, in its order; none where there is no driver. An error where
/// there is a driver that does not work.
absl::StatusOr<std::vector<CudaDeviceInfo>> listCudaDevices();
/// The same of a given driver.
absl::StatusOr<std::vector<CudaDeviceInfo>> listCudaDevicesOn(const internal::Driver& driver);

/// What a GPU has, as its driver says.
struct CudaDeviceLimits {
  int multiprocessors = 0;
  int l2Bytes = 0;
  int sharedBytesPerBlock = 0; ///< at most, where a kernel asks for it
  int sharedBytesPerMultiprocessor = 0;
  int registersPerMultiprocessor = 0;
  int threadsPerMultiprocessor = 0;
  int blocksPerMultiprocessor = 0;
  uint64_t memoryBytes = 0;
};

/// The limits of device number `ordinal`. NotFound where there is no driver.
absl::StatusOr<CudaDeviceLimits> readCudaLimits(int ordinal);
/// The same of a given driver.
absl::StatusOr<CudaDeviceLimits> readCudaLimitsOn(const internal::Driver& driver, int ordinal);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CUDA_DEVICES_H
