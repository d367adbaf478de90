#include "runtime/cpu/CpuExecutor.h"
#include "runtime/cpu/ThreadPool.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/DescribeKernels.h"
#include "runtime/program/ProgramFile.h"
#include "support/Fingerprint.h"
#include "support/MappedFile.h"
#include "tests/runtime/cpu/TestObjects.h"

namespace tenon::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Floats = std::vector<float>;

/// A program of the test kernels over 8 floats, and the model file that its constants lie in.
class CpuExecutorTest : public testing::Test {
protected:
  CpuExecutorTest() {
    std::string pattern = testing::TempDir() + "tenon-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    model = (folder / "model.bin").string();
    Floats weights(3000); // a page boundary in between
    std::iota(weights.begin(), weights.end(), 0.0f);
    writeModel(weights);
  }
  ~CpuExecutorTest() override { std::filesystem::remove_all(folder); }

  void writeModel(const Floats& weights) const {
    std::ofstream(model, std::ios::binary)
        .write(reinterpret_cast<const char*>(weights.data()), std::ssize(weights) * 4);
  }

  static std::vector<std::byte> bytesOf(const Floats& values) {
    auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
  }

  Program makeProgram() const {
    Program program;
    program.device = "cpu";
    program.encodings = {{"f32", 1, 4}, {"i64", 1, 8}};
    program.files = {{model, 12'000, fingerprintFile((*MappedFile::open(model))->bytes())}};
    program.constants = {
        {"piece", "f32", {8}, 32, std::vector<FileRange>{{0, 40, 32}}},
        {"adjacent", "f32", {8}, 32, std::vector<FileRange>{{0, 400, 8}, {0, 408, 24}}},
        {"scattered", "f32", {8}, 32, std::vector<FileRange>{{0, 8000, 8}, {0, 0, 24}}},
        {"embedded", "f32", {8}, 32, SharedBytes(bytesOf(Floats(8, 0.5f)))},
        {"random", "f32", {8}, 32, std::vector<RandomRange>{{12, 3, 2, 0}, {20, 7, 4, 0}}}};
    program.states = {{"padding", "f32", {1}, 4}, {"sum", "f32", {2, 8}, 64}};
    program.code = {test::testObject("kernels")};
    program.kernels = {{"addScaled", 0},
                       {"accumulate", 0},
                       {"exponential", 0},
                       {"rangeStart", 0},
                       {"rangeStart", 0}};
    program.workspaceBytes = 128;
    Port x{"x", "f32", {8}, 32}, y{"y", "f32", {8}, 32};
    for (uint32_t constant = 0; constant < 5; ++constant)
      program.functions.push_back({"add " + program.constants[constant].name,
                                   Role::Other,
                                   0,
                                   {x},
                                   {y},
                                   {{0,
                                     8,
                                     {{Space::Input, 0, 0, 32},
                                      {Space::Constant, constant, 0, 32},
                                      {Space::Output, 0, 0, 32}},
                                     "add"}}});
    // y = the state's second row after adding exp(x), both halves of the workspace in use.
    program.functions.push_back(
        {"sum",
         Role::Other,
         0,
         {x},
         {y},
         {{2, 8, {{Space::Input, 0, 0, 32}, {Space::Workspace, 0, 64, 32}}, "exp"},
          {1,
           8,
           {{Space::Workspace, 0, 64, 32}, {Space::State, 1, 32, 32}, {Space::Output, 0, 0, 32}},
           "accumulate"}}});
    program.functions.push_back({"starts",
                                 Role::Other,
                                 0,
                                 {},
                                 {{"starts", "i64", {10}, 80}},
                                 {{3, 10, {{Space::Output, 0, 0, 80}}, "starts"}}});
    program.functions.push_back(
        {"starts of many",
         Role::Other,
         0,
         {},
         {{"starts", "i64", {manyTiles}, 8 * manyTiles}},
         {{4, manyTiles, {{Space::Output, 0, 0, 8 * manyTiles}}, "starts"}}});
    describeKernelsBySteps(program);
    return program;
  }

  static std::unique_ptr<CpuExecutor> load(Program program, int threads = 2) {
    auto executor = CpuExecutor::create(std::move(program), {.threads = threads});
    EXPECT_EQ(executor.status(), absl::OkStatus());
    return executor.ok() ? *std::move(executor) : nullptr;
  }

  static Floats call(CpuExecutor& executor, size_t function, const Floats& x) {
    Floats y(8, NAN);
    std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
    std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(y))};
    EXPECT_EQ(executor.run(function, inputs, outputs), absl::OkStatus());
    return y;
  }

