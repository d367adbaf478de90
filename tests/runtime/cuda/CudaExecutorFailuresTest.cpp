// What the executor refuses, and what it says of a driver that fails.
#include "tests/runtime/cuda/CudaExecutorTest.h"

namespace tenon::runtime {
namespace {

using test::call;
using test::CudaExecutorTest;
using test::Floats;
using test::makeCubin;
using test::ones;
using testing::HasSubstr;

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

TEST_F(CudaExecutorTest, RefusesAnotherNumberOfTensorMaps) {
  fake.state().kernels["twice"].tensorMaps = 1;
  expectRefused(makeProgram(), absl::StatusCode::kInvalidArgument,
                "expects 1 tensor maps, which the kernel takes, but found 0");
}

TEST_F(CudaExecutorTest, NamesTheTensorMapThatTheDriverRefuses) {
  Program program = makeProgram();
  std::get<CudaLaunch>(program.kernels[1].launch).tensorMaps = {{0, 2, 2, 8, MatmulType::F16}};
  fake.state().kernels["twice"].tensorMaps = 1;
  fake.fail("cuTensorMapEncodeTiled", CUDA_ERROR_INVALID_VALUE);
  expectRefused(program, absl::StatusCode::kInternal,
                "cannot make a tensor map of 2 x 8 elements, 2 rows a copy: CUDA_ERROR_FAKE");
}

TEST_F(CudaExecutorTest, RefusesAnotherNumberOfArguments) {
  Program program = makeProgram();
  program.functions[test::Sum].steps[1].args.pop_back();
  describeKernelsBySteps(program);
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
/// and nothing is left after.
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

TEST_F(CudaExecutorTest, NamesWhatItCannotPrefer) {
  Program program = makeProgram();
  program.functions[test::Sum].sharedPercent = 75;
  fake.fail("cuFuncSetAttribute", CUDA_ERROR_UNKNOWN, static_cast<int>(program.kernels.size()) + 1);
  expectRefused(program, absl::StatusCode::kInternal,
                "say how much shared memory a kernel prefers");
}

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

/// The same of a call whose outputs nobody wants, and which sends its inputs outside of the graph.
TEST_F(CudaExecutorTest, WithoutOutputsFailuresAreNamedAndPass) {
  auto executor = load(makeProgram());
  std::span<const std::byte> input = std::as_bytes(std::span(ones));
  std::span<std::byte> unwanted;
  for (auto [symbol, message] :
       {std::pair("cuMemcpyHtoDAsync", "function sum: cannot send the inputs: CUDA_ERROR_FAKE"),
        {"cuGraphLaunch", "function sum: cannot launch a graph"},
        {"cuStreamSynchronize", "function sum: one of the 2 steps failed"}}) {
    fake.fail(symbol, CUDA_ERROR_UNKNOWN, 0);
    absl::Status status = executor->run(test::Sum, {&input, 1}, {&unwanted, 1});
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    fake.state().failures.clear();
    ASSERT_EQ(executor->resetStates(), absl::OkStatus());
    EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
  }
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

TEST_F(CudaExecutorTest, ResettingStatesCanFail) {
  auto executor = load(makeProgram());
  fake.fail("cuStreamSynchronize", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(std::string(executor->resetStates().message()), HasSubstr("cannot clear the states"));
}

} // namespace
} // namespace tenon::runtime
