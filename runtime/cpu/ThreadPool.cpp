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

// Who waits at most so long may have waited for a thread to wake up, which takes some tens of µs. The
// least slice of Linux' scheduler, for which a worker that has lost its core is away, is 0.7 ms.
static constexpr std::chrono::microseconds mostDelay(100);
// The caller works alone once it has lost so much, net of half the time of its own work: alone it would
// take twice that, but beside other work its core would be its own for longer. What was gained before
// is set against a loss as far as `mostGained`, so that a quiet machine may stumble now and then.
static constexpr std::chrono::microseconds mostLost(500);
static constexpr std::chrono::milliseconds mostGained(5);
static constexpr std::chrono::microseconds mostAbsence(500);
/// The inverse is the share of time that is lost to finding out whether the cores are free again. While
/// they are not, the caller backs off for twice as long each time: a scheduler that shares cores among
/// groups takes from the caller's core, for some tens of ms, what it counts for the others.
static constexpr int timesAlone = 64, mostBackoff = 4;
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
      claims(std::make_unique<Claims[]>(threads)) {
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

/// Claims the next piece of `part`; -1 where none is left. Every piece of a loop is claimed before the
/// next loop begins: a thread that still looks at an earlier loop finds none.
int ThreadPool::claim(int part, uint32_t loop) {
  std::atomic<uint64_t>& state = claims[part].state;
  uint64_t seen = state.load(std::memory_order_relaxed), next = 0;
  do {
    auto seenLoop = static_cast<uint32_t>(seen >> 32);
    if (seenLoop == loop ? static_cast<uint32_t>(seen) == pieces : seenLoop != loop - 1)
      return -1;
    next = seenLoop == loop ? seen + 1 : (uint64_t{loop} << 32) + 1;
  } while (!state.compare_exchange_weak(seen, next, std::memory_order_relaxed));
  return static_cast<int>(static_cast<uint32_t>(next)) - 1;
}

/// Works on part `first` and those after it, as far as nobody has begun them. Returns the number of
/// pieces.
int ThreadPool::runPieces(int first, uint32_t loop) {
  int count = 0;
  for (int offset = 0; offset < threadCount; ++offset) {
    int part = (first + offset) % threadCount;
    for (int piece; (piece = claim(part, loop)) >= 0; ++count) {
      int64_t index = int64_t{part} * pieces + piece, all = int64_t{threadCount} * pieces;
      int64_t begin = (items * index + all - 1) / all;
      int64_t end = (items * (index + 1) + all - 1) / all;
      if (begin < end)
        body(context, begin, end);
    }
  }
  return count;
}

void ThreadPool::finish(int count) {
  if (count > 0 && pending.fetch_sub(count, std::memory_order_acq_rel) == count)
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
    pool->finish(pool->runPieces(index, seen));
  }
}

void ThreadPool::workAlone(Clock::time_point now, Clock::duration loss) {
  bool isSoon = now - aloneUntil < alone;
  backoff = isSoon ? std::min(2 * backoff, mostBackoff) : 1;
  alone = backoff * std::min<Clock::duration>(timesAlone * loss, mostAlone);
  aloneUntil = now + alone;
}

/// Waits for the pieces that workers have begun. Long waits say that one has lost its core.
void ThreadPool::awaitWorkers(Clock::time_point start) {
  Clock::time_point done = Clock::now();
  waitUntil(
      spinRounds, [&] { return pending.load(std::memory_order_acquire) == 0; },
      [&] {
        if (int left = pending.load(std::memory_order_acquire); left > 0)
          pending.wait(left, std::memory_order_acquire);
      });
  Clock::time_point end = Clock::now();
  noteWait(done - start, end - done, end);
}

/// Weighs what was lost in waiting against what is gained by sharing.
void ThreadPool::noteWait(Clock::duration worked, Clock::duration waited, Clock::time_point now) {
  if (waited > mostDelay)
    lost += waited;
  lost = std::max<Clock::duration>(lost - worked / 2, -mostGained);
  if (lost < mostLost)
    return;
  workAlone(now, lost);
  lost = {};
}

/// Counts the time of loops that no worker took part in.
void ThreadPool::noteAbsence(int piecesOfCaller, Clock::time_point start) {
  if (piecesOfCaller < threadCount * pieces) {
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
  pending.store(threadCount * pieces, std::memory_order_relaxed);
  uint32_t loop = epoch.fetch_add(1, std::memory_order_acq_rel) + 1;
  epoch.notify_all();
  int count = runPieces(0, loop);
  finish(count);
  if (pending.load(std::memory_order_acquire) > 0)
    awaitWorkers(start);
  else if (lost > -mostGained)
    lost = std::max<Clock::duration>(lost - (Clock::now() - start) / 2, -mostGained);
  noteAbsence(count, start);
}

} // namespace tenon::runtime
