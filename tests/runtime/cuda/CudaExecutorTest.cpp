// The executor on a fake device: everything but what a GPU itself does.
#include "runtime/cuda/CudaExecutor.h"

#include <array>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/RandomValues.h"
#include "tests/runtime/cuda/FakeDriver.h"
#include "tests/runtime/cuda/TestPrograms.h"

namespace tenon::runtime {
namespace {

using test::call;
using test::FakeLaunch;
using test::Floats;
using test::makeCubin;
using testing::ElementsAre;
using testing::HasSubstr;

const Floats zeros(8, 0.0f);
const Floats ones(8, 1.0f);

float* floats(void* buffer) { return static_cast<float*>(buffer); }

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

  Program makeProgram() const { return test::makeCudaProgram(model, makeCubin()); }

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
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_EQ(fake.state().liveBytes, 0u);
    EXPECT_EQ(fake.state().liveObjects, 0);
  }

  absl::Status failingCall(CudaExecutor& executor, size_t function) {
    Floats x(8), y(8);
    std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
    std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(y))};
    return executor.run(function, inputs, outputs);
  }

  test::FakeDriver fake;
  test::ModelFile model;
};

/// With graphs, and without.
class CudaExecutorModes : public CudaExecutorTest, public testing::WithParamInterface<bool> {};

TEST_P(CudaExecutorModes, ReadsConstantsOfEveryKind) {
  auto executor = load(makeProgram(), {.graphs = GetParam()});
  EXPECT_THAT(call(*executor, test::Piece, ones),
              ElementsAre(101, 111, 121, 131, 141, 151, 161, 171));
  EXPECT_THAT(call(*executor, test::Scattered, zeros),
              ElementsAre(20000, 20010, 0, 10, 20, 30, 40, 50));
  EXPECT_EQ(call(*executor, test::Embedded, zeros), Floats(8, 5.0f));
  Floats random(3);
  fillRandomValues({12, 3, 2, 0.5}, "f32", std::as_writable_bytes(std::span(random)));
  EXPECT_THAT(call(*executor, test::Random, zeros),
              ElementsAre(10 * random[0], 10 * random[1], 10 * random[2], 40, 40, 40, 40, 40));
}

TEST_P(CudaExecutorModes, EveryCallHasItsOwnInputs) {
  auto executor = load(makeProgram(), {.graphs = GetParam()});
  for (float value : {1.0f, 2.0f, 3.0f})
    EXPECT_EQ(call(*executor, test::Embedded, Floats(8, value)), Floats(8, value + 5.0f));
}

TEST_P(CudaExecutorModes, StatesPersistBetweenCalls) {
  auto executor = load(makeProgram(), {.graphs = GetParam()});
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 4.0f));
  ASSERT_EQ(executor->resetStates(), absl::OkStatus());
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
}

TEST_P(CudaExecutorModes, LaunchesAsTheProgramSays) {
  auto executor = load(makeProgram(), {.graphs = GetParam()});
  fake.state().launches.clear();
  for (int round = 0; round < 3; ++round)
    call(*executor, test::Sum, zeros);
  const std::vector<FakeLaunch>& launches = fake.state().launches;
  ASSERT_EQ(launches.size(), GetParam() ? 2u : 6u);
  EXPECT_EQ(fake.state().calls["cuGraphLaunch"], GetParam() ? 3 : 0);
  EXPECT_EQ(launches[0].kernel, "twice");
  EXPECT_EQ(launches[0].blocks, 1u);
  EXPECT_EQ(launches[0].threads, 8u);
  EXPECT_EQ(launches[0].sharedBytes, 256u);
  EXPECT_FALSE(launches[0].pdl) << "a call's first kernel waits for all before it";
  EXPECT_TRUE(launches[1].pdl);
  EXPECT_EQ(launches[0].captured, GetParam());
  EXPECT_EQ(launches[1].kernel, "accumulate");
  call(*executor, test::Piece, zeros);
  EXPECT_EQ(launches.back().blocks, 2u);
  EXPECT_EQ(launches.back().threads, 4u);
  EXPECT_FALSE(launches.back().pdl);
}

