#ifndef TENON_RUNTIME_CPU_THREADPOOL_H
#define TENON_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <pthread.h>

#include "absl/status/statusor.h"

namespace tenon::runtime {

/// A pool of persistent threads for loops of microseconds, see
/// docs/decisions/0001-spinning-thread-pool.md.
///
/// Loops are split statically: thread t of T is meant to work on items [⌈n·t/T⌉, ⌈n·(t+1)/T⌉), so the
/// same thread meets the same memory in every call. A part belongs to the thread that claims it first:
/// who is done takes over what no one has begun, so a thread that waits for a core holds nobody up.
///
/// Waiting is bounded: threads spin, then yield, then sleep on a futex. Where the caller still loses
/// time, because a thread lost its core in the middle of a part or takes part in nothing, other work
/// wants the cores, and the caller works alone for a multiple of what it has lost.
///
/// Not thread-safe: one caller at a time.
class ThreadPool {
public:
  /// Works on items [first, end).
  using Body = void (*)(void* context, int64_t first, int64_t end);

  static constexpr int maxThreads = 1024;

  /// Starts `threads` − 1 threads; the caller of `run` is the last one. Fails with InvalidArgument
  /// unless 1 ≤ threads ≤ maxThreads, with the system's error if a thread cannot be started.
  static absl::StatusOr<std::unique_ptr<ThreadPool>> create(int threads);

  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls `body` on disjoint parts of [0, items), on all threads or on the caller alone, and returns
  /// when every part is done; what the parts wrote is visible afterwards. 0 ≤ items ≤ 2^40. Allocates
  /// nothing.
  void run(int64_t items, Body body, void* context);

  int threads() const { return threadCount; }

private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    ThreadPool* pool;
    int index;
    pthread_t thread;
  };

  explicit ThreadPool(int threads);
  static void* workerMain(void* worker);
  bool claim(int part, uint32_t loop);
  int runParts(int first, uint32_t loop);
  void finish(int parts);
  /// Shares no loop for a multiple of the time that was lost.
  void workAlone(Clock::time_point now, Clock::duration lost);
  void awaitWorkers(Clock::time_point start);
  void noteAbsence(int partsOfCaller, Clock::time_point start);

  const int threadCount;
  const int spinRounds; ///< how often a waiting thread looks before it gives up its core
  std::vector<Worker> workers;
  // The loop under way: written by `run` before it raises `epoch`, read by those who hold a part.
  int64_t items = 0;
  Body body = nullptr;
  void* context = nullptr;
  // The caller's own.
  Clock::time_point aloneUntil = {}; ///< no loop is shared before
  Clock::duration absence = {};      ///< of loops, one after the other, of which the caller did all
  std::atomic<bool> stopping{false};
  /// By part: the last loop in which it was claimed, `epoch` or the loop before.
  std::unique_ptr<std::atomic<uint32_t>[]> claims;
  /// Number of loops shared so far; idle threads wait for it to change.
  alignas(64) std::atomic<uint32_t> epoch{0};
  /// Parts of the loop under way that are not done.
  alignas(64) std::atomic<int> pending{0};
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_THREADPOOL_H
