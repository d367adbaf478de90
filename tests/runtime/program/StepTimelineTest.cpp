// Timelines from stamps of a device that is made up.
#include "runtime/StepTimeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

using testing::HasSubstr;

/// When a block does what, in ns.
struct BlockTimes {
  double entry, work, exit;
  bool waits = true;
};

/// A device whose timer has steps.
struct Device {
  uint64_t timerStepNs = 32;
  uint64_t startNs = 1'763'700'000'000'000'000; // of this size the timer's values are

  uint64_t timer(double ns) const {
    uint64_t time = startNs + static_cast<uint64_t>(ns);
    return time - time % timerStepNs;
  }
  BlockStamps stampBlock(const BlockTimes& block) const {
    return {timer(block.entry), block.waits ? timer(block.work) : 0, timer(block.exit)};
  }
  std::vector<std::vector<BlockStamps>>
  stamp(const std::vector<std::vector<BlockTimes>>& steps) const {
    std::vector<std::vector<BlockStamps>> stamps(steps.size());
    for (size_t i = 0; i < steps.size(); ++i)
      for (const BlockTimes& block : steps[i])
        stamps[i].push_back(stampBlock(block));
    return stamps;
  }
};

/// Steps of 132 blocks: every 10 us a step begins to work, for 8 us; its
/// blocks are there 3 us earlier. Block b is b ns after.
std::vector<std::vector<BlockTimes>> regularSteps(int count) {
  std::vector<std::vector<BlockTimes>> steps(count);
  for (int step = 0; step < count; ++step)
    for (int block = 0; block < 132; ++block) {
      double work = 5'000 + 10'000.0 * step + block;
      steps[step].push_back({work - 3'000, work, work + 8'000});
    }
  return steps;
}

class StepTimelineOf : public testing::TestWithParam<uint64_t> {};

