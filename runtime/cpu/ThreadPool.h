#ifndef TENON_RUNTIME_CPU_THREADPOOL_H
#define TENON_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <pthread.h>

#include "absl/status/statusor.h"

namespace tenon::runtime {

/// The number of cores that this process may run on (sched_getaffinity); at least 1.
int usableCores();

/// A pool of persistent threads for loops of microseconds, see
/// docs/decisions/0001-spinning-thread-pool.md.
///
/// Idle threads first spin, then yield, then sleep on a futex, so that one loop follows another
/// within a microsecond while a pool that nobody uses costs nothing. Loops are split statically:
/// thread t of T works on items [n·t/T, n·(t+1)/T), so the same thread meets the same memory in
/// every call. Not thread-safe: one caller at a time.
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

  /// Calls `body` on disjoint parts of [0, items) on all threads and returns when every part is
  /// done; what the parts wrote is visible afterwards. 0 ≤ items ≤ 2^40. Allocates nothing.
  void run(int64_t items, Body body, void* context);

  int threads() const { return threadCount; }

private:
  struct Worker {
    ThreadPool* pool;
    int index;
    pthread_t thread;
  };

  explicit ThreadPool(int threads);
  static void* workerMain(void* worker);
  void runPart(int thread);

  const int threadCount;
  const int spinRounds; ///< how often a waiting thread looks before it gives up its core
  std::vector<Worker> workers;
  // The loop under way: written by `run` before it raises `epoch`.
  int64_t items = 0;
  Body body = nullptr;
  void* context = nullptr;
  bool stopping = false;
  /// Number of loops started so far; idle threads wait for it to change.
  alignas(64) std::atomic<uint32_t> epoch{0};
  /// Threads that have not finished the loop under way.
  alignas(64) std::atomic<int> pending{0};
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_THREADPOOL_H