TEST_P(CudaExecutorModes, LaunchesInOrderWhereAsked) {
  auto executor = load(makeProgram(), {.graphs = GetParam(), .dependentLaunches = false});
  fake.state().launches.clear();
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
  ASSERT_EQ(fake.state().launches.size(), 2u);
  for (const FakeLaunch& launch : fake.state().launches)
    EXPECT_FALSE(launch.pdl) << launch.kernel;
}

TEST_F(CudaExecutorTest, AsksForClustersThatNotEveryDeviceTakes) {
  fake.state().kernels["twice"].clusterWidth = 8;
  load(makeProgram(), {});
  EXPECT_TRUE(fake.state().wideClusters.empty());
  fake.state().kernels["twice"].clusterWidth = 16;
  load(makeProgram(), {});
  EXPECT_THAT(fake.state().wideClusters, ElementsAre("twice"));
}

/// Reads the second step's result and doubles what it finds in its first input.
class Doubling final : public StepObserver {
public:
  explicit Doubling(const Program& program) : steps(program.functions[test::Sum].steps) {}
  absl::Status before(size_t step, StepMemory& memory) override {
    if (step == 0)
      return absl::OkStatus();
    Floats values(8);
    if (absl::Status status =
            memory.read(steps[step].args[0], std::as_writable_bytes(std::span(values)));
        !status.ok())
      return status;
    for (float& value : values)
      value *= 2;
    return memory.write(steps[step].args[0], std::as_bytes(std::span(values)));
  }
  absl::Status after(size_t step, StepMemory& memory) override {
    seen.push_back(step);
    return failAt == step ? absl::AbortedError("seen enough") : absl::OkStatus();
  }

  const std::vector<Step>& steps;
  std::vector<size_t> seen;
  size_t failAt = -1;
};

TEST_F(CudaExecutorTest, LetsAnObserverReadAndWriteBetweenSteps) {
  auto executor = load(makeProgram());
  Doubling observer(executor->program());
  Floats x = ones, y(8);
  std::span<const std::byte> input = std::as_bytes(std::span(x));
  std::span<std::byte> output = std::as_writable_bytes(std::span(y));
  ASSERT_EQ(executor->runObserved(test::Sum, {&input, 1}, {&output, 1}, observer),
            absl::OkStatus());
  EXPECT_THAT(observer.seen, ElementsAre(0, 1));
  EXPECT_EQ(y, Floats(8, 4.0f)); // twice 2 · x
  observer.failAt = 0;
  absl::Status status = executor->runObserved(test::Sum, {&input, 1}, {&output, 1}, observer);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("function sum: seen enough"));
}

TEST_P(CudaExecutorModes, TimesStepsWhenAsked) {
  auto executor = load(makeProgram(), {.graphs = GetParam()});
  call(*executor, test::Sum, ones);
  EXPECT_EQ(executor->lastStepsNs(), 250'000u);
  EXPECT_EQ(executor->profile(test::Sum)[0].calls, 0u);
  executor->setProfiling(true);
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 4.0f));
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 6.0f));
  ASSERT_EQ(executor->profile(test::Sum).size(), 2u);
  const StepProfile& second = executor->profile(test::Sum)[1];
  EXPECT_EQ(second.calls, 2u);
  EXPECT_EQ(second.lastStartNs, 250'000u);
  EXPECT_EQ(second.lastNs, 250'000u);
  EXPECT_EQ(second.totalNs, 500'000u);
  executor->setProfiling(false);
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 8.0f));
  EXPECT_EQ(executor->profile(test::Sum)[1].calls, 2u);
  executor->setProfiling(true);
  EXPECT_EQ(executor->profile(test::Sum)[1].calls, 0u);
}

INSTANTIATE_TEST_SUITE_P(Graphs, CudaExecutorModes, testing::Bool());

TEST_F(CudaExecutorTest, ReleasesEverything) {
  load(makeProgram());
  EXPECT_EQ(fake.state().liveBytes, 0u);
  EXPECT_EQ(fake.state().liveObjects, 0);
}

