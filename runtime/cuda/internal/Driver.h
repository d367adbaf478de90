#ifndef TENON_RUNTIME_CUDA_INTERNAL_DRIVER_H
#define TENON_RUNTIME_CUDA_INTERNAL_DRIVER_H

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <cudaTypedefs.h>

namespace tenon::runtime::internal {

/// The functions of the CUDA driver API that the runtime calls: the member, the symbol, and the
/// CUDA version whose signature it has (the suffix of its type in cudaTypedefs.h).
#define TENON_CUDA_FUNCTIONS(X)                                                                    \
  X(init, cuInit, 2000)                                                                            \
  X(driverGetVersion, cuDriverGetVersion, 2020)                                                    \
  X(getErrorName, cuGetErrorName, 6000)                                                            \
  X(getErrorString, cuGetErrorString, 6000)                                                        \
  X(deviceGetCount, cuDeviceGetCount, 2000)                                                        \
  X(deviceGet, cuDeviceGet, 2000)                                                                  \
  X(deviceGetName, cuDeviceGetName, 2000)                                                          \
  X(deviceGetAttribute, cuDeviceGetAttribute, 2000)                                                \
  X(deviceTotalMem, cuDeviceTotalMem, 3020)                                                        \
  X(devicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000)                                        \
  X(devicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 11000)                                     \
  X(ctxSetCurrent, cuCtxSetCurrent, 4000)                                                          \
  X(memGetInfo, cuMemGetInfo, 3020)                                                                \
  X(memAlloc, cuMemAlloc, 3020)                                                                    \
  X(memFree, cuMemFree, 3020)                                                                      \
  X(memHostAlloc, cuMemHostAlloc, 2020)                                                            \
  X(memFreeHost, cuMemFreeHost, 2000)                                                              \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync, 3020)                                                      \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync, 3020)                                                      \
  X(memsetD8Async, cuMemsetD8Async, 3020)                                                          \
  X(streamCreate, cuStreamCreate, 2000)                                                            \
  X(streamDestroy, cuStreamDestroy, 4000)                                                          \
  X(streamSynchronize, cuStreamSynchronize, 2000)                                                  \
  X(streamQuery, cuStreamQuery, 2000)                                                              \
  X(streamBeginCapture, cuStreamBeginCapture, 10010)                                               \
  X(streamEndCapture, cuStreamEndCapture, 10000)                                                   \
  X(eventCreate, cuEventCreate, 2000)                                                              \
  X(eventDestroy, cuEventDestroy, 4000)                                                            \
  X(eventRecordWithFlags, cuEventRecordWithFlags, 11010)                                           \
  X(eventSynchronize, cuEventSynchronize, 2000)                                                    \
  X(eventElapsedTime, cuEventElapsedTime, 2000)                                                    \
  X(moduleLoadDataEx, cuModuleLoadDataEx, 2010)                                                    \
  X(moduleUnload, cuModuleUnload, 2000)                                                            \
  X(moduleGetFunction, cuModuleGetFunction, 2000)                                                  \
  X(funcLoad, cuFuncLoad, 12040)                                                                   \
  X(funcGetAttribute, cuFuncGetAttribute, 2020)                                                    \
  X(funcSetAttribute, cuFuncSetAttribute, 9000)                                                    \
  X(funcGetParamInfo, cuFuncGetParamInfo, 12040)                                                   \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled, 12000)                                           \
  X(launchKernelEx, cuLaunchKernelEx, 11060)                                                       \
  X(graphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040)                                 \
  X(graphUpload, cuGraphUpload, 11010)                                                             \
  X(graphLaunch, cuGraphLaunch, 10000)                                                             \
  X(graphDestroy, cuGraphDestroy, 10000)                                                           \
  X(graphExecDestroy, cuGraphExecDestroy, 10000)

/// The CUDA driver, opened at run time: a table of its functions. Nothing links against CUDA.
struct Driver {
#define TENON_DECLARE(member, symbol, version) PFN_##symbol##_v##version member = nullptr;
  TENON_CUDA_FUNCTIONS(TENON_DECLARE)
#undef TENON_DECLARE

  /// This machine's driver, opened and initialised at the first call. NotFound where there is none.
  static absl::StatusOr<const Driver*> get();

  /// The functions of the driver library `path`, which stays open. NotFound if it cannot be opened,
  /// FailedPrecondition if it is no CUDA driver or too old for one of the functions.
  static absl::StatusOr<Driver> open(const std::string& path);

  /// OK for CUDA_SUCCESS; else "cannot ACTION: NAME (explanation)", as ResourceExhausted where
  /// memory ran out, otherwise Internal.
  absl::Status check(CUresult result, std::string_view action) const {
    return result == CUDA_SUCCESS ? absl::OkStatus() : error(result, action);
  }

  /// "NAME (explanation)" of an error.
  std::string describe(CUresult result) const;

private:
  absl::Status error(CUresult result, std::string_view action) const;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_DRIVER_H
