#include "runtime/cpu/SharingPolicy.h"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Mode = SharingPolicy::Mode;

/// The caller and its clock.
class SharingPolicyTest : public testing::Test {
protected:
  SharingPolicyTest() {
    usage = {};
    now += std::chrono::hours(1);
  }

  /// Works alone, without its core for `lost` of each millisecond, until the mode changes or `most` are
  /// over. Of each millisecond a loop of `loop` is seen. Returns how long.
  milliseconds work(SharingPolicy& policy, milliseconds most, microseconds lost = {},
                    nanoseconds loop = milliseconds(1)) {
    milliseconds length{};
    for (Mode before = policy.mode(); length < most; length += milliseconds(1)) {
      if (policy.begin(now) != before)
        break;
      now += milliseconds(1);
      usage.processorTime += milliseconds(1) - lost;
      policy.noteAlone(loop, true);
    }
    return length;
  }

  /// Goes through a trial in which the other threads lose `lost` cores.
  void tryOut(SharingPolicy& policy, double lost, microseconds lostByCaller = {}) {
    ASSERT_EQ(policy.mode(), Mode::Trial);
    EXPECT_EQ(work(policy, milliseconds(11), lostByCaller), milliseconds(11));
    EXPECT_EQ(policy.mode(), Mode::Trial);
    policy.endTrial(now, lost);
  }

  /// The same of a policy that is new.
  void beginAndTryOut(SharingPolicy& policy, double lost, microseconds lostByCaller = {}) {
    ASSERT_EQ(policy.mode(), Mode::Alone);
    EXPECT_EQ(work(policy, milliseconds(100)), milliseconds(4));
    tryOut(policy, lost, lostByCaller);
  }

  /// Fails in sharing after a share of loops.
  void fail(SharingPolicy& policy) {
    ASSERT_EQ(policy.mode(), Mode::Shared);
    policy.noteShared(milliseconds(0), milliseconds(6), false, now);
    ASSERT_EQ(policy.mode(), Mode::Alone);
  }

  static inline SharingPolicy::Usage usage;
  SharingPolicy::Time now;

  SharingPolicy make(int threads = 2) {
    return {threads, [] { return usage; }, now};
  }
};

TEST_F(SharingPolicyTest, SharesAfterATrial) {
  SharingPolicy policy = make();
  beginAndTryOut(policy, 0.02);
  EXPECT_EQ(policy.mode(), Mode::Shared);
  EXPECT_EQ(policy.begin(now), Mode::Shared);
}

TEST_F(SharingPolicyTest, NeverTriesWhereLoopsAreShort) {
  SharingPolicy policy = make();
  EXPECT_EQ(work(policy, milliseconds(1000), {}, nanoseconds(799)), milliseconds(1000));
  EXPECT_EQ(policy.mode(), Mode::Alone);
  // Those of the last 4 ms count: a step may take longer and longer.
  EXPECT_LE(work(policy, milliseconds(100), {}, nanoseconds(801)), milliseconds(8));
  EXPECT_EQ(policy.mode(), Mode::Trial);
}

TEST_F(SharingPolicyTest, CountsAPieceOfALoopAsNoLoop) {
  SharingPolicy policy = make();
  ASSERT_EQ(policy.begin(now), Mode::Alone);
  policy.noteAlone(nanoseconds(500), true);
  policy.noteAlone(nanoseconds(500), false);
  now += milliseconds(4);
  usage.processorTime += milliseconds(4);
  EXPECT_EQ(policy.begin(now), Mode::Trial);
}

/// The caller has lost its core before the first loop: no other thread is started.
TEST_F(SharingPolicyTest, StartsWithoutATrialWhereTheCallerHasLostItsCore) {
  SharingPolicy policy = make();
  now += milliseconds(20);
  usage.processorTime += milliseconds(15);
  ASSERT_EQ(policy.begin(now), Mode::Alone);
  EXPECT_EQ(work(policy, milliseconds(5000)), milliseconds(64));
  EXPECT_EQ(policy.mode(), Mode::Trial);
}

TEST_F(SharingPolicyTest, WorksAloneAfterATrialInWhichCoresWereLost) {
  struct {
    int threads;
    double lostByWorkers;
    microseconds lostByCaller; // of a millisecond
    Mode mode;
  } cases[] = {{2, 0.24, microseconds(0), Mode::Shared},  {2, 0.26, microseconds(0), Mode::Alone},
               {2, 0.0, microseconds(240), Mode::Shared}, {2, 0.0, microseconds(260), Mode::Alone},
               {2, 0.1, microseconds(200), Mode::Alone},  {16, 1.9, microseconds(0), Mode::Shared},
               {16, 1.9, microseconds(200), Mode::Alone}};
  for (const auto& [threads, lostByWorkers, lostByCaller, mode] : cases) {
    SharingPolicy policy = make(threads);
    beginAndTryOut(policy, lostByWorkers, lostByCaller);
    EXPECT_EQ(policy.mode(), mode)
        << threads << ' ' << lostByWorkers << ' ' << lostByCaller.count();
  }
}

