#include "runtime/cuda/internal/Driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cuda/Devices.h"
#include "runtime/cuda/internal/CublasLt.h"
#include "tests/runtime/cuda/FakeDriver.h"
#include "tests/runtime/cuda/TestPrograms.h"

namespace tenon::runtime {
namespace {

using internal::CublasLt;
using internal::Driver;
using testing::HasSubstr;
using testing::StartsWith;

template <typename T>
void expectRefused(const absl::StatusOr<T>& result, absl::StatusCode code,
                   const std::string& message) {
  EXPECT_EQ(result.status().code(), code);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(message));
}

TEST(Driver, RefusesAMissingLibrary) {
  expectRefused(Driver::open("libtenon-missing.so.1"), absl::StatusCode::kNotFound,
                "no CUDA driver on this machine: libtenon-missing.so.1: ");
}

TEST(Driver, RefusesALibraryThatIsNoDriver) {
  expectRefused(Driver::open("libc.so.6"), absl::StatusCode::kFailedPrecondition,
                "libc.so.6: expects a CUDA driver of version 12.4 or newer, but found no "
                "cuGetProcAddress_v2");
}

TEST(Driver, RefusesAnOldDriver) {
  expectRefused(Driver::open(TENON_OLD_DRIVER), absl::StatusCode::kFailedPrecondition,
                "expects a CUDA driver of version 12.4 or newer, but found no cuFuncLoad");
}

TEST(Driver, DescribesErrors) {
  test::FakeDriver fake;
  EXPECT_EQ(fake.driver().describe(CUDA_ERROR_UNKNOWN), "CUDA_ERROR_FAKE (it failed)");
  fake.fail("cuGetErrorString", CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(fake.driver().describe(CUDA_ERROR_UNKNOWN), "CUDA_ERROR_FAKE");
  fake.fail("cuGetErrorName", CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(fake.driver().describe(CUDA_ERROR_UNKNOWN), "CUDA error 999");
}

TEST(Driver, AMachineWithoutOneSaysSo) {
  absl::StatusOr<const Driver*> driver = Driver::get();
  if (driver.ok())
    GTEST_SKIP() << "this machine has a CUDA driver";
  EXPECT_EQ(driver.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(driver.status().message()), StartsWith("no CUDA d"));
  auto devices = listCudaDevices();
  ASSERT_EQ(devices.status(), absl::OkStatus());
  EXPECT_TRUE(devices->empty());
  Program program;
  program.device = "cuda";
  EXPECT_EQ(CudaExecutor::create(program, {}).status(), driver.status());
}

TEST(Devices, ListsEveryDevice) {
  test::FakeDriver fake;
  fake.state().devices = 2;
  auto devices = listCudaDevicesOn(fake.driver());
  ASSERT_EQ(devices.status(), absl::OkStatus());
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[1].name, "Fake 1");
  EXPECT_EQ((*devices)[1].capabilityMajor, 9);
  EXPECT_EQ((*devices)[1].capabilityMinor, 0);
  EXPECT_EQ((*devices)[1].multiprocessors, 132);
  EXPECT_EQ((*devices)[1].memoryBytes, uint64_t{1} << 31);
  EXPECT_EQ((*devices)[1].driverVersion, 13'000);
}

TEST(Devices, NamesWhatFails) {
  test::FakeDriver fake;
  fake.fail("cuDeviceTotalMem", CUDA_ERROR_UNKNOWN);
  expectRefused(listCudaDevicesOn(fake.driver()), absl::StatusCode::kInternal,
                "cannot read the properties of CUDA device 0: CUDA_ERROR_FAKE");
  fake.fail("cuDeviceGetCount", CUDA_ERROR_UNKNOWN);
  expectRefused(listCudaDevicesOn(fake.driver()), absl::StatusCode::kInternal,
                "cannot count the CUDA devices");
}

TEST(CublasLt, RefusesAMissingLibrary) {
  const std::string paths[] = {"libtenon-missing.so.1", "/tenon/missing.so"};
  expectRefused(CublasLt::open(paths), absl::StatusCode::kNotFound,
                "the program uses cuBLASLt, which this machine lacks; libtenon-missing.so.1: ");
  expectRefused(CublasLt::open(paths), absl::StatusCode::kNotFound, "; /tenon/missing.so: ");
}

TEST(CublasLt, RefusesALibraryThatIsAnother) {
  const std::string paths[] = {"libc.so.6"};
  expectRefused(CublasLt::open(paths), absl::StatusCode::kFailedPrecondition,
                "libc.so.6: expects cuBLASLt 13, but found no cublasLtCreate");
}

TEST(CublasLt, RefusesAProductThatItCannotCompute) {
  const std::string paths[] = {TENON_NO_ALGORITHMS};
  absl::StatusOr<CublasLt> library = CublasLt::open(paths);
  ASSERT_EQ(library.status(), absl::OkStatus());
  test::FakeDriver fake;
  auto device = internal::Device::open(fake.driver(), 0);
  ASSERT_EQ(device.status(), absl::OkStatus());
  const LibraryMatmul matmul = {.m = 1, .n = 2, .k = 3};
  expectRefused(internal::MatmulPlan::create(*library, matmul, {}, {*device}),
                absl::StatusCode::kUnimplemented, "cuBLASLt has no implementation");
}

} // namespace
} // namespace tenon::runtime
