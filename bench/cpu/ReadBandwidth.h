#ifndef TENON_BENCH_CPU_READBANDWIDTH_H
#define TENON_BENCH_CPU_READBANDWIDTH_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "runtime/cpu/AnonymousMemory.h"
#include "runtime/cpu/ThreadPool.h"

namespace tenon::bench {

/// Reads memory at the speed of the machine: the denominator of every "% of read bandwidth".
class ReadBandwidth {
public:
  /// A buffer of random bytes, which should be far larger than any cache, in huge pages where the
  /// kernel gives them, read by all threads of `pool`.
  static absl::StatusOr<ReadBandwidth> create(size_t bytes,
                                              std::unique_ptr<runtime::ThreadPool> pool);

  /// Reads the whole buffer once; returns seconds.
  double measureSeconds();
  size_t bytes() const { return words.size_bytes(); }
  int threads() const { return pool->threads(); }

private:
  ReadBandwidth(runtime::AnonymousMemory memory, std::unique_ptr<runtime::ThreadPool> pool);

  runtime::AnonymousMemory memory;
  std::span<uint64_t> words;
  std::unique_ptr<runtime::ThreadPool> pool;
};

} // namespace tenon::bench

#endif // TENON_BENCH_CPU_READBANDWIDTH_H