TEST_F(CudaExecutorTest, CountsMemoryAndUploads) {
  auto executor = load(makeProgram());
  EXPECT_EQ(executor->memoryUse().constantBytes, 4u * 256);
  EXPECT_EQ(executor->memoryUse().stateBytes, 2u * 256);
  EXPECT_EQ(executor->memoryUse().workspaceBytes, 128u);
  EXPECT_EQ(executor->memoryUse().portBytes, 2u * 256);
  EXPECT_EQ(executor->memoryUse().totalBytes(), fake.state().liveBytes);
  EXPECT_EQ(executor->loadTimes().uploadedBytes, 96u);
  EXPECT_EQ(executor->loadTimes().randomBytes, 32u);
  EXPECT_GT(executor->loadTimes().uploadNs, 0u);
  EXPECT_EQ(executor->program().target, "h200");
}

/// Several readers, and a last chunk that is not full.
TEST_F(CudaExecutorTest, UploadsLargeConstants) {
  constexpr uint64_t bytes = (200 << 20) + 12;
  Program program = makeProgram();
  Floats large(bytes / 4);
  for (uint64_t i = 0; i < large.size(); ++i)
    large[i] = static_cast<float>(i % (1 << 20)); // exact in a float, also ten times
  auto view = std::as_bytes(std::span(large));
  program.constants.push_back(
      {"large", "f32", {bytes / 4}, bytes, SharedBytes(view, std::shared_ptr<const void>())});
  BufferRef& middle = program.functions[0].steps[0].args[1];
  for (uint64_t offset : {uint64_t{0}, uint64_t{2 << 20} - 16, bytes - 32}) {
    middle = {Space::Constant, 4, offset, 32};
    auto executor = load(program);
    EXPECT_EQ(call(*executor, 0, zeros)[0], 10 * large[offset / 4]);
    EXPECT_EQ(call(*executor, 0, zeros)[7], 10 * large[offset / 4 + 7]);
    EXPECT_EQ(executor->loadTimes().uploadedBytes, bytes + 96);
  }
}

TEST_F(CudaExecutorTest, RunsAFunctionWithoutSteps) {
  Program program = makeProgram();
  program.functions = {{"nothing", Role::Other, 0, {}, {}, {}}};
  auto executor = load(program);
  EXPECT_EQ(executor->run(0, {}, {}), absl::OkStatus());
  executor->setProfiling(true);
  EXPECT_EQ(executor->run(0, {}, {}), absl::OkStatus());
}

TEST_F(CudaExecutorTest, RefusesWrongCalls) {
  auto executor = load(makeProgram());
  absl::Status status = executor->run(5, {}, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "expects one of the 5 functions, but got function 5");
}

TEST_F(CudaExecutorTest, RefusesAnotherDevice) {
  Program program = makeProgram();
  program.device = "cpu";
  expectRefused(program, absl::StatusCode::kInvalidArgument,
                "expects a program for device cuda, but it was compiled for cpu");
}

TEST_F(CudaExecutorTest, RefusesAnInvalidProgram) {
  Program program = makeProgram();
  program.functions[0].steps[0].args[1].bytes = 33;
  expectRefused(program, absl::StatusCode::kInvalidArgument, "argument 1 expects a range");
}

TEST_F(CudaExecutorTest, RefusesADeviceThatIsNotThere) {
  for (int device : {-1, 1})
    expectRefused(makeProgram(), absl::StatusCode::kNotFound,
                  "expects one of this machine's 1 CUDA devices, but got device",
                  {.device = device});
}

TEST_F(CudaExecutorTest, RefusesAModelFileWithOtherContents) {
  Program program = makeProgram();
  model.write(Floats(3000, 1.0f));
  expectRefused(program, absl::StatusCode::kFailedPrecondition,
                "the program expects the file with fingerprint ");
}

