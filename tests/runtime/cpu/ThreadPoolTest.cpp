#include "runtime/cpu/ThreadPool.h"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cpu/UsableCores.h"
#include "tests/common/TempFolder.h"

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

/// What a thread has used that never loses its core.
SharingPolicy::Usage ownCore() { return {std::chrono::steady_clock::now().time_since_epoch(), 0}; }

/// Where none but the caller, which is the main thread, ever gets a core.
SharingPolicy::Usage ownCoreOfCaller() {
  return ::gettid() == ::getpid() ? ownCore() : SharingPolicy::Usage{};
}

class ThreadPoolTest : public testing::TestWithParam<int> {
protected:
  std::unique_ptr<ThreadPool> pool = *ThreadPool::create(GetParam(), usableCores(), nullptr);
};

TEST_P(ThreadPoolTest, VisitsEveryItemOnce) {
  for (int64_t items : {0, 1, 2, 3, 4, 5, 6, 7, 100, 1001})
    EXPECT_THAT(Visits(*pool, items).counts, testing::Each(1)) << items;
}

TEST_P(ThreadPoolTest, SplitsIntoContiguousEqualPieces) {
  Visits visits(*pool, 1000);
  std::vector<int64_t> expected;
  int64_t all = GetParam() == 1 ? 1 : int64_t{GetParam()} * ThreadPool::pieces;
  for (int64_t piece = 0; piece < all; ++piece)
    expected.resize((1000 * (piece + 1) + all - 1) / all, (1000 * piece + all - 1) / all);
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

int threadsOfProcess() {
  return static_cast<int>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

/// Whether a pool starts no thread in 50 ms of loops that are too short to share.
bool staysAlone() {
  int before = threadsOfProcess();
  auto pool = *ThreadPool::create(2, 2);
  EXPECT_EQ(threadsOfProcess(), before);
  // The loops do nothing. An atomic addition takes a microsecond under ThreadSanitizer, which is worth
  // sharing; a plain one would be a race in a loop that is shared because it lost its core.
  auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < start + std::chrono::milliseconds(50))
    pool->run(2, [](void*, int64_t, int64_t) {}, nullptr);
  return threadsOfProcess() == before;
}

/// Other threads would take their time from the caller's, where processes are scheduled in groups.
/// A loop that loses its core looks worth sharing, so one try of several has to stay alone.
TEST(ThreadPool, StartsNoThreadBeforeThereIsSomethingToShare) {
  bool stays = false;
  for (int attempt = 0; attempt < 20 && !stays; ++attempt)
    stays = staysAlone();
  EXPECT_TRUE(stays);
}

TEST(ThreadPool, EndsAfterOneLoop) {
  for (int round = 0; round < 50; ++round) {
    auto pool = *ThreadPool::create(3, 3, nullptr);
    EXPECT_THAT(Visits(*pool, 100).counts, testing::Each(1));
  }
}

/// Keeps this thread, and those that it starts, on the first core that it may use.
class OnOneCore {
public:
  OnOneCore() {
    ::sched_getaffinity(0, sizeof(before), &before);
    int core = 0;
    while (!CPU_ISSET(core, &before))
      ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof(one), &one);
  }
  ~OnOneCore() { ::sched_setaffinity(0, sizeof(before), &before); }

private:
  cpu_set_t before;
};

/// On one core a worker hardly ever begins before the caller looks for what is left.
TEST(ThreadPool, TheCallerTakesOverWhatNoOneHasBegun) {
  OnOneCore affinity;
  auto pool = *ThreadPool::create(4);
  constexpr int loops = 500;
  struct Context {
    pthread_t caller = ::pthread_self();
    std::atomic<int> ofCaller{0};
  } context;
  for (int loop = 0; loop < loops; ++loop)
    pool->run(
        4,
        [](void* argument, int64_t first, int64_t end) {
          auto& context = *static_cast<Context*>(argument);
          if (::pthread_self() == context.caller)
            context.ofCaller += static_cast<int>(end - first);
        },
        &context);
  EXPECT_GT(context.ofCaller, loops * 4 / 2);
}

double processorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// A loop whose worker is held up in the middle of its part.
struct HeldUp {
  const std::chrono::milliseconds delay{400};

  pthread_t caller = ::pthread_self();
  std::atomic<bool> begun{false};

  static void run(void* argument, int64_t, int64_t) {
    auto& self = *static_cast<HeldUp*>(argument);
    if (::pthread_self() != self.caller) {
      self.begun = true;
      std::this_thread::sleep_for(self.delay);
      return;
    }
    // Until the worker has its part: else the caller would take it over.
    auto most = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!self.begun && std::chrono::steady_clock::now() < most)
      std::this_thread::yield();
  }
};

