#ifndef TENON_TESTS_RUNTIME_CUDA_GPUTEST_H
#define TENON_TESTS_RUNTIME_CUDA_GPUTEST_H

#include <gtest/gtest.h>

#include "runtime/cuda/Devices.h"

namespace tenon::runtime::test {

/// A test that needs a GPU for which the test kernels are compiled (compute capability 9.0), and is
/// skipped elsewhere.
class GpuTest : public testing::Test {
protected:
  void SetUp() override {
    absl::StatusOr<std::vector<CudaDeviceInfo>> devices = listCudaDevices();
    ASSERT_EQ(devices.status(), absl::OkStatus());
    if (devices->empty())
      GTEST_SKIP() << "no CUDA device on this machine";
    if (devices->front().capabilityMajor != 9)
      GTEST_SKIP() << "the test kernels are for compute capability 9.0, not "
                   << devices->front().name;
  }
};

} // namespace tenon::runtime::test

#endif // TENON_TESTS_RUNTIME_CUDA_GPUTEST_H