/// Beside other work the caller loses its core before the others are woken up.
TEST_F(SharingPolicyTest, TriesAgainOnceTheCallerKeptItsCore) {
  SharingPolicy policy = make();
  beginAndTryOut(policy, 0.5);
  EXPECT_EQ(work(policy, milliseconds(5000), microseconds(500)), milliseconds(5000));
  EXPECT_EQ(policy.mode(), Mode::Alone);
  milliseconds length = work(policy, milliseconds(5000));
  EXPECT_GE(length, milliseconds(54)); // the last loss was noticed up to 10 ms ago
  EXPECT_LE(length, milliseconds(84)); // and what was lost just now after 10 ms
  EXPECT_EQ(policy.mode(), Mode::Trial);
}

/// A caller that waits for a file, or for others between loops, uses no processor time either.
TEST_F(SharingPolicyTest, DoesNotTakeSleepForALoss) {
  SharingPolicy policy = make();
  beginAndTryOut(policy, 0.5);
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(policy.begin(now), Mode::Alone);
    now += milliseconds(1);
    policy.noteAlone(milliseconds(1), true);
    ++usage.sleeps;
  }
  ASSERT_EQ(policy.begin(now), Mode::Trial);
  now += milliseconds(11);
  ++usage.sleeps;
  policy.endTrial(now, 0);
  EXPECT_EQ(policy.mode(), Mode::Shared);
}

TEST_F(SharingPolicyTest, WorksAloneForLongerAfterEachFailure) {
  SharingPolicy policy = make();
  beginAndTryOut(policy, 1);
  for (int length : {64, 128, 256, 512, 1000, 1000}) {
    milliseconds alone = work(policy, milliseconds(5000));
    EXPECT_GE(alone, milliseconds(length));
    EXPECT_LE(alone, milliseconds(length + 3)); // what is looked at is 4 ms long
    tryOut(policy, 1);
  }
  EXPECT_EQ(work(policy, milliseconds(5000)), milliseconds(1000));
  tryOut(policy, 0);
  now += milliseconds(900);
  fail(policy); // soon again
  EXPECT_EQ(work(policy, milliseconds(5000)), milliseconds(1000));
  tryOut(policy, 0);
  now += milliseconds(1100);
  fail(policy);
  EXPECT_EQ(work(policy, milliseconds(5000)), milliseconds(64));
}

TEST_F(SharingPolicyTest, WeighsWaitsAgainstWork) {
  SharingPolicy policy = make();
  beginAndTryOut(policy, 0);
  for (int i = 0; i < 100; ++i) // as long as threads take to wake up
    policy.noteShared(microseconds(1), microseconds(100), false, now);
  for (int i = 0; i < 100; ++i)
    policy.noteShared(milliseconds(1), microseconds(500), false, now);
  EXPECT_EQ(policy.mode(), Mode::Shared);
  policy.noteShared(microseconds(0), microseconds(499), false, now);
  EXPECT_EQ(policy.mode(), Mode::Shared);
  policy.noteShared(microseconds(0), microseconds(101), false, now);
  EXPECT_EQ(policy.mode(), Mode::Alone);
}

TEST_F(SharingPolicyTest, GoesOnSharingAfterAShortWait) {
  SharingPolicy policy = make();
  beginAndTryOut(policy, 0);
  policy.noteShared(milliseconds(50), microseconds(0), false, now);
  policy.noteShared(milliseconds(0), milliseconds(5), false, now); // 5 ms gained count
  EXPECT_EQ(policy.mode(), Mode::Shared);
  policy.noteShared(milliseconds(0), microseconds(500), false, now);
  EXPECT_EQ(policy.mode(), Mode::Alone);
}

TEST_F(SharingPolicyTest, WorksAloneWhereTheOthersTakePartInNothing) {
  SharingPolicy policy = make();
  beginAndTryOut(policy, 0);
  policy.noteShared(microseconds(3900), microseconds(0), true, now);
  policy.noteShared(microseconds(3900), microseconds(0), false, now);
  policy.noteShared(microseconds(3900), microseconds(0), true, now);
  EXPECT_EQ(policy.mode(), Mode::Shared);
  policy.noteShared(microseconds(100), microseconds(0), true, now);
  EXPECT_EQ(policy.mode(), Mode::Alone);
}

TEST_F(SharingPolicyTest, SharesWithoutATrialWhereNothingSaysWhatThreadsUse) {
  SharingPolicy policy(2, nullptr, now);
  EXPECT_EQ(policy.begin(now), Mode::Shared);
  fail(policy);
  EXPECT_EQ(work(policy, milliseconds(5000)), milliseconds(64));
  EXPECT_EQ(policy.mode(), Mode::Shared);
}

} // namespace
} // namespace tenon::runtime