  void expectRefused(Program program, absl::StatusCode code, const std::string& message) const {
    absl::Status status = CpuExecutor::create(std::move(program), {}).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  static constexpr int64_t manyTiles = 2048; // of 8 bytes: a step worth sharing

  std::filesystem::path folder;
  std::string model;
};

const Floats zeros(8, 0.0f);
const Floats ones(8, 1.0f);
enum FunctionIndex : size_t {
  Piece,
  Adjacent,
  Scattered,
  Embedded,
  Random,
  Sum,
  Starts,
  StartsOfMany
};

class CpuExecutorThreads : public CpuExecutorTest, public testing::WithParamInterface<int> {};

TEST_P(CpuExecutorThreads, ReadsConstantsOfEveryKind) {
  auto executor = load(makeProgram(), GetParam());
  EXPECT_EQ(executor->threads(), GetParam());
  EXPECT_THAT(call(*executor, Piece, ones),
              ElementsAre(11, 111, 1201, 13001, 15, 151, 1601, 17001));
  EXPECT_THAT(call(*executor, Adjacent, zeros),
              ElementsAre(100, 1010, 10200, 103000, 104, 1050, 10600, 107000));
  EXPECT_THAT(call(*executor, Scattered, zeros),
              ElementsAre(2000, 20010, 0, 1000, 2, 30, 400, 5000));
  EXPECT_THAT(call(*executor, Embedded, zeros), ElementsAre(.5, 5, 50, 500, .5, 5, 50, 500));
  EXPECT_THAT(call(*executor, Random, zeros), ElementsAre(2, 20, 200, 4000, 4, 40, 400, 4000));
}

TEST_P(CpuExecutorThreads, StatesPersistBetweenCalls) {
  auto executor = load(makeProgram(), GetParam());
  EXPECT_EQ(call(*executor, Sum, zeros), Floats(8, 1.0f));
  EXPECT_EQ(call(*executor, Sum, zeros), Floats(8, 2.0f));
  EXPECT_EQ(call(*executor, Sum, ones), Floats(8, 2.0f + std::exp(1.0f)));
  ASSERT_EQ(executor->resetStates(), absl::OkStatus());
  EXPECT_EQ(call(*executor, Sum, zeros), Floats(8, 1.0f));
}

/// Pieces of the threads' parts; where other work wants the cores, the caller takes all of them.
TEST_P(CpuExecutorThreads, SplitsTilesIntoContiguousRanges) {
  auto executor = load(makeProgram(), GetParam());
  std::vector<int64_t> starts(manyTiles, -1), borders;
  std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(starts))};
  ASSERT_EQ(executor->run(StartsOfMany, {}, outputs), absl::OkStatus());
  int64_t pieces = GetParam() == 1 ? 1 : int64_t{GetParam()} * ThreadPool::pieces;
  for (int64_t piece = 0; piece < pieces; ++piece)
    borders.push_back((manyTiles * piece + pieces - 1) / pieces);
  EXPECT_EQ(starts.front(), 0);
  for (int64_t tile = 1; tile < manyTiles; ++tile) {
    if (starts[tile] != starts[tile - 1])
      EXPECT_EQ(starts[tile], tile);
    EXPECT_THAT(borders, testing::Contains(starts[tile]));
  }
}

TEST_P(CpuExecutorThreads, SmallStepsStayOnOneCore) {
  auto executor = load(makeProgram(), GetParam());
  std::vector<int64_t> starts(10, -1);
  std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(starts))};
  ASSERT_EQ(executor->run(Starts, {}, outputs), absl::OkStatus());
  EXPECT_THAT(starts, testing::Each(0));
}

INSTANTIATE_TEST_SUITE_P(Threads, CpuExecutorThreads, testing::Values(1, 2, 5));

