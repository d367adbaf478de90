// The executor on a GPU, with kernels compiled here.
#include "runtime/cuda/CudaExecutor.h"

#include <bit>
#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "foreignCubin.h"
#include "kernelsCubin.h"
#include "runtime/program/RandomValues.h"
#include "tests/runtime/cuda/GpuTest.h"
#include "tests/runtime/cuda/TestPrograms.h"

namespace tenon::runtime {
namespace {

using test::call;
using test::Floats;
using testing::ElementsAre;
using testing::HasSubstr;

const Floats zeros(8, 0.0f);
const Floats ones(8, 1.0f);

SharedBytes cubinOf(std::span<const unsigned char> bytes) {
  auto view = std::as_bytes(bytes);
  return std::vector<std::byte>(view.begin(), view.end());
}

class CudaExecutorGpuTest : public test::GpuTest {
protected:
  Program makeProgram() const { return test::makeCudaProgram(model, cubinOf(kernelsCubin)); }

  static std::unique_ptr<CudaExecutor> load(Program program,
                                            const CudaExecutorOptions& options = {}) {
    auto executor = CudaExecutor::create(std::move(program), options);
    EXPECT_EQ(executor.status(), absl::OkStatus());
    return executor.ok() ? *std::move(executor) : nullptr;
  }

  static void expectRefused(Program program, absl::StatusCode code, const std::string& message) {
    absl::Status status = CudaExecutor::create(std::move(program), {}).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  test::ModelFile model;
};

class CudaExecutorGpuModes : public CudaExecutorGpuTest,
                             public testing::WithParamInterface<CudaExecutorOptions> {};

TEST_P(CudaExecutorGpuModes, RunsEveryFunction) {
  auto executor = load(makeProgram(), GetParam());
  EXPECT_THAT(call(*executor, test::Piece, ones),
              ElementsAre(101, 111, 121, 131, 141, 151, 161, 171));
  EXPECT_THAT(call(*executor, test::Scattered, zeros),
              ElementsAre(20000, 20010, 0, 10, 20, 30, 40, 50));
  Floats random(3);
  fillRandomValues({12, 3, 2, 0.5}, "f32", std::as_writable_bytes(std::span(random)));
  EXPECT_THAT(call(*executor, test::Random, zeros),
              ElementsAre(10 * random[0], 10 * random[1], 10 * random[2], 40, 40, 40, 40, 40));
  for (float value : {1.0f, 2.0f, 3.0f})
    EXPECT_EQ(call(*executor, test::Embedded, Floats(8, value)), Floats(8, value + 5.0f));
}

TEST_P(CudaExecutorGpuModes, StatesPersistBetweenCalls) {
  auto executor = load(makeProgram(), GetParam());
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
  EXPECT_EQ(call(*executor, test::Sum, Floats(8, 2.0f)), Floats(8, 6.0f));
  ASSERT_EQ(executor->resetStates(), absl::OkStatus());
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
}

/// A long chain of dependent launches keeps its order.
TEST_P(CudaExecutorGpuModes, KeepsTheOrderOfSteps) {
  Program program = makeProgram();
  std::vector<Step>& steps = program.functions[test::Sum].steps;
  const BufferRef first{Space::Workspace, 0, 64, 32}, second{Space::Workspace, 0, 0, 32};
  for (int i = 0; i < 10; ++i)
    for (bool back : {false, true})
      steps.insert(steps.end() - 1,
                   {1, 1, {back ? second : first, back ? first : second}, "twice"});
  auto executor = load(program, GetParam());
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 0x1p21f));
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 0x1p22f));
}

TEST_P(CudaExecutorGpuModes, RepeatsSteps) {
  auto executor = load(makeProgram(), GetParam());
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
  ASSERT_EQ(executor->repeatSteps(test::Sum, 3), absl::OkStatus());
  EXPECT_GT(executor->lastStepsNs(), 0u);
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 10.0f)) << "the state of five runs";
}

TEST_P(CudaExecutorGpuModes, TimesSteps) {
  auto executor = load(makeProgram(), GetParam());
  call(*executor, test::Sum, ones);
  EXPECT_GT(executor->lastStepsNs(), 0u);
  EXPECT_LT(executor->lastStepsNs(), 100'000'000u);
  executor->setProfiling(true);
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 4.0f));
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 6.0f));
  ASSERT_EQ(executor->profile(test::Sum).size(), 2u);
  for (const StepProfile& step : executor->profile(test::Sum)) {
    EXPECT_EQ(step.calls, 2u);
    EXPECT_GT(step.minNs, 0u);
    EXPECT_LT(step.totalNs, 100'000'000u);
  }
  EXPECT_EQ(executor->profile(test::Sum)[1].lastStartNs, executor->profile(test::Sum)[0].lastNs);
  executor->setProfiling(false);
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 8.0f));
}