TEST(ThreadPool, WaitsWithoutTheCore) {
  auto pool = *ThreadPool::create(2, 2, nullptr);
  HeldUp loop;
  double before = 0;
  // What is measured begins when the worker sleeps.
  std::thread watch([&] {
    while (!loop.begun)
      std::this_thread::yield();
    before = processorSeconds();
  });
  pool->run(2, HeldUp::run, &loop);
  double after = processorSeconds();
  watch.join();
  EXPECT_TRUE(loop.begun);
  EXPECT_LT(after - before, 0.5 * std::chrono::duration<double>(loop.delay).count());
}

/// Who was held up once may be so again: the caller works alone, then tries again.
TEST(ThreadPool, WorksAloneAfterALongWait) {
  auto pool = *ThreadPool::create(2, 2, nullptr);
  HeldUp loop;
  pool->run(2, HeldUp::run, &loop);
  ASSERT_TRUE(loop.begun);
  EXPECT_THAT(Visits(*pool, 1000).starts,
              testing::Each(testing::Le(125))); // a piece, then the rest
  auto most = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (Visits(*pool, 1000).starts.back() != 875 && std::chrono::steady_clock::now() < most) {
  }
  EXPECT_EQ(Visits(*pool, 1000).starts.back(), 875);
}

/// Loops for 150 ms, in which there are two trials.
TEST(ThreadPool, NeverSharesWhereWorkersHaveNoCores) {
  auto pool = *ThreadPool::create(2, 2, ownCoreOfCaller);
  auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < start + std::chrono::milliseconds(150)) {
    Visits visits(*pool, 1001);
    EXPECT_THAT(visits.counts, testing::Each(1));
    // All at once, or in the pieces of a trial; the last piece of a shared loop begins at 876.
    EXPECT_EQ(visits.starts.back() % 126, 0);
  }
}

/// A first loop may take much longer than a trial.
TEST(ThreadPool, SharesTheRestOfALoopAfterTheTrial) {
  struct Context {
    pthread_t caller = ::pthread_self();
    std::atomic<bool> isShared{false};
    std::vector<int> counts = std::vector<int>(80);

    static void run(void* argument, int64_t first, int64_t end) {
      auto& self = *static_cast<Context*>(argument);
      for (int64_t i = first; i < end; ++i)
        ++self.counts[i];
      std::this_thread::sleep_for(std::chrono::milliseconds(4 * (end - first) / 10));
      if (::pthread_self() != self.caller)
        self.isShared = true;
    }
  };
  // Where other work delays the worker's report, the trial fails: another pool has another.
  bool isShared = false;
  for (int round = 0; round < 100 && !isShared; ++round) {
    auto pool = *ThreadPool::create(2, 2, ownCore);
    Context context;
    pool->run(80, Context::run, &context);
    EXPECT_THAT(context.counts, testing::Each(1));
    isShared = context.isShared;
  }
  EXPECT_TRUE(isShared);
}

TEST(ThreadPool, KnowsWhatAThreadHasUsed) {
  SharingPolicy::Usage before = usageOfThread();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  SharingPolicy::Usage slept = usageOfThread();
  EXPECT_GT(slept.sleeps, before.sleeps);
  EXPECT_LT(slept.processorTime - before.processorTime, std::chrono::milliseconds(10));
  while (usageOfThread().processorTime < slept.processorTime + std::chrono::milliseconds(20)) {
  }
}

TEST(UsableCores, AreOneAtLeast) {
  EXPECT_GE(usableCores(), 1);
  OnOneCore affinity;
  EXPECT_EQ(usableCores(), 1);
}

TEST(UsableCores, AreBoundedByControlGroups) {
  tests::TempFolder folder;
  auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::path file = folder.path(path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  auto quota = [&](const std::string& groups) { return quotaCores(folder.path(""), groups); };
  EXPECT_EQ(quota("0::/\n"), std::nullopt);
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(quota("0::/\n"), std::nullopt);
  write("outer/cpu.max", "250000 100000\n");
  write("outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(quota("0::/outer/inner\n"), 2.5); // that of the group around it
  write("outer/inner/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota("0::/outer/inner\n"), 1.5);
  EXPECT_EQ(quota("3:memory:/outer\n1:name=systemd:/\n"), std::nullopt);
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota("4:cpu,cpuacct:/job\n3:memory:/outer\n"), 3.0);
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota("4:cpu,cpuacct:/job\n"), std::nullopt);
  EXPECT_EQ(quota("nonsense\n\n::"), std::nullopt);
}

} // namespace
} // namespace tenon::runtime
