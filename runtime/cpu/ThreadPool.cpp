#include "runtime/cpu/ThreadPool.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace tenon::runtime {

// A pause takes 20 to 50 ns: spin for some 50 µs, longer than most steps; then yield a few times;
// then sleep. With more threads than cores, spinning would keep others from finishing.
static constexpr int maxSpinRounds = 2000;
static constexpr int yieldRounds = 100;

// Cutting loops of shorter pieces would cost more than it may gain.
static constexpr std::chrono::microseconds shortPiece(100);

static void pauseSpin() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

SharingPolicy::Usage usageOfThread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage); // its times are those of the last tick
  return {std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec),
          usage.ru_nvcsw};
}

ThreadPool::ThreadPool(int threads, int cores, SharingPolicy::ReadUsage usage)
    : threadCount(threads), spinRounds(threads <= cores ? maxSpinRounds : 0), usage(usage),
      workers(std::make_unique<Worker[]>(threads - 1)), claims(std::make_unique<Claims[]>(threads)),
      policy(threads, threads <= cores ? usage : nullptr, Clock::now()) {}

absl::StatusOr<std::unique_ptr<ThreadPool>> ThreadPool::create(int threads, int cores,
                                                               SharingPolicy::ReadUsage usage) {
  if (threads < 1 || threads > maxThreads)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects between 1 and %d threads, but got %d", maxThreads, threads));
  std::unique_ptr<ThreadPool> pool(new ThreadPool(threads, cores, usage));
  for (int index = 1; index < threads; ++index) {
    Worker& worker = pool->workers[index - 1];
    worker.pool = pool.get();
    worker.index = index;
    if (int error = pthread_create(&worker.thread, nullptr, workerMain, &worker))
      return absl::ErrnoToStatus(error,
                                 absl::StrFormat("cannot start thread %d of %d", index, threads));
    ++pool->started;
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  stopping.store(true, std::memory_order_relaxed);
  epoch.fetch_add(1);
  epoch.notify_all();
  for (int i = 0; i < started; ++i)
    pthread_join(workers[i].thread, nullptr);
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
        body(context, firstItem + begin, firstItem + end);
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
  auto& worker = *static_cast<Worker*>(argument);
  ThreadPool& pool = *worker.pool;
  for (uint32_t seen = 0;;) {
    waitUntil(
        pool.spinRounds, [&] { return pool.epoch.load(std::memory_order_acquire) != seen; },
        [&] { pool.epoch.wait(seen); });
    seen = pool.epoch.load(std::memory_order_acquire);
    if (pool.stopping.load(std::memory_order_relaxed)) // set before the last change of `epoch`
      return nullptr;
    if (pool.trial.load(std::memory_order_relaxed) == seen)
      pool.watchCore(worker, seen);
    else
      pool.finish(pool.runPieces(worker.index, seen));
  }
}

/// Spins until the trial ends, and says for how long this thread was without its core.
void ThreadPool::watchCore(Worker& worker, uint32_t loop) {
  Clock::time_point start = trialStart.load(std::memory_order_relaxed), now = Clock::now();
  std::chrono::nanoseconds before = usage().processorTime;
  while (now < start + SharingPolicy::trialLength &&
         epoch.load(std::memory_order_relaxed) == loop) {
    for (int i = 0; i < 64;
         ++i) // a thread that reads the clock all the time slows its core's other one
      pauseSpin();
    now = Clock::now();
  }
  std::chrono::nanoseconds used = usage().processorTime - before;
  auto lost = std::chrono::duration_cast<std::chrono::microseconds>(now - start - used).count();
  auto most = std::chrono::microseconds(SharingPolicy::trialLength).count();
  worker.lost.store(uint64_t{loop} << 32 | std::clamp<int64_t>(lost, 0, most),
                    std::memory_order_relaxed);
}

void ThreadPool::startTrial(Clock::time_point now) {
  trialStart.store(now, std::memory_order_relaxed);
  uint32_t loop = epoch.load(std::memory_order_relaxed) + 1;
  trial.store(loop, std::memory_order_relaxed);
  for (int part = 0; part < threadCount; ++part) // it has no pieces to claim
    claims[part].state.store(uint64_t{loop} << 32 | pieces, std::memory_order_relaxed);
  epoch.store(loop, std::memory_order_release);
  epoch.notify_all();
}

/// In cores. A worker that has said nothing was without its core all the time.
double ThreadPool::lostInTrial() const {
  double all = 0;
  for (int i = 0; i < started; ++i) {
    uint64_t said = workers[i].lost.load(std::memory_order_relaxed);
    std::chrono::duration<double, std::micro> lost(static_cast<uint32_t>(said));
    all +=
        said >> 32 == trial.load(std::memory_order_relaxed) ? lost / SharingPolicy::trialLength : 1;
  }
  return all;
}

/// Waits for the pieces that workers have begun. Long waits say that one has lost its core.
void ThreadPool::awaitWorkers() {
  waitUntil(
      spinRounds, [&] { return pending.load(std::memory_order_acquire) == 0; },
      [&] {
        if (int left = pending.load(std::memory_order_acquire); left > 0)
          pending.wait(left, std::memory_order_acquire);
      });
}

/// Works on the caller alone as long as the policy says so. Returns the first item that is left. While
/// there is a trial, the loop is cut into as many pieces as a shared one: a long one is shared after it.
int64_t ThreadPool::runAlone(int64_t itemCount, Body loopBody, void* loopContext) {
  int64_t first = 0, all = int64_t{threadCount} * pieces, piece = (itemCount + all - 1) / all;
  for (Clock::time_point now = Clock::now(); first < itemCount;) {
    SharingPolicy::Mode last = policy.mode(), mode = policy.begin(now);
    if (mode == SharingPolicy::Mode::Trial && last == SharingPolicy::Mode::Alone)
      startTrial(now);
    if (policy.isTrialOver(now)) {
      policy.endTrial(now, lostInTrial());
      mode = policy.mode();
    }
    if (mode == SharingPolicy::Mode::Shared)
      break;
    bool isTrial = mode == SharingPolicy::Mode::Trial;
    int64_t end = isTrial ? std::min(first + piece, itemCount) : itemCount;
    loopBody(loopContext, first, end);
    first = end;
    if (first == itemCount)
      break;
    Clock::time_point before = std::exchange(now, Clock::now());
    if (now - before < shortPiece)
      piece = itemCount;
  }
  return first;
}

void ThreadPool::share(int64_t first, int64_t end, Body loopBody, void* loopContext) {
  Clock::time_point start = Clock::now();
  firstItem = first;
  items = end - first;
  body = loopBody;
  context = loopContext;
  pending.store(threadCount * pieces, std::memory_order_relaxed);
  uint32_t loop = epoch.fetch_add(1, std::memory_order_acq_rel) + 1;
  epoch.notify_all();
  int count = runPieces(0, loop);
  finish(count);
  Clock::time_point done = Clock::now(), now = done;
  if (pending.load(std::memory_order_acquire) > 0) {
    awaitWorkers();
    now = Clock::now();
  }
  policy.noteShared(done - start, now - done, count == threadCount * pieces, now);
}

void ThreadPool::run(int64_t itemCount, Body loopBody, void* loopContext) {
  if (threadCount == 1 || itemCount <= 1) {
    if (itemCount > 0)
      loopBody(loopContext, 0, itemCount);
    return;
  }
  int64_t first = 0;
  if (policy.mode() != SharingPolicy::Mode::Shared)
    first = runAlone(itemCount, loopBody, loopContext);
  if (first < itemCount)
    share(first, itemCount, loopBody, loopContext);
}

} // namespace tenon::runtime
