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
/// same thread meets the same memory in every call. It claims its part in `pieces` pieces, one after
/// the other. A piece belongs to the thread that claims it first: who is done takes over what no one
/// has begun, so a thread that waits for a core holds up no more than the piece that it is at.
///
/// Waiting is bounded: threads spin, then yield, then sleep on a futex. Where the caller still loses
/// more time than it gains, because threads lose their cores in the middle of a piece or take part in
/// nothing, other work wants the cores, and the caller works alone for a multiple of what it has lost.
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
  int claim(int part, uint32_t loop);
  int runPieces(int first, uint32_t loop);
  void finish(int count);
  /// Shares no loop for a multiple of `loss`, the time that was lost.
  void workAlone(Clock::time_point now, Clock::duration loss);
  void awaitWorkers(Clock::time_point start);
  void noteWait(Clock::duration worked, Clock::duration waited, Clock::time_point now);
  void noteAbsence(int piecesOfCaller, Clock::time_point start);

  const int threadCount;
  const int spinRounds; ///< how often a waiting thread looks before it gives up its core
  std::vector<Worker> workers;
  /// Pieces of a thread's part that are claimed: the number of the loop, the one under way or the
  /// one before, in the upper half, the pieces in the lower half.
  struct alignas(64) Claims {
    std::atomic<uint64_t> state{0};
  };
  // The loop under way: written by `run` before it raises `epoch`, read by those who hold a piece.
  int64_t items = 0;
  Body body = nullptr;
  void* context = nullptr;
  // The caller's own.
  Clock::time_point aloneUntil = {}; ///< no loop is shared before
  Clock::duration alone = {};        ///< how long none was shared the last time
  int backoff = 1; ///< how many times as long it works alone as after a first failure of sharing
  Clock::duration absence = {}; ///< of loops, one after the other, of which the caller did all
  Clock::duration lost = {};    ///< in waiting, less what was gained by sharing
  std::atomic<bool> stopping{false};
  std::unique_ptr<Claims[]> claims; ///< by part
  /// Number of loops shared so far; idle threads wait for it to change.
  alignas(64) std::atomic<uint32_t> epoch{0};
  /// Pieces of the loop under way that are not done.
  alignas(64) std::atomic<int> pending{0};
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_THREADPOOL_H