TEST_F(CpuExecutorTest, RunsAProgramFromItsFile) {
  std::string path = (folder / "program.tnn").string();
  ASSERT_EQ(writeProgram(makeProgram(), path), absl::OkStatus());
  absl::StatusOr<Program> program = readProgram(path);
  ASSERT_EQ(program.status(), absl::OkStatus());
  auto executor = load(*std::move(program));
  EXPECT_EQ(call(*executor, Piece, ones)[1], 111);
  EXPECT_EQ(call(*executor, Embedded, ones)[7], 501);
  EXPECT_EQ(executor->program().functions.size(), 8u);
}

TEST_F(CpuExecutorTest, UsesEveryCoreByDefault) {
  auto executor = load(makeProgram(), 0);
  EXPECT_GE(executor->threads(), 1);
}

TEST_F(CpuExecutorTest, EveryCallBindsItsOwnMemory) {
  auto executor = load(makeProgram());
  EXPECT_EQ(call(*executor, Embedded, zeros)[0], 0.5f);
  EXPECT_EQ(call(*executor, Embedded, Floats(8, 7.0f))[0], 7.5f);
}

TEST_F(CpuExecutorTest, ProfilesStepsWhenAsked) {
  auto executor = load(makeProgram());
  call(*executor, Sum, zeros);
  ASSERT_EQ(executor->profile(Sum).size(), 2u);
  EXPECT_EQ(executor->profile(Sum)[0].calls, 0u);
  executor->setProfiling(true);
  for (int round = 0; round < 3; ++round)
    call(*executor, Sum, zeros);
  for (const StepProfile& step : executor->profile(Sum)) {
    EXPECT_EQ(step.calls, 3u);
    EXPECT_GT(step.minNs, 0u);
    EXPECT_LE(step.minNs, step.lastNs);
    EXPECT_GE(step.totalNs, 2 * step.minNs + step.lastNs);
  }
  EXPECT_EQ(executor->profile(Sum)[0].lastStartNs, 0u);
  EXPECT_EQ(executor->profile(Sum)[1].lastStartNs, executor->profile(Sum)[0].lastNs);
  EXPECT_EQ(executor->profile(Piece)[0].calls, 0u);
  executor->setProfiling(false);
  call(*executor, Sum, zeros);
  EXPECT_EQ(executor->profile(Sum)[0].calls, 3u);
  executor->setProfiling(true);
  EXPECT_EQ(executor->profile(Sum)[0].calls, 0u);
}

TEST_F(CpuExecutorTest, RefusesWrongCalls) {
  auto executor = load(makeProgram());
  Floats x(8), y(8), tooLong(9);
  std::span<const std::byte> in = std::as_bytes(std::span(x));
  std::span<std::byte> out = std::as_writable_bytes(std::span(y));
  std::span<const std::byte> longIn = std::as_bytes(std::span(tooLong));
  std::span<std::byte> longOut = std::as_writable_bytes(std::span(tooLong));
  using Inputs = std::vector<std::span<const std::byte>>;
  using Outputs = std::vector<std::span<std::byte>>;
  auto refusal = [&](size_t function, const Inputs& inputs, const Outputs& outputs) {
    absl::Status status = executor->run(function, inputs, outputs);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal(8, {in}, {out}), "expects one of the 8 functions, but got function 8");
  EXPECT_EQ(refusal(Sum, {}, {out}), "function sum expects as many inputs as it has, 1, but got 0");
  EXPECT_EQ(refusal(Sum, {in}, {out, out}),
            "function sum expects as many outputs as it has, 1, but got 2");
  EXPECT_EQ(refusal(Sum, {longIn}, {out}), "function sum: input x expects 32 bytes, but got 36");
  EXPECT_EQ(refusal(Sum, {in}, {longOut}), "function sum: output y expects 32 bytes, but got 36");
}

TEST_F(CpuExecutorTest, ComputesOutputsThatNobodyWants) {
  auto executor = load(makeProgram());
  Floats x(8, 1.0f), y(8);
  std::span<const std::byte> in = std::as_bytes(std::span(x));
  std::span<std::byte> unwanted, out = std::as_writable_bytes(std::span(y));
  ASSERT_EQ(executor->run(Sum, {&in, 1}, {&out, 1}), absl::OkStatus());
  const Floats first = y;
  ASSERT_EQ(executor->run(Sum, {&in, 1}, {&unwanted, 1}), absl::OkStatus());
  ASSERT_EQ(executor->run(Sum, {&in, 1}, {&out, 1}), absl::OkStatus());
  EXPECT_EQ(y[0], 3 * first[0]) << "the state of three runs";
}

