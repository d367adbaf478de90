#ifndef TENON_BENCH_CPU_READBANDWIDTH_H
#define TENON_BENCH_CPU_READBANDWIDTH_H

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/cpu/ThreadPool.h"

namespace tenon::bench {

/// Reads memory at the speed of the machine: the denominator of every "% of read bandwidth".
class ReadBandwidth {
public:
  /// A buffer of random bytes, far larger than any cache, read by `threads` spinning threads.
  /// The pool must come from `ThreadPool::create`.
  ReadBandwidth(size_t bytes, std::unique_ptr<runtime::ThreadPool> pool);

  /// Reads the whole buffer once; returns seconds.
  double measureSeconds();
  size_t bytes() const { return words.size_bytes(); }

private:
  std::unique_ptr<uint64_t[]> storage;
  std::span<uint64_t> words;
  std::unique_ptr<runtime::ThreadPool> pool;
};

} // namespace tenon::bench

#endif // TENON_BENCH_CPU_READBANDWIDTH_H
