#ifndef TENON_RUNTIME_CPU_THREADPOOL_H
#define TENON_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include <pthread.h>

#include "absl/status/statusor.h"
#include "runtime/cpu/SharingPolicy.h"
#include "runtime/cpu/UsableCores.h"

namespace tenon::runtime {

/// What the system has counted of the calling thread since it began.
SharingPolicy::Usage usageOfThread();

/// A pool of persistent threads for loops of microseconds, see
/// docs/decisions/0001-spinning-thread-pool.md.
///
/// Loops are split statically: thread t of T is meant to work on items [⌈n·t/T⌉, ⌈n·(t+1)/T⌉), so the
/// same thread meets the same memory in every call. It claims its part in `pieces` pieces, one after
/// the other. A piece belongs to the thread that claims it first: who is done takes over what no one
/// has begun, so a thread that waits for a core holds up no more than the piece that it is at.
///
/// Waiting is bounded: threads spin or yield, then sleep on a futex. Where other work wants the cores, or
/// loops are so short that sharing gains nothing, the caller works alone, see SharingPolicy; so it does
/// for the first 15 ms, while the pool finds out. Before there is something to share no other thread
/// exists.
///
/// Not thread-safe: one caller at a time.
class ThreadPool {
public:
  /// Pieces of a part: of the two halves of a causal attention the later takes three times the time
  /// of the earlier, and by four pieces each two threads end after 0.45 and 0.55 of the whole.
  static constexpr int pieces = 4;

  /// Works on items [first, end).
  using Body = void (*)(void* context, int64_t first, int64_t end);

  static constexpr int maxThreads = 1024;

  /// A pool of `threads` − 1 threads and the caller of `run`. Fails with InvalidArgument unless
  /// 1 ≤ threads ≤ maxThreads. What a thread would do that the system cannot start is left to the others.
  /// The pool counts on `cores` cores: where it has more threads, a waiting one gives its core away at
  /// once. `usage` is of the calling thread; without it, or with more threads than cores, the pool shares
  /// loops at once.
  static absl::StatusOr<std::unique_ptr<ThreadPool>>
  create(int threads, int cores = usableCores(), SharingPolicy::ReadUsage usage = usageOfThread);

  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls `body` on disjoint parts of [0, items), on all threads or on the caller alone, and returns
  /// when every part is done; what the parts wrote is visible afterwards. 0 ≤ items ≤ 2^40. Allocates
  /// nothing but, once, the threads.
  void run(int64_t items, Body body, void* context);

  int threads() const { return threadCount; }

private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    ThreadPool* pool = nullptr;
    int index = 0;
    pthread_t thread = {};
    /// What it lost in a trial, in µs, in the lower half, and the number of that trial in the upper.
    std::atomic<uint64_t> lost{0};
  };

  ThreadPool(int threads, int cores, SharingPolicy::ReadUsage usage);
  static void* workerMain(void* worker);
  void startWorkers();
  int claim(int part, uint32_t loop);
  int runPieces(int first, uint32_t loop);
  void finish(int count);
  void watchCore(Worker& worker, uint32_t loop);
  void startTrial();
  bool isTrialOver(Clock::time_point now) const;
  double lostInTrial() const;
  void awaitWorkers();
  int64_t runAlone(int64_t items, Body body, void* context);
  void share(int64_t first, int64_t end, Body body, void* context);

  const int threadCount;
  const bool spins; ///< a waiting thread, before it sleeps; else it yields
  const SharingPolicy::ReadUsage usage;
  std::unique_ptr<Worker[]> workers;
  int started = 0;              ///< of the workers
  bool hasTriedToStart = false; ///< all of them
  /// Pieces of a thread's part that are claimed: the number of the loop, the one under way or the
  /// one before, in the upper half, the pieces in the lower half.
  struct alignas(64) Claims {
    std::atomic<uint64_t> state{0};
  };
  // The loop under way: written by `run` before it raises `epoch`, read by those who hold a piece.
  int64_t firstItem = 0, items = 0;
  Body body = nullptr;
  void* context = nullptr;
  std::atomic<bool> stopping{false};
  std::unique_ptr<Claims[]> claims; ///< by part
  /// Number of loops shared and trials so far; idle threads wait for it to change.
  alignas(64) std::atomic<uint32_t> epoch{0};
  std::atomic<uint32_t> trial{0}; ///< the number, among them, of the last trial
  std::atomic<Clock::time_point> trialStart{};
  /// Pieces of the loop under way that are not done.
  alignas(64) std::atomic<int> pending{0};
  // The caller's own.
  alignas(64) SharingPolicy policy;
  int untimedLoops = 0; ///< on which it works alone before it looks at the clock again
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_THREADPOOL_H