/// A call binds its ports in tables that it shares with others: the second of two is refused.
TEST_F(CpuExecutorTest, RunsOneCallAtATime) {
  auto executor = load(makeProgram());
  ASSERT_TRUE(executor);
  class Second final : public StepObserver {
  public:
    explicit Second(CpuExecutor& executor) : executor(executor) {}
    absl::Status before(size_t, StepMemory&) override {
      Floats x(8), y(8);
      std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
      std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(y))};
      statuses.push_back(executor.run(0, inputs, outputs));
      statuses.push_back(executor.resetStates());
      return absl::OkStatus();
    }
    absl::Status after(size_t, StepMemory&) override { return absl::OkStatus(); }
    CpuExecutor& executor;
    std::vector<absl::Status> statuses;
  } second(*executor);
  Floats x(8, 1.0f), y(8);
  std::span<const std::byte> inputs[] = {std::as_bytes(std::span(x))};
  std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(y))};
  ASSERT_EQ(executor->runObserved(0, inputs, outputs, second), absl::OkStatus());
  ASSERT_EQ(second.statuses.size(), 2u);
  for (const absl::Status& status : second.statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("expects one call at a time, but the program is already running"));
  }
  EXPECT_EQ(executor->run(0, inputs, outputs), absl::OkStatus());
}

TEST_F(CpuExecutorTest, RefusesAnInvalidProgram) {
  Program program = makeProgram();
  program.functions[0].steps[0].args[1].bytes = 33;
  expectRefused(std::move(program), absl::StatusCode::kInvalidArgument,
                "argument 1 expects a range");
}

TEST_F(CpuExecutorTest, RefusesAnotherDevice) {
  Program program = makeProgram();
  program.device = "cuda";
  expectRefused(std::move(program), absl::StatusCode::kInvalidArgument,
                "expects a program for device cpu, but it was compiled for cuda");
}

TEST_F(CpuExecutorTest, RefusesAMachineThatLacksAFeature) {
  Program program = makeProgram();
  program.features = {"avx1024"};
  expectRefused(std::move(program), absl::StatusCode::kFailedPrecondition, "lacks: avx1024");
}

TEST_F(CpuExecutorTest, RefusesAnObjectItCannotLink) {
  Program program = makeProgram();
  program.code.push_back(test::testObject("forbidden"));
  expectRefused(std::move(program), absl::StatusCode::kInvalidArgument, "object 1: cannot link");
}

TEST_F(CpuExecutorTest, RefusesAMissingKernel) {
  Program program = makeProgram();
  program.kernels[2].symbol = "softmax";
  expectRefused(std::move(program), absl::StatusCode::kInvalidArgument,
                "object 0: expects a function named \"softmax\"");
}

TEST_F(CpuExecutorTest, RefusesAnImpossibleNumberOfThreads) {
  absl::Status status = CpuExecutor::create(makeProgram(), {.threads = -1}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CpuExecutorTest, RefusesAMissingModelFile) {
  Program program = makeProgram();
  std::filesystem::remove(model);
  expectRefused(std::move(program), absl::StatusCode::kNotFound, model);
}

TEST_F(CpuExecutorTest, RefusesAModelFileOfAnotherSize) {
  Program program = makeProgram();
  writeModel(Floats(2999));
  expectRefused(std::move(program), absl::StatusCode::kFailedPrecondition,
                model + ": the program expects the file of 12000 bytes that it was compiled from, "
                        "but found 11996");
}

TEST_F(CpuExecutorTest, RefusesAModelFileWithOtherContents) {
  Program program = makeProgram();
  writeModel(Floats(3000, 1.0f));
  expectRefused(std::move(program), absl::StatusCode::kFailedPrecondition,
                model + ": the program expects the file with fingerprint ");
}

TEST_F(CpuExecutorTest, RefusesMoreMemoryThanThereIs) {
  Program program = makeProgram();
  program.workspaceBytes = uint64_t{1} << 39;
  program.states.clear();
  program.functions.clear();
  // Untouched memory may be had: what matters is that nothing breaks.
  absl::Status status = CpuExecutor::create(std::move(program), {}).status();
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kResourceExhausted) << status;
}

} // namespace
} // namespace tenon::runtime
