// In a process of its own: after the fault, the device refuses every call.
#include <gmock/gmock.h>

#include "faultCubin.h"
#include "tests/runtime/cuda/GpuTest.h"
#include "tests/runtime/cuda/TestPrograms.h"

namespace tenon::runtime {
namespace {

using testing::HasSubstr;

class FaultGpuTest : public test::GpuTest {};

TEST_F(FaultGpuTest, CheckedStepsNameTheFaultyOne) {
  test::ModelFile model;
  auto bytes = std::as_bytes(std::span(faultCubin));
  Program program = test::makeCudaProgram(model, SharedBytes({bytes.begin(), bytes.end()}));
  program.kernels.push_back({"fault", 0, CudaLaunch{1, 0, false}});
  program.functions[test::Sum].steps.insert(program.functions[test::Sum].steps.begin() + 1,
                                            {3, 1, {{Space::Workspace, 0, 0, 4}}, "wild store"});
  describeKernelsBySteps(program);
  auto executor = CudaExecutor::create(program, {.checkSteps = true});
  ASSERT_EQ(executor.status(), absl::OkStatus());
  auto other = CudaExecutor::create(program, {});
  ASSERT_EQ(other.status(), absl::OkStatus());
  test::Floats x(8), y(8);
  std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
  std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(y))};
  absl::Status status = (*executor)->run(test::Sum, inputs, outputs);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("function sum: step 1 wild store (kernel fault: 1 blocks of 1 threads, 0 "
                        "bytes of shared memory): cannot finish it: CUDA_ERROR_ILLEGAL_ADDRESS"));
  // Every later call fails, says so, and breaks nothing.
  EXPECT_THAT(std::string((*other)->run(test::Sum, inputs, outputs).message()),
              HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

} // namespace
} // namespace tenon::runtime