/// As finely as the timer steps.
TEST_P(StepTimelineOf, RecoversTheTimes) {
  Device device{.timerStepNs = GetParam()};
  auto timeline = readTimeline(device.stamp(regularSteps(60)));
  ASSERT_EQ(timeline.status(), absl::OkStatus());
  auto tolerance = static_cast<double>(GetParam());
  ASSERT_EQ(timeline->steps.size(), 60u);
  for (size_t i = 0; i < 60; ++i) {
    const StepTimes& step = timeline->steps[i];
    double begin = 10'000.0 * static_cast<double>(i);
    EXPECT_EQ(step.blocks, 132u);
    EXPECT_NEAR(step.firstEntryNs, begin, tolerance);
    EXPECT_NEAR(step.lastEntryNs, begin + 131, tolerance);
    EXPECT_NEAR(step.firstWorkNs, begin + 3'000, tolerance);
    EXPECT_NEAR(step.lastWorkNs, begin + 3'131, tolerance);
    EXPECT_NEAR(step.firstExitNs, begin + 11'000, tolerance);
    EXPECT_NEAR(step.lastExitNs, begin + 11'131, tolerance);
    EXPECT_NEAR(step.gapNs, i == 0 ? 0 : 1'869, 2 * tolerance);
    EXPECT_NEAR(step.aheadNs, i == 0 ? 0 : 1'131, 2 * tolerance);
    EXPECT_NEAR(step.workNs(), 8'131, 2 * tolerance);
    EXPECT_NEAR(step.tailNs(), 131, 2 * tolerance);
  }
  // The first and the last of 132 blocks are those whose clocks are furthest off, in every gap.
  EXPECT_NEAR(timeline->gapNs, 59 * 1'869, 59 * tolerance);
  EXPECT_NEAR(timeline->totalNs(), 590'000 + 8'131, 2 * tolerance);
}

INSTANTIATE_TEST_SUITE_P(TimerSteps, StepTimelineOf, testing::Values(1, 32, 1024));

TEST(StepTimeline, FindsTheStepOfTheTimer) {
  EXPECT_EQ(readTimeline(Device{.timerStepNs = 32}.stamp(regularSteps(4)))->timerStepNs, 32);
  EXPECT_EQ(readTimeline(Device{.timerStepNs = 1024}.stamp(regularSteps(4)))->timerStepNs, 1024);
}

/// A block that leaves without waiting counts only as one that was there: step 1 has one that leaves
/// while step 0 still works.
TEST(StepTimeline, BlocksThatLeaveHaveNoWork) {
  auto timeline = readTimeline(Device{.timerStepNs = 1}.stamp(
      {{{0, 0, 5'000}, {0, 0, 5'000}}, {{1'000, 6'000, 9'000}, {500, 500, 700, /*waits=*/false}}}));
  ASSERT_EQ(timeline.status(), absl::OkStatus());
  const StepTimes& step = timeline->steps[1];
  EXPECT_NEAR(step.firstEntryNs, 500, 2);
  EXPECT_NEAR(step.lastEntryNs, 1'000, 2);
  EXPECT_NEAR(step.firstWorkNs, 6'000, 2);
  EXPECT_NEAR(step.firstExitNs, 9'000, 2);
  EXPECT_NEAR(step.aheadNs, 4'500, 2);
  EXPECT_NEAR(step.gapNs, 1'000, 2);
}

/// Kernels without a wait work from their entry on; where one starts too early, the gap is negative.
TEST(StepTimeline, AnOverlapIsANegativeGap) {
  auto timeline = readTimeline(
      Device{.timerStepNs = 1}.stamp({{{0, 0, 5'000, false}}, {{4'000, 0, 9'000, false}}}));
  ASSERT_EQ(timeline.status(), absl::OkStatus());
  EXPECT_NEAR(timeline->steps[1].firstWorkNs, 4'000, 2);
  EXPECT_NEAR(timeline->steps[1].gapNs, -1'000, 2);
  EXPECT_NEAR(timeline->steps[1].aheadNs, 1'000, 2);
  EXPECT_NEAR(timeline->totalNs(), 9'000, 2);
}

TEST(StepTimeline, StepsWithoutStampsAreBoundedByTheirNeighbours) {
  std::vector<std::vector<BlockTimes>> steps = regularSteps(6);
  steps[0].clear();
  steps[2].clear();
  steps[3].clear();
  steps[5].clear();
  auto timeline = readTimeline(Device{.timerStepNs = 1}.stamp(steps));
  ASSERT_EQ(timeline.status(), absl::OkStatus());
  EXPECT_EQ(timeline->steps[2].blocks, 0u);
  EXPECT_NEAR(timeline->steps[1].firstEntryNs, 0, 2);
  EXPECT_EQ(timeline->steps[1].unstampedBefore, 1u);
  EXPECT_EQ(timeline->steps[1].gapNs, 0);
  EXPECT_EQ(timeline->steps[4].unstampedBefore, 2u);
  EXPECT_NEAR(timeline->steps[4].gapNs, 21'869, 2);
  EXPECT_NEAR(timeline->unstampedNs, 21'869, 2);
  EXPECT_EQ(timeline->gapNs, 0);
  EXPECT_NEAR(timeline->workNs, 2 * 8'131, 4);
}

TEST(StepTimeline, RefusesStampsThatNoBlockLeaves) {
  struct Refused {
    void (*edit)(BlockStamps&);
    const char* message;
  };
  for (const Refused& refused : std::vector<Refused>{
           {[](BlockStamps& block) { block = {}; },
            "step 1, block 7: expects stamps, but found none"},
           {[](BlockStamps& block) { block.exitNs = 0; }, "expects stamps, but found none"},
           {[](BlockStamps& block) { block.waitNs = block.exitNs + 1; },
            "expects entry, wait and exit in this order"},
           {[](BlockStamps& block) { block.waitNs = block.entryNs - 1; },
            "expects entry, wait and exit in this order"},
           {[](BlockStamps& block) { block.exitNs = block.entryNs - 1, block.waitNs = 0; },
            "expects entry, wait and exit in this order"}}) {
    auto stamps = Device{}.stamp(regularSteps(3));
    refused.edit(stamps[1][7]);
    absl::Status status = readTimeline(stamps).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(refused.message));
  }
}

TEST(StepTimeline, NeedsAStepWithBlocks) {
  for (size_t count : {0, 2})
    EXPECT_EQ(readTimeline(std::vector<std::vector<BlockStamps>>(count)).status().code(),
              absl::StatusCode::kFailedPrecondition);
}

} // namespace
} // namespace tenon::runtime
