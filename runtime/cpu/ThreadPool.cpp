#include "runtime/cpu/ThreadPool.h"

#include <sched.h>

#include "absl/strings/str_format.h"

namespace tenon::runtime {

// A pause takes 20 to 50 ns: spin for some 50 µs, longer than most steps; then yield for a few ms,
// longer than choosing a token; then sleep. With more threads than cores, spinning would keep
// others from finishing.
static constexpr int maxSpinRounds = 2000;
static constexpr int yieldRounds = 10000;

static void pauseSpin() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int usableCores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
    return 1;
  return CPU_COUNT(&cores);
}

ThreadPool::ThreadPool(int threads)
    : threadCount(threads), spinRounds(threads <= usableCores() ? maxSpinRounds : 0) {
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
  stopping = true;
  epoch.fetch_add(1);
  epoch.notify_all();
  for (Worker& worker : workers)
    pthread_join(worker.thread, nullptr);
}

void ThreadPool::runPart(int thread) {
  int64_t first = items * thread / threadCount, end = items * (thread + 1) / threadCount;
  if (first < end)
    body(context, first, end);
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
  for (uint32_t seen = 0;; ++seen) {
    waitUntil(
        pool->spinRounds, [&] { return pool->epoch.load(std::memory_order_acquire) != seen; },
        [&] { pool->epoch.wait(seen); });
    if (pool->stopping)
      return nullptr;
    pool->runPart(index);
    pool->pending.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::run(int64_t itemCount, Body loopBody, void* loopContext) {
  if (threadCount == 1 || itemCount <= 1) {
    if (itemCount > 0)
      loopBody(loopContext, 0, itemCount);
    return;
  }
  items = itemCount;
  body = loopBody;
  context = loopContext;
  pending.store(threadCount - 1, std::memory_order_relaxed);
  epoch.fetch_add(1);
  epoch.notify_all();
  runPart(0);
  // The other parts are as long as this one: no thread needs to sleep here.
  waitUntil(spinRounds, [&] { return pending.load(std::memory_order_acquire) == 0; }, sched_yield);
}

} // namespace tenon::runtime