INSTANTIATE_TEST_SUITE_P(Modes, CudaExecutorGpuModes,
                         testing::Values(CudaExecutorOptions{.graphs = true},
                                         CudaExecutorOptions{.dependentLaunches = false},
                                         CudaExecutorOptions{.graphs = false},
                                         CudaExecutorOptions{.checkSteps = true}),
                         [](const auto& info) {
                           return info.param.checkSteps           ? "Checked"
                                  : !info.param.dependentLaunches ? "InOrder"
                                  : info.param.graphs             ? "Graph"
                                                                  : "Stream";
                         });

TEST_F(CudaExecutorGpuTest, UploadsLargeConstants) {
  constexpr uint64_t bytes = (200 << 20) + 16;
  Program program = makeProgram();
  Floats large(bytes / 4);
  for (uint64_t i = 0; i < large.size(); ++i)
    large[i] = static_cast<float>(i % (1 << 20)); // exact in a float, also ten times
  program.constants.push_back(
      {"large", "f32", {bytes / 4}, bytes, SharedBytes(std::as_bytes(std::span(large)), nullptr)});
  BufferRef& middle = program.functions[0].steps[0].args[1];
  for (uint64_t offset : {uint64_t{0}, uint64_t{2 << 20} - 16, bytes - 32}) {
    middle = {Space::Constant, 4, offset, 32};
    auto executor = load(program);
    EXPECT_EQ(call(*executor, 0, zeros)[0], 10 * large[offset / 4]);
    EXPECT_EQ(call(*executor, 0, zeros)[7], 10 * large[offset / 4 + 7]);
  }
}

TEST_F(CudaExecutorGpuTest, RefusesCodeForAnotherDevice) {
  Program program = makeProgram();
  program.target = "b200";
  program.code = {cubinOf(foreignCubin)};
  expectRefused(program, absl::StatusCode::kFailedPrecondition,
                "cannot load object 0 of a program for b200 on NVIDIA");
}

TEST_F(CudaExecutorGpuTest, RefusesAMissingKernel) {
  Program program = makeProgram();
  program.kernels[1].symbol = "thrice";
  expectRefused(program, absl::StatusCode::kInvalidArgument,
                "kernel thrice: expects a kernel of that name in object 0, but found none");
}