TEST_F(CudaExecutorTest, RefusesCodeThatIsNoCubin) {
  auto refuse = [&](SharedBytes code, const std::string& message) {
    Program program = makeProgram();
    program.code = {std::move(code)};
    expectRefused(program, absl::StatusCode::kInvalidArgument, "object 0: " + message);
  };
  refuse(std::vector<std::byte>(10), "expects a cubin, but found 10 bytes");
  refuse(std::vector<std::byte>(100), "expects a cubin, but found no ELF file for CUDA");
  refuse(makeCubin([](Elf64_Ehdr& header) { header.e_machine = EM_X86_64; }),
         "expects a cubin, but found no ELF file for CUDA");
  refuse(makeCubin([](Elf64_Ehdr& header) {
           header.e_shnum = 2;
           header.e_shoff = 1;
         }),
         "expects 128 bytes of section headers at offset 1 of the cubin, but it has 64 bytes");
  std::vector<std::byte> cubin = makeCubin([](Elf64_Ehdr& header) {
    header.e_shnum = 1;
    header.e_shoff = 64;
  });
  Elf64_Shdr section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = 100;
  section.sh_size = 29;
  auto bytes = std::as_bytes(std::span(&section, 1));
  cubin.insert(cubin.end(), bytes.begin(), bytes.end());
  refuse(cubin, "expects section 0 within the 128 bytes of the cubin, but found 29 bytes at "
                "offset 100");
}

TEST_F(CudaExecutorTest, SaysWhyCodeDoesNotLoad) {
  fake.fail("cuModuleLoadDataEx", CUDA_ERROR_NO_BINARY_FOR_GPU);
  fake.state().jitLog = "the driver's log";
  expectRefused(makeProgram(), absl::StatusCode::kFailedPrecondition,
                "cannot load object 0 of a program for h200 on Fake 0 (compute capability 9.0): "
                "CUDA_ERROR_FAKE (it failed)\nthe driver's log");
}

TEST_F(CudaExecutorTest, RefusesAMissingKernel) {
  Program program = makeProgram();
  program.kernels[1].symbol = "thrice";
  expectRefused(program, absl::StatusCode::kInvalidArgument,
                "kernel thrice: expects a kernel of that name in object 0, but found none");
}

TEST_F(CudaExecutorTest, RefusesParametersThatAreNoPointers) {
  fake.state().kernels["twice"].parameterBytes = 4;
  expectRefused(makeProgram(), absl::StatusCode::kInvalidArgument,
                "kernel twice: expects pointers as parameters, but parameter 0 has 4 bytes");
}

TEST_F(CudaExecutorTest, RefusesAnotherNumberOfArguments) {
  Program program = makeProgram();
  program.functions[test::Sum].steps[1].args.pop_back();
  expectRefused(program, absl::StatusCode::kInvalidArgument,
                "function sum: step 1 accumulate (kernel accumulate: 1 blocks of 8 threads, 0 "
                "bytes of shared memory, dependent launch): expects 3 arguments, which the kernel "
                "takes, but found 2");
}

TEST_F(CudaExecutorTest, RefusesMoreThreadsThanABlockCanHave) {
  fake.state().kernels["accumulate"].maxThreads = 4;
  expectRefused(makeProgram(), absl::StatusCode::kInvalidArgument,
                "kernel accumulate: expects at most 4 threads in a block on Fake 0 (40 registers a "
                "thread), but is launched with 8");
}

TEST_F(CudaExecutorTest, RefusesMoreSharedMemoryThanABlockCanHave) {
  fake.state().kernels["twice"].staticSharedBytes = 232'448 - 255;
  expectRefused(makeProgram(), absl::StatusCode::kInvalidArgument,
                "kernel twice: expects at most 232448 bytes of shared memory in a block on Fake 0, "
                "but is launched with 256 beside 232193 of its own");
}

TEST_F(CudaExecutorTest, SaysWhatMemoryWasAskedFor) {
  fake.state().freeBytes = 4 << 20;
  Program program = makeProgram();
  program.workspaceBytes = 1 << 20;
  program.states[1] = {"sum", "f32", {4, 1 << 18}, 4 << 20};
  expectRefused(program, absl::StatusCode::kResourceExhausted,
                "the program needs 5.0 MiB of device memory (weights 0.0, states 4.0, workspace "
                "1.0, inputs and outputs 0.0, libraries 0.0), but Fake 0 has 4.0 MiB free of "
                "2048.0");
}

