// Stamps of blocks, on a fake device.
#include "tests/runtime/cuda/CudaExecutorTest.h"

namespace tenon::runtime {
namespace {

using test::call;
using test::CudaExecutorTest;
using test::Floats;
using test::ones;
using testing::ElementsAre;
using testing::HasSubstr;

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
        ++stamps[block].entryNs;
        stamps[block].exitNs = block;
      }
    };
  }

  Program makeStampingProgram() const {
    Program program = makeProgram();
    std::get<CudaLaunch>(program.kernels[2].launch).stamps = true;
    program.functions[test::Sum].steps[1].tiles = program.kernels[2].tiles = 2;
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
  EXPECT_THAT(stamps->at(1), ElementsAre(BlockStamps{1, 0, 0}, BlockStamps{1, 0, 1}));
  EXPECT_THAT(executor->readStamps(test::Piece).value(), ElementsAre(testing::IsEmpty()));
}

INSTANTIATE_TEST_SUITE_P(Graphs, CudaExecutorStampModes, testing::Bool());

/// Two steps that stamp have places of their own, one after the other.
TEST_F(CudaExecutorStamps, OfStepsDoNotOverlap) {
  Program program = makeStampingProgram();
  std::vector<Step>& steps = program.functions[test::Sum].steps;
  steps.push_back(steps[1]);
  steps.back().tiles = 3;
  steps.back().kernel = 3;
  program.kernels.push_back(program.kernels[2]);
  program.kernels[3].tiles = 3;
  auto executor = load(program);
  call(*executor, test::Sum, ones);
  auto stamps = executor->readStamps(test::Sum).value();
  ASSERT_EQ(stamps.size(), 3u);
  EXPECT_EQ(stamps[1].size(), 2u);
  ASSERT_EQ(stamps[2].size(), 3u);
  for (uint64_t block = 0; block < 3; ++block)
    EXPECT_EQ(stamps[2][block], (BlockStamps{1, 0, block}));
}

TEST_F(CudaExecutorStamps, RefuseMoreBlocksThanThereArePlacesFor) {
  Program program = makeStampingProgram();
  program.functions[test::Sum].steps[1].tiles = program.kernels[2].tiles = INT32_MAX;
  expectRefused(program, absl::StatusCode::kResourceExhausted,
                "function sum: expects at most 44739242 blocks in a call whose blocks leave "
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

} // namespace
} // namespace tenon::runtime
