#ifndef TENON_TESTS_RUNTIME_CUDA_CUDAEXECUTORTEST_H
#define TENON_TESTS_RUNTIME_CUDA_CUDAEXECUTORTEST_H

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cuda/CudaExecutor.h"
#include "runtime/program/RandomValues.h"
#include "tests/runtime/cuda/FakeDriver.h"
#include "tests/runtime/cuda/TestPrograms.h"

namespace tenon::runtime::test {

inline const Floats zeros(8, 0.0f);
inline const Floats ones(8, 1.0f);

/// The executor on a fake device, whose kernels are those of the test programs.
class CudaExecutorTest : public testing::Test {
protected:
  CudaExecutorTest() {
    auto& kernels = fake.state().kernels;
    kernels["addScaled"] = {3, [](void* const* buffers, uint32_t blocks) {
                              for (uint32_t i = 0; i < blocks * 4; ++i)
                                floats(buffers[2])[i] =
                                    floats(buffers[0])[i] + 10.0f * floats(buffers[1])[i];
                            }};
    kernels["twice"] = {2, [](void* const* buffers, uint32_t) {
                          for (int i = 0; i < 8; ++i)
                            floats(buffers[1])[i] = 2.0f * floats(buffers[0])[i];
                        }};
    kernels["accumulate"] = {3, [](void* const* buffers, uint32_t) {
                               for (int i = 0; i < 8; ++i)
                                 floats(buffers[2])[i] = floats(buffers[1])[i] +=
                                     floats(buffers[0])[i];
                             }};
    kernels["tenonFillRandom"].rawBody = [](void** parameters) {
      RandomRange range{*static_cast<uint64_t*>(parameters[1]) * 4,
                        *static_cast<uint64_t*>(parameters[2]), *static_cast<float*>(parameters[4]),
                        *static_cast<float*>(parameters[3])};
      fillRandomValues(range, "f32", {*static_cast<std::byte**>(parameters[0]), range.bytes});
    };
  }

  Program makeProgram() const { return makeCudaProgram(model, makeCubin()); }

  std::unique_ptr<CudaExecutor> load(Program program, const CudaExecutorOptions& options = {}) {
    auto executor = CudaExecutor::createOn(fake.driver(), std::move(program), options);
    EXPECT_EQ(executor.status(), absl::OkStatus());
    return executor.ok() ? *std::move(executor) : nullptr;
  }

  void expectRefused(Program program, absl::StatusCode code, const std::string& message,
                     const CudaExecutorOptions& options = {}) {
    absl::Status status =
        CudaExecutor::createOn(fake.driver(), std::move(program), options).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(message));
    EXPECT_EQ(fake.state().liveBytes, 0u);
    EXPECT_EQ(fake.state().liveObjects, 0);
  }

  absl::Status failingCall(CudaExecutor& executor, size_t function) {
    Floats x(8), y(8);
    std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
    std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(y))};
    return executor.run(function, inputs, outputs);
  }

  static float* floats(void* buffer) { return static_cast<float*>(buffer); }

  FakeDriver fake;
  ModelFile model;
};

} // namespace tenon::runtime::test

#endif // TENON_TESTS_RUNTIME_CUDA_CUDAEXECUTORTEST_H