TEST_F(CudaExecutorTest, SaysWhichContextWouldFit) {
  fake.state().freeBytes = 4 << 20;
  Program program = makeProgram();
  program.model = ModelInfo{"llama", "", 5, 1000, 1};
  program.workspaceBytes = 1 << 20;
  program.states[1] = {"sum", "f32", {4, 1 << 20}, 16 << 20};
  expectRefused(program, absl::StatusCode::kResourceExhausted,
                "2048.0; a context of 187 instead of 1000 positions would fit");
  program.workspaceBytes = 8 << 20;
  expectRefused(program, absl::StatusCode::kResourceExhausted, "MiB free of 2048.0");
}

/// Every function of the driver that loading calls, failing: the error says what could not be done,
/// and nothing is left behind.
class CudaExecutorLoadFailure
    : public CudaExecutorTest,
      public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(CudaExecutorLoadFailure, IsNamed) {
  auto [symbol, message] = GetParam();
  fake.fail(symbol, CUDA_ERROR_UNKNOWN);
  expectRefused(makeProgram(), absl::StatusCode::kInternal,
                std::string("cannot ") + message + ": CUDA_ERROR_FAKE (it failed)");
}

INSTANTIATE_TEST_SUITE_P(
    Driver, CudaExecutorLoadFailure,
    testing::Values(std::pair("cuDeviceGetCount", "count the CUDA devices"),
                    std::pair("cuDeviceGet", "open the CUDA device"),
                    std::pair("cuDeviceGetName", "read a device's name"),
                    std::pair("cuDevicePrimaryCtxRetain", "create a context on Fake 0"),
                    std::pair("cuCtxSetCurrent", "make the device's context current"),
                    std::pair("cuDeviceGetAttribute", "read an attribute of the device"),
                    std::pair("cuMemGetInfo", "read the device's free memory"),
                    std::pair("cuMemAlloc", "allocate 1024 bytes of device memory for weights"),
                    std::pair("cuMemHostAlloc",
                              "allocate 512 bytes of pinned host memory for inputs and outputs"),
                    std::pair("cuStreamCreate", "create a stream"),
                    std::pair("cuEventCreate", "create an event"),
                    std::pair("cuMemsetD8Async", "clear the states"),
                    std::pair("cuEventSynchronize", "wait for an upload"),
                    std::pair("cuMemcpyHtoDAsync", "upload a constant"),
                    std::pair("cuEventRecordWithFlags", "record an upload"),
                    std::pair("cuStreamSynchronize", "finish an upload"),
                    std::pair("cuLaunchKernelEx", "make random values"),
                    std::pair("cuModuleGetFunction", "find the kernel"),
                    std::pair("cuFuncLoad", "load the kernel"),
                    std::pair("cuFuncGetAttribute", "read a kernel's attributes"),
                    std::pair("cuFuncSetAttribute", "raise the limit of shared memory"),
                    std::pair("cuFuncGetParamInfo", "read a kernel's parameters")),
    [](const auto& info) { return std::string(info.param.first); });

