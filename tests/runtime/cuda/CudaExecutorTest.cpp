// What the executor does, on a fake device: everything but what a GPU itself does.
#include "tests/runtime/cuda/CudaExecutorTest.h"

namespace tenon::runtime {
namespace {

using test::call;
using test::CudaExecutorTest;
using test::FakeLaunch;
using test::Floats;
using test::ones;
using test::zeros;
using testing::ElementsAre;
using testing::HasSubstr;

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

/// The kernels of a function that has a share of shared memory prefer that of two of them whose blocks
/// a multiprocessor has room for at once, with 1 KiB more of each, if it is no more; others nothing.
TEST_F(CudaExecutorTest, SplitsSharedMemoryInOneWayForAFunction) {
  fake.state().kernels["twice"].staticSharedBytes = 120 << 10;
  fake.state().kernels["accumulate"].staticSharedBytes = 30 << 10;
  Program program = makeProgram();
  load(program, {});
  EXPECT_TRUE(fake.state().sharedPercents.empty());
  program.functions[test::Sum].sharedPercent = 66;
  load(program, {});
  EXPECT_TRUE(fake.state().sharedPercents.empty());
  program.functions[test::Sum].sharedPercent = 75;
  load(program, {});
  constexpr int both = 67; // 120.25 + 1 + 30 + 1 of 228 KiB, with what twice asks for at launch
  EXPECT_EQ(fake.state().sharedPercents["twice"], both);
  EXPECT_EQ(fake.state().sharedPercents["accumulate"], both);
  fake.state().sharedPercents.clear();
  fake.state().kernels["accumulate"].staticSharedBytes = 200 << 10; // no room beside the other
  load(program, {});
  EXPECT_TRUE(fake.state().sharedPercents.empty());
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

TEST_P(CudaExecutorModes, RepeatsStepsWithoutCopies) {
  auto executor = load(makeProgram(), {.graphs = GetParam()});
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 2.0f));
  auto copies = [&] {
    return fake.state().calls["cuMemcpyHtoDAsync"] + fake.state().calls["cuMemcpyDtoHAsync"];
  };
  const int before = copies();
  fake.state().launches.clear();
  ASSERT_EQ(executor->repeatSteps(test::Sum, 2), absl::OkStatus());
  ASSERT_EQ(executor->repeatSteps(test::Sum, 1), absl::OkStatus());
  EXPECT_EQ(copies(), before);
  EXPECT_EQ(fake.state().launches.size(), GetParam() ? 2u : 6u);
  EXPECT_EQ(executor->lastStepsNs(), 250'000u);
  executor->setProfiling(true);
  ASSERT_EQ(executor->repeatSteps(test::Sum, 1), absl::OkStatus());
  EXPECT_EQ(executor->profile(test::Sum)[1].calls, 1u);
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 12.0f)) << "the state of six runs";
}

TEST_P(CudaExecutorModes, LeavesOutputsOnTheDeviceThatNobodyWants) {
  auto executor = load(makeProgram(), {.graphs = GetParam()});
  std::span<const std::byte> input = std::as_bytes(std::span(ones));
  std::span<std::byte> unwanted;
  ASSERT_EQ(executor->run(test::Sum, {&input, 1}, {&unwanted, 1}), absl::OkStatus());
  EXPECT_EQ(fake.state().calls["cuMemcpyDtoHAsync"], 0);
  EXPECT_EQ(executor->lastStepsNs(), 250'000u);
  ASSERT_EQ(executor->repeatSteps(test::Sum, 1), absl::OkStatus());
  EXPECT_EQ(call(*executor, test::Sum, ones), Floats(8, 6.0f)) << "the state of three runs";
}

TEST_P(CudaExecutorModes, RepeatsOnlyWhatTheDeviceHasTheInputsOf) {
  auto executor = load(makeProgram(), {.graphs = GetParam()});
  auto expectRefusal = [&](size_t function) {
    absl::Status status = executor->repeatSteps(function, 1);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("the function of the last call"));
  };
  expectRefusal(test::Sum);
  call(*executor, test::Piece, ones);
  expectRefusal(test::Sum);
  Doubling observer(executor->program());
  Floats x = ones, y(8);
  std::span<const std::byte> input = std::as_bytes(std::span(x));
  std::span<std::byte> output = std::as_writable_bytes(std::span(y));
  ASSERT_EQ(executor->runObserved(test::Sum, {&input, 1}, {&output, 1}, observer),
            absl::OkStatus());
  expectRefusal(test::Sum);
  expectRefusal(test::Piece);
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
  constexpr uint64_t bytes = (200 << 20) + 16;
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

/// A kernel finds the maps of its step's arguments after the addresses.
TEST_F(CudaExecutorTest, PassesTensorMapsBehindTheAddresses) {
  Program program = makeProgram();
  std::get<CudaLaunch>(program.kernels[1].launch).tensorMaps = {{0, 2, 2, 8, MatmulType::F16},
                                                                {1, 1, 1, 16, MatmulType::Bf16}};
  test::FakeKernel& twice = fake.state().kernels["twice"];
  twice.tensorMaps = 2;
  std::vector<test::FakeTensorMap> seen;
  std::vector<void*> addresses;
  twice.rawBody = [&](void** parameters) {
    addresses = {*static_cast<void**>(parameters[0]), *static_cast<void**>(parameters[1])};
    for (size_t i = 2; i < 4; ++i)
      seen.push_back(*static_cast<test::FakeTensorMap*>(parameters[i]));
  };
  auto executor = load(program);
  call(*executor, test::Sum, ones);
  ASSERT_EQ(seen.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(seen[i].address, addresses[i]);
    EXPECT_EQ(seen[i].swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
    EXPECT_EQ(seen[i].box[0], 64u);
  }
  EXPECT_EQ(seen[0].type, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_EQ(seen[0].extents[0], 8u);
  EXPECT_EQ(seen[0].extents[1], 2u);
  EXPECT_EQ(seen[0].rowBytes, 16u);
  EXPECT_EQ(seen[0].box[1], 2u);
  EXPECT_EQ(seen[1].type, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(seen[1].extents[0], 16u);
  EXPECT_EQ(seen[1].box[1], 1u);
}

} // namespace
} // namespace tenon::runtime
