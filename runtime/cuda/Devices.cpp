#include "runtime/cuda/Devices.h"

#include <array>

#include "absl/strings/str_format.h"
#include "runtime/cuda/internal/Driver.h"
#include "support/Status.h"

namespace tenon::runtime {

using internal::Driver;

absl::StatusOr<std::vector<CudaDeviceInfo>> listCudaDevices() {
  absl::StatusOr<const Driver*> driver = Driver::get();
  if (absl::IsNotFound(driver.status()))
    return std::vector<CudaDeviceInfo>();
  if (!driver.ok())
    return driver.status();
  return listCudaDevicesOn(**driver);
}

static absl::StatusOr<CudaDeviceInfo> readDevice(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  CudaDeviceInfo info;
  std::array<char, 256> name{};
  size_t memoryBytes = 0;
  for (CUresult result :
       {driver.deviceGet(&device, ordinal),
        driver.deviceGetName(name.data(), name.size() - 1, device),
        driver.deviceTotalMem(&memoryBytes, device),
        driver.deviceGetAttribute(&info.capabilityMajor,
                                  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
        driver.deviceGetAttribute(&info.capabilityMinor,
                                  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
        driver.deviceGetAttribute(&info.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                  device),
        driver.driverGetVersion(&info.driverVersion)})
    TENON_RETURN_IF_ERROR(
        driver.check(result, absl::StrFormat("read the properties of CUDA device %d", ordinal)));
  info.name = name.data();
  info.memoryBytes = memoryBytes;
  return info;
}

absl::StatusOr<std::vector<CudaDeviceInfo>> listCudaDevicesOn(const Driver& driver) {
  int count = 0;
  TENON_RETURN_IF_ERROR(driver.check(driver.deviceGetCount(&count), "count the CUDA devices"));
  std::vector<CudaDeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    TENON_ASSIGN_OR_RETURN(CudaDeviceInfo info, readDevice(driver, ordinal));
    devices.push_back(std::move(info));
  }
  return devices;
}

absl::StatusOr<CudaDeviceLimits> readCudaLimits(int ordinal) {
  TENON_ASSIGN_OR_RETURN(const Driver* driver, Driver::get());
  return readCudaLimitsOn(*driver, ordinal);
}

absl::StatusOr<CudaDeviceLimits> readCudaLimitsOn(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  CudaDeviceLimits limits;
  size_t memoryBytes = 0;
  auto check = [&](CUresult result) {
    return driver.check(result, absl::StrFormat("read the limits of CUDA device %d", ordinal));
  };
  TENON_RETURN_IF_ERROR(check(driver.deviceGet(&device, ordinal)));
  TENON_RETURN_IF_ERROR(check(driver.deviceTotalMem(&memoryBytes, device)));
  limits.memoryBytes = memoryBytes;
  struct Limit {
    int* value;
    CUdevice_attribute attribute;
  };
  for (const Limit& limit :
       {Limit{&limits.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        Limit{&limits.l2Bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
        Limit{&limits.sharedBytesPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
        Limit{&limits.sharedBytesPerMultiprocessor,
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
        Limit{&limits.registersPerMultiprocessor,
              CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
        Limit{&limits.threadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
        Limit{&limits.blocksPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR}})
    TENON_RETURN_IF_ERROR(check(driver.deviceGetAttribute(limit.value, limit.attribute, device)));
  return limits;
}

} // namespace tenon::runtime
