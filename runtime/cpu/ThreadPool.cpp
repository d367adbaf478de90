#include "runtime/cpu/ThreadPool.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace tenon::runtime {

// A pause takes 20 to 50 ns: spin for some 50 µs, longer than most steps, then sleep. With more threads
// than cores, spinning would keep others from finishing: yield a few times instead.
static constexpr int spinRounds = 2000;
static constexpr int yieldRounds = 100;

// Cutting loops of shorter pieces would cost more than it may gain.
static constexpr std::chrono::microseconds shortPiece(100);

// Reading the clock twice takes 50 ns: a tenth of a short loop, so one of 13 is timed. Steps of models
// seldom have a multiple of 13 loops, of which always the same ones would be seen.
static constexpr std::chrono::microseconds shortLoop(10);
static constexpr int untimedAfterShortLoop = 12;

/// After the end of a trial: who has not said by then what it lost has no core.
static constexpr std::chrono::microseconds trialGrace(500);

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
    : threadCount(threads), spins(threads <= cores), usage(usage),
      workers(std::make_unique<Worker[]>(threads - 1)), claims(std::make_unique<Claims[]>(threads)),
      policy(threads, threads <= cores ? usage : nullptr, Clock::now()) {}

absl::StatusOr<std::unique_ptr<ThreadPool>> ThreadPool::create(int threads, int cores,
                                                               SharingPolicy::ReadUsage usage) {
  if (threads < 1 || threads > maxThreads)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects between 1 and %d threads, but got %d", maxThreads, threads));
  return std::unique_ptr<ThreadPool>(new ThreadPool(threads, cores, usage));
}

void ThreadPool::startWorkers() {
  if (std::exchange(hasTriedToStart, true))
    return;
  for (; started < threadCount - 1; ++started) {
    Worker& worker = workers[started];
    worker.pool = this;
    worker.index = started + 1;
    if (pthread_create(&worker.thread, nullptr, workerMain, &worker) != 0)
      return;
  }
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

/// Returns once `ready` is true: spins or yields, then calls `sleep` until it is.
template <typename Ready, typename Sleep>
static void waitUntil(bool spins, Ready ready, Sleep sleep) {
  for (int round = 0; !ready(); ++round) {
    if (round >= (spins ? spinRounds : yieldRounds))
      sleep();
    else if (spins)
      pauseSpin();
    else
      sched_yield();
  }
}

void* ThreadPool::workerMain(void* argument) {
  auto& worker = *static_cast<Worker*>(argument);
  ThreadPool& pool = *worker.pool;
  for (uint32_t seen = 0;;) {
    waitUntil(
        pool.spins, [&] { return pool.epoch.load(std::memory_order_acquire) != seen; },
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

void ThreadPool::startTrial() {
  startWorkers();
  trialStart.store(Clock::now(), std::memory_order_relaxed);
  uint32_t loop = epoch.load(std::memory_order_relaxed) + 1;
  trial.store(loop, std::memory_order_relaxed);
  for (int part = 0; part < threadCount; ++part) // it has no pieces to claim
    claims[part].state.store(uint64_t{loop} << 32 | pieces, std::memory_order_relaxed);
  epoch.store(loop, std::memory_order_release);
  epoch.notify_all();
}

/// Whether the other threads have had the time to say what they have lost.
bool ThreadPool::isTrialOver(Clock::time_point now) const {
  return now >=
         trialStart.load(std::memory_order_relaxed) + SharingPolicy::trialLength + trialGrace;
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
      spins, [&] { return pending.load(std::memory_order_acquire) == 0; },
      [&] {
        if (int left = pending.load(std::memory_order_acquire); left > 0)
          pending.wait(left, std::memory_order_acquire);
      });
}

/// Works on the caller alone as long as the policy says so. Returns the first item that is left. A long
/// loop is cut into as many pieces as a shared one: what is left of it is shared after a trial.
int64_t ThreadPool::runAlone(int64_t itemCount, Body loopBody, void* loopContext) {
  int64_t first = 0, all = int64_t{threadCount} * pieces, piece = (itemCount + all - 1) / all;
  for (Clock::time_point now = Clock::now(); first < itemCount;) {
    SharingPolicy::Mode last = policy.mode(), mode = policy.begin(now);
    if (mode == SharingPolicy::Mode::Trial && last == SharingPolicy::Mode::Alone)
      startTrial();
    else if (mode == SharingPolicy::Mode::Trial && isTrialOver(now))
      policy.endTrial(now, lostInTrial());
    if (policy.mode() == SharingPolicy::Mode::Shared)
      break;
    int64_t end = std::min(first + piece, itemCount);
    loopBody(loopContext, first, end);
    Clock::time_point before = std::exchange(now, Clock::now());
    policy.noteAlone(now - before, first == 0);
    first = end;
    if (now - before < shortPiece)
      piece = itemCount;
    if (now - before < shortLoop)
      untimedLoops = untimedAfterShortLoop;
  }
  return first;
}

void ThreadPool::share(int64_t first, int64_t end, Body loopBody, void* loopContext) {
  startWorkers();
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
  bool isAlone = threadCount == 1 || itemCount <= 1;
  if (!isAlone && untimedLoops > 0) {
    --untimedLoops;
    isAlone = true;
  }
  if (isAlone) {
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