TEST_F(CudaExecutorTest, MemoryThatRunsOutIsResourceExhausted) {
  fake.fail("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 3);
  expectRefused(makeProgram(), absl::StatusCode::kResourceExhausted,
                "cannot allocate 128 bytes of device memory for the workspace: "
                "CUDA_ERROR_OUT_OF_MEMORY");
}

/// An error while a call is prepared or runs.
struct CallFailure {
  const char* name;
  const char* symbol;
  CudaExecutorOptions options;
  bool profiling;
  const char* message;
  int call = 1; ///< the first that fails
};

void PrintTo(const CallFailure& failure, std::ostream* stream) { *stream << failure.name; }

class CudaExecutorCallFailure : public CudaExecutorTest,
                                public testing::WithParamInterface<CallFailure> {};

TEST_P(CudaExecutorCallFailure, IsNamedAndPasses) {
  auto executor = load(makeProgram(), GetParam().options);
  executor->setProfiling(GetParam().profiling);
  fake.fail(GetParam().symbol, CUDA_ERROR_UNKNOWN, GetParam().call);
  absl::Status status = failingCall(*executor, test::Sum);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
  fake.state().failures.clear();
  ASSERT_EQ(executor->resetStates(), absl::OkStatus());
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
}

const CudaExecutorOptions graphs{};
const CudaExecutorOptions noGraphs{.graphs = false};
const CudaExecutorOptions checked{.checkSteps = true};
const CallFailure callFailures[] = {
    {"Context", "cuCtxSetCurrent", graphs, false, "cannot make the device's context current"},
    {"Inputs", "cuMemcpyHtoDAsync", graphs, false,
     "function sum: cannot send the inputs: CUDA_ERROR_FAKE"},
    {"Outputs", "cuMemcpyDtoHAsync", graphs, false, "cannot fetch the outputs"},
    {"Timing", "cuEventRecordWithFlags", graphs, false, "cannot time a call"},
    {"ReadingTime", "cuEventElapsedTime", graphs, false, "cannot read a call's time"},
    {"BeginCapture", "cuStreamBeginCapture", graphs, false,
     "function sum: cannot begin to capture a graph"},
    {"EndCapture", "cuStreamEndCapture", graphs, false, "function sum: cannot capture a graph"},
    {"Instantiate", "cuGraphInstantiateWithFlags", graphs, false,
     "function sum: cannot instantiate a graph"},
    {"GraphUpload", "cuGraphUpload", graphs, false, "function sum: cannot upload a graph"},
    {"GraphLaunch", "cuGraphLaunch", graphs, false, "function sum: cannot launch a graph"},
    {"TimedGraphLaunch", "cuGraphLaunch", graphs, true, "function sum: cannot launch a graph"},
    {"LaunchInCapture", "cuLaunchKernelEx", graphs, false,
     "function sum: step 0 twice (kernel twice: 1 blocks of 8 threads, 256 bytes of shared memory, "
     "dependent launch): cannot launch it: CUDA_ERROR_FAKE (it failed)"},
    {"Launch", "cuLaunchKernelEx", noGraphs, false, "function sum: step 0 twice (kernel twice"},
    {"TimedLaunch", "cuLaunchKernelEx", noGraphs, true, "function sum: step 0 twice"},
    {"Events", "cuEventCreate", noGraphs, true, "cannot create an event"},
    {"ReadingTimes", "cuEventElapsedTime", noGraphs, true, "cannot read a step's time", 2},
    {"TimingSteps", "cuEventRecordWithFlags", graphs, true, "cannot record an event", 2},
    {"TimedFinish", "cuStreamSynchronize", noGraphs, true,
     "function sum: one of the 2 steps failed"},
    {"Finish", "cuStreamSynchronize", graphs, false,
     "function sum: one of the 2 steps failed on Fake 0: CUDA_ERROR_FAKE (it failed); checking "
     "every step names it"},
    {"CheckedFinish", "cuStreamSynchronize", checked, false,
     "function sum: step 0 twice (kernel twice: 1 blocks of 8 threads, 256 bytes of shared memory, "
     "dependent launch): cannot finish it: CUDA_ERROR_FAKE"},
};

INSTANTIATE_TEST_SUITE_P(All, CudaExecutorCallFailure, testing::ValuesIn(callFailures),
                         [](const auto& info) { return std::string(info.param.name); });

/// The kernel `accumulate` of two blocks, each of which counts its launches in its stamps.
class CudaExecutorStamps : public CudaExecutorTest {
protected:
  CudaExecutorStamps() {
    test::FakeKernel& kernel = fake.state().kernels["accumulate"];
    kernel.parameters = 4;
    kernel.body = [unstamped = kernel.body](void* const* buffers, uint32_t blocks) {
      unstamped(buffers, blocks);
      auto* stamps = static_cast<BlockStamps*>(buffers[3]);
      for (uint32_t block = 0; block < blocks; ++block) {
        ++stamps[block].timerNs;
        stamps[block].multiprocessor = block;
      }
    };
  }

  Program makeStampingProgram() const {
    Program program = makeProgram();
    std::get<CudaLaunch>(program.kernels[2].launch).stamps = true;
    program.functions[test::Sum].steps[1].tiles = 2;
    return program;
  }
};

class CudaExecutorStampModes : public CudaExecutorStamps,
                               public testing::WithParamInterface<bool> {};

TEST_P(CudaExecutorStampModes, LeaveThoseOfTheLastCall) {
  auto executor = load(makeStampingProgram(), {.graphs = GetParam()});
  for (float sum : {2.0f, 4.0f, 6.0f})
    EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, sum));
  auto stamps = executor->readStamps(test::Sum);
  ASSERT_EQ(stamps.status(), absl::OkStatus());
  ASSERT_EQ(stamps->size(), 2u);
  EXPECT_TRUE(stamps->at(0).empty());
  EXPECT_THAT(stamps->at(1), ElementsAre(BlockStamps{1, 0, 0, 0, 0}, BlockStamps{1, 0, 0, 0, 1}));
  EXPECT_THAT(executor->readStamps(test::Piece).value(), ElementsAre(testing::IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(Graphs, CudaExecutorStampModes, testing::Bool());

/// Two steps that stamp have places of their own, one behind the other.
TEST_F(CudaExecutorStamps, OfStepsDoNotOverlap) {
  Program program = makeStampingProgram();
  std::vector<Step>& steps = program.functions[test::Sum].steps;
  steps.push_back(steps[1]);
  steps.back().tiles = 3;
  auto executor = load(program);
  call(*executor, test::Sum, ones);
  auto stamps = executor->readStamps(test::Sum).value();
  ASSERT_EQ(stamps.size(), 3u);
  EXPECT_EQ(stamps[1].size(), 2u);
  ASSERT_EQ(stamps[2].size(), 3u);
  for (uint64_t block = 0; block < 3; ++block)
    EXPECT_EQ(stamps[2][block], (BlockStamps{1, 0, 0, 0, block}));
}

TEST_F(CudaExecutorStamps, RefuseMoreBlocksThanThereArePlacesFor) {
  Program program = makeStampingProgram();
  program.functions[test::Sum].steps[1].tiles = INT32_MAX;
  expectRefused(program, absl::StatusCode::kResourceExhausted,
                "function sum: expects at most 26843545 blocks in a call whose blocks leave "
                "stamps, but its first 2 steps have 2147483647");
}

TEST_F(CudaExecutorStamps, NeedAKernelThatTakesThem) {
  fake.state().kernels["accumulate"].parameters = 3;
  expectRefused(makeStampingProgram(), absl::StatusCode::kInvalidArgument,
                "expects 3 arguments, which the kernel takes, but found 4");
}

TEST_F(CudaExecutorTest, WithoutStampsThereAreNoneToRead) {
  auto executor = load(makeProgram());
  call(*executor, test::Sum, ones);
  absl::Status status = executor->readStamps(test::Sum).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("leave none"));
}

TEST_F(CudaExecutorStamps, ErrorsAreNamed) {
  auto executor = load(makeStampingProgram());
  fake.fail("cuMemsetD8Async", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(std::string(failingCall(*executor, test::Sum).message()),
              HasSubstr("function sum: cannot clear the stamps"));
  fake.state().failures.clear();
  call(*executor, test::Sum, ones);
  for (const char* symbol : {"cuMemcpyDtoHAsync", "cuStreamSynchronize"}) {
    fake.fail(symbol, CUDA_ERROR_UNKNOWN);
    EXPECT_THAT(std::string(executor->readStamps(test::Sum).status().message()),
                HasSubstr("cannot fetch the stamps"));
    fake.state().failures.clear();
  }
}

TEST_F(CudaExecutorTest, ResettingStatesCanFail) {
  auto executor = load(makeProgram());
  fake.fail("cuStreamSynchronize", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(std::string(executor->resetStates().message()), HasSubstr("cannot clear the states"));
}

} // namespace
} // namespace tenon::runtime
