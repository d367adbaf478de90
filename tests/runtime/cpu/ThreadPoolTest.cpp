#include "runtime/cpu/ThreadPool.h"

#include <chrono>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

/// Runs a loop that counts how often each item is visited, and where its range began.
struct Visits {
  std::vector<int> counts;
  std::vector<int64_t> starts;

  Visits(ThreadPool& pool, int64_t items) : counts(items), starts(items) {
    pool.run(
        items,
        [](void* context, int64_t first, int64_t end) {
          auto& visits = *static_cast<Visits*>(context);
          for (int64_t i = first; i < end; ++i) {
            ++visits.counts[i];
            visits.starts[i] = first;
          }
        },
        this);
  }
};

class ThreadPoolTest : public testing::TestWithParam<int> {
protected:
  std::unique_ptr<ThreadPool> pool = *ThreadPool::create(GetParam());
};

TEST_P(ThreadPoolTest, VisitsEveryItemOnce) {
  for (int64_t items : {0, 1, 2, 3, 4, 5, 6, 7, 100, 1001})
    EXPECT_THAT(Visits(*pool, items).counts, testing::Each(1)) << items;
}

TEST_P(ThreadPoolTest, SplitsIntoContiguousEqualRanges) {
  Visits visits(*pool, 1000);
  std::vector<int64_t> expected;
  for (int64_t thread = 0; thread < GetParam(); ++thread)
    expected.resize(1000 * (thread + 1) / GetParam(), 1000 * thread / GetParam());
  EXPECT_EQ(visits.starts, expected);
}

TEST_P(ThreadPoolTest, OneLoopSeesWhatTheLastOneWrote) {
  std::vector<int64_t> values(64);
  std::iota(values.begin(), values.end(), 0);
  constexpr int rounds = 20'000;
  // Every loop moves each value by one place: a stale read would lose one.
  struct Context {
    std::vector<int64_t> from, to;
  } context{values, values};
  for (int round = 0; round < rounds; ++round) {
    pool->run(
        64,
        [](void* argument, int64_t first, int64_t end) {
          auto& moved = *static_cast<Context*>(argument);
          for (int64_t i = first; i < end; ++i)
            moved.to[i] = moved.from[(i + 1) % 64];
        },
        &context);
    std::swap(context.from, context.to);
  }
  for (int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(context.from[i], (i + rounds) % 64);
}

TEST_P(ThreadPoolTest, WakesUpAfterSleeping) {
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_THAT(Visits(*pool, 10).counts, testing::Each(1));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 5, 16));

TEST(ThreadPool, RefusesAnImpossibleNumberOfThreads) {
  for (int threads : {0, -1, ThreadPool::maxThreads + 1}) {
    absl::Status status = ThreadPool::create(threads).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message()),
              "expects between 1 and 1024 threads, but got " + std::to_string(threads));
  }
}

TEST(ThreadPool, EndsWithoutEverRunning) {
  for (int round = 0; round < 50; ++round)
    EXPECT_TRUE(ThreadPool::create(3).ok());
}

TEST(ThreadPool, KnowsTheUsableCores) { EXPECT_GE(usableCores(), 1); }

} // namespace
} // namespace tenon::runtime
