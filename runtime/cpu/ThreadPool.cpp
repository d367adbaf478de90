#include "runtime/cpu/ThreadPool.h"

#include <sched.h>

#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/cpu/UsableCores.h"

namespace tenon::runtime {

// A pause takes 20 to 50 ns: spin for some 50 µs, longer than most steps; then yield a few times;
// then sleep. With more threads than cores, spinning would keep others from finishing.
static constexpr int maxSpinRounds = 2000;
static constexpr int yieldRounds = 100;

// A worker is late by so much only where it has lost its core: parts are about equal, but of a causal
// attention the last of two is three times the first, and waking up takes some tens of µs. The least
// slice of Linux' scheduler is 0.7 ms.
static constexpr int mostTimesLonger = 4;
static constexpr std::chrono::microseconds mostDelay(100);
static constexpr std::chrono::microseconds mostAbsence(500);
/// The inverse is the share of time that is lost to finding out whether the cores are free again.
static constexpr int timesAlone = 32;
static constexpr std::chrono::seconds mostAlone(1);

static void pauseSpin() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

ThreadPool::ThreadPool(int threads)
    : threadCount(threads), spinRounds(threads <= usableCores() ? maxSpinRounds : 0),
      claims(std::make_unique<std::atomic<uint32_t>[]>(threads)) {
  workers.reserve(threads - 1);
}

absl::StatusOr<std::unique_ptr<ThreadPool>> ThreadPool::create(int threads) {
  if (threads < 1 || threads > maxThreads)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects between 1 and %d threads, but got %d", maxThreads, threads));
  std::unique_ptr<ThreadPool> pool(new ThreadPool(threads));
  for (int index = 1; index < threads; ++index) {
    Worker& worker = pool->workers.emplace_back(Worker{pool.get(), index, {}});
    if (int error = pthread_create(&worker.thread, nullptr, workerMain, &worker)) {
      pool->workers.pop_back();
      return absl::ErrnoToStatus(error,
                                 absl::StrFormat("cannot start thread %d of %d", index, threads));
    }
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  stopping.store(true, std::memory_order_relaxed);
  epoch.fetch_add(1);
  epoch.notify_all();
  for (Worker& worker : workers)
    pthread_join(worker.thread, nullptr);
}

/// Every part of a loop is claimed before the next loop begins: a thread that still looks at an
/// earlier loop finds none of its parts.
bool ThreadPool::claim(int part, uint32_t loop) {
  uint32_t before = loop - 1;
  return claims[part].load(std::memory_order_relaxed) == before &&
         claims[part].compare_exchange_strong(before, loop, std::memory_order_relaxed);
}

/// Works on part `first` and those after it, as far as nobody has begun them. Returns how many.
int ThreadPool::runParts(int first, uint32_t loop) {
  int count = 0;
  for (int offset = 0; offset < threadCount; ++offset) {
    int part = (first + offset) % threadCount;
    if (!claim(part, loop))
      continue;
    ++count;
    int64_t begin = (items * part + threadCount - 1) / threadCount;
    int64_t end = (items * (part + 1) + threadCount - 1) / threadCount;
    if (begin < end)
      body(context, begin, end);
  }
  return count;
}

void ThreadPool::finish(int parts) {
  if (parts > 0 && pending.fetch_sub(parts, std::memory_order_acq_rel) == parts)
    pending.notify_one();
}

/// Returns once `ready` is true: spins, yields, then calls `sleep` until it is.
template <typename Ready, typename Sleep>
static void waitUntil(int spinRounds, Ready ready, Sleep sleep) {
  for (int round = 0; !ready(); ++round) {
    if (round < spinRounds)
      pauseSpin();
    else if (round < spinRounds + yieldRounds)
      sched_yield();
    else
      sleep();
  }
}

void* ThreadPool::workerMain(void* argument) {
  auto [pool, index, thread] = *static_cast<Worker*>(argument);
  for (uint32_t seen = 0;;) {
    waitUntil(
        pool->spinRounds, [&] { return pool->epoch.load(std::memory_order_acquire) != seen; },
        [&] { pool->epoch.wait(seen); });
    seen = pool->epoch.load(std::memory_order_acquire);
    if (pool->stopping.load(std::memory_order_relaxed)) // set before the last change of `epoch`
      return nullptr;
    pool->finish(pool->runParts(index, seen));
  }
}

void ThreadPool::workAlone(Clock::time_point now, Clock::duration lost) {
  aloneUntil = now + std::min<Clock::duration>(timesAlone * lost, mostAlone);
}

/// Waits for the parts that workers have begun. Long waits say that one has lost its core.
void ThreadPool::awaitWorkers(Clock::time_point start) {
  Clock::time_point done = Clock::now();
  waitUntil(
      spinRounds, [&] { return pending.load(std::memory_order_acquire) == 0; },
      [&] {
        if (int left = pending.load(std::memory_order_acquire); left > 0)
          pending.wait(left, std::memory_order_acquire);
      });
  Clock::time_point end = Clock::now();
  Clock::duration waited = end - done;
  if (waited > mostTimesLonger * (done - start) + mostDelay)
    workAlone(end, waited);
}

/// Counts the time of loops that no worker took part in.
void ThreadPool::noteAbsence(int partsOfCaller, Clock::time_point start) {
  if (partsOfCaller < threadCount) {
    absence = {};
    return;
  }
  Clock::time_point end = Clock::now();
  absence += end - start;
  if (absence < mostAbsence)
    return;
  workAlone(end, absence);
  absence = {};
}

void ThreadPool::run(int64_t itemCount, Body loopBody, void* loopContext) {
  bool isShared = threadCount > 1 && itemCount > 1;
  Clock::time_point start = isShared ? Clock::now() : Clock::time_point();
  if (!isShared || start < aloneUntil) {
    if (itemCount > 0)
      loopBody(loopContext, 0, itemCount);
    return;
  }
  items = itemCount;
  body = loopBody;
  context = loopContext;
  pending.store(threadCount, std::memory_order_relaxed);
  uint32_t loop = epoch.fetch_add(1, std::memory_order_acq_rel) + 1;
  epoch.notify_all();
  int parts = runParts(0, loop);
  finish(parts);
  if (pending.load(std::memory_order_acquire) > 0)
    awaitWorkers(start);
  noteAbsence(parts, start);
}

} // namespace tenon::runtime