TEST_F(CudaExecutorGpuTest, RefusesLaunchesThatABlockCannotHave) {
  Program program = makeProgram();
  program.kernels.push_back({"bounded", 0, CudaLaunch{128, 0, false}});
  expectRefused(program, absl::StatusCode::kInvalidArgument,
                "kernel bounded: expects at most 64 threads in a block on NVIDIA");
  program.kernels[3] = {"twice", 0, CudaLaunch{8, 232'449, false}};
  expectRefused(program, absl::StatusCode::kInvalidArgument,
                "kernel twice: expects at most 232448 bytes of shared memory");
  program.kernels[3] = {"scalar", 0, CudaLaunch{1, 0, false}};
  expectRefused(program, absl::StatusCode::kInvalidArgument,
                "kernel scalar: expects pointers as parameters, but parameter 1 has 4 bytes");
}

/// All of a block's shared memory.
TEST_F(CudaExecutorGpuTest, LaunchesWithMuchSharedMemory) {
  Program program = makeProgram();
  program.kernels[1].launch = CudaLaunch{8, 232'448, true};
  auto executor = load(program);
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
}

TEST_F(CudaExecutorGpuTest, RefusesAnotherNumberOfArguments) {
  Program program = makeProgram();
  program.functions[test::Sum].steps[1].args.pop_back();
  describeKernelsBySteps(program);
  expectRefused(program, absl::StatusCode::kInvalidArgument,
                "expects 3 arguments, which the kernel takes, but found 2");
}

TEST_F(CudaExecutorGpuTest, SaysWhatMemoryWasAskedFor) {
  Program program = makeProgram();
  program.workspaceBytes = uint64_t{1} << 39;
  expectRefused(program, absl::StatusCode::kResourceExhausted,
                "the program needs 524288.0 MiB of device memory (weights 0.0, states 0.0, "
                "workspace 524288.0, inputs and outputs 0.0, libraries 0.0), but NVIDIA");
}

/// y = x·Wᵀ by the library, beside a double sum of the rounded operands.
struct MatmulCase {
  LibraryMatmul matmul;
  double tolerance; ///< of the largest |y|
};

class MatmulGpuTest : public CudaExecutorGpuTest, public testing::WithParamInterface<MatmulCase> {
protected:
  /// Elements of `encoding` as doubles.
  static std::vector<double> widen(std::span<const std::byte> bytes, MatmulType type) {
    std::vector<double> values(bytes.size() / (type == MatmulType::F32 ? 4 : 2));
    for (size_t i = 0; i < values.size(); ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * (type == MatmulType::F32 ? 4 : 2),
                  type == MatmulType::F32 ? 4 : 2);
      values[i] = type == MatmulType::F32   ? std::bit_cast<float>(bits)
                  : type == MatmulType::F16 ? std::bit_cast<_Float16>(static_cast<uint16_t>(bits))
                                            : std::bit_cast<float>(bits << 16);
    }
    return values;
  }

  static const char* name(MatmulType type) {
    return type == MatmulType::F32 ? "f32" : type == MatmulType::F16 ? "f16" : "bf16";
  }
};

TEST_P(MatmulGpuTest, AgreesWithADoubleSum) {
  const LibraryMatmul& matmul = GetParam().matmul;
  auto [m, n, k] = std::array{matmul.m, matmul.n, matmul.k};
  uint64_t inputBytes = matmul.input == MatmulType::F32 ? 4 : 2;
  uint64_t outputBytes = matmul.output == MatmulType::F32 ? 4 : 2;
  uint64_t xBytes = m * k * inputBytes, wBytes = n * k * inputBytes, yBytes = m * n * outputBytes;
  RandomRange xRange{xBytes, 1, 0, 1}, wRange{wBytes, 2, 0, 1};
  Program program;
  program.device = "cuda";
  program.encodings = {{"f32", 1, 4}, {"f16", 1, 2}, {"bf16", 1, 2}};
  program.constants = {{"w", name(matmul.input), {n, k}, wBytes, std::vector<RandomRange>{wRange}}};
  program.kernels = {{"matmul", 0, matmul}};
  program.functions = {{"f",
                        Role::Other,
                        0,
                        {{"x", name(matmul.input), {m, k}, xBytes}},
                        {{"y", name(matmul.output), {m, n}, yBytes}},
                        {{0,
                          1,
                          {{Space::Input, 0, 0, xBytes},
                           {Space::Constant, 0, 0, wBytes},
                           {Space::Output, 0, 0, yBytes}},
                          "matmul"}}}};
  describeKernelsBySteps(program);
  std::vector<std::byte> x(xBytes), w(wBytes), y(yBytes), again(yBytes);
  fillRandomValues(xRange, name(matmul.input), x);
  fillRandomValues(wRange, name(matmul.input), w);
  auto executor = load(program);
  ASSERT_TRUE(executor);
  std::span<const std::byte> inputs[] = {x};
  std::span<std::byte> outputs[] = {y}, secondOutputs[] = {again};
  ASSERT_EQ(executor->run(0, inputs, outputs), absl::OkStatus());
  ASSERT_EQ(executor->run(0, inputs, secondOutputs), absl::OkStatus());
  EXPECT_TRUE(y == again);

  std::vector<double> wide = widen(x, matmul.input), weight = widen(w, matmul.input);
  std::vector<double> found = widen(y, matmul.output);
  double largest = 0, worst = 0;
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += wide[row * k + i] * weight[column * k + i];
      largest = std::max(largest, std::abs(sum));
      double error = std::abs(found[row * n + column] - sum);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  EXPECT_LE(worst, GetParam().tolerance * largest);
}

constexpr uint64_t libraryWorkspace = 32 << 20;
const MatmulCase matmulCases[] = {
    {{16, 96, 64, MatmulType::F32, MatmulType::F32, false, libraryWorkspace}, 1e-5},
    {{37, 129, 255, MatmulType::F32, MatmulType::F32, false, libraryWorkspace}, 1e-5},
    {{64, 256, 512, MatmulType::F32, MatmulType::F32, true, libraryWorkspace}, 1e-3},
    {{64, 256, 512, MatmulType::F16, MatmulType::F16, false, libraryWorkspace}, 0x1p-10},
    {{17, 40, 2048, MatmulType::F16, MatmulType::F32, false, libraryWorkspace}, 1e-5},
    {{64, 256, 512, MatmulType::Bf16, MatmulType::Bf16, false, libraryWorkspace}, 0x1p-8},
    {{128, 64, 4096, MatmulType::Bf16, MatmulType::F32, false, 0}, 1e-5},
    {{1, 7, 3, MatmulType::Bf16, MatmulType::F32, false, 0}, 1e-5},
};

INSTANTIATE_TEST_SUITE_P(Shapes, MatmulGpuTest, testing::ValuesIn(matmulCases));

TEST(Devices, ListThisMachines) {
  auto devices = listCudaDevices();
  ASSERT_EQ(devices.status(), absl::OkStatus());
  if (devices->empty())
    GTEST_SKIP() << "no CUDA device on this machine";
  const CudaDeviceInfo& device = devices->front();
  EXPECT_FALSE(device.name.empty());
  EXPECT_GE(device.capabilityMajor, 5);
  EXPECT_GT(device.multiprocessors, 0);
  EXPECT_GT(device.memoryBytes, uint64_t{1} << 30);
  EXPECT_GE(device.driverVersion, 12'040);
  std::cout << device.name << ", " << device.capabilityMajor << "." << device.capabilityMinor
            << ", " << device.multiprocessors << " multiprocessors, " << device.memoryBytes
            << " bytes, driver for CUDA " << device.driverVersion << "\n";
}

} // namespace
} // namespace tenon::runtime
