#include "bench/cpu/ReadBandwidth.h"

#include <random>

#include <benchmark/benchmark.h>

#include "bench/cpu/Median.h"
#include "support/Status.h"

namespace tenon::bench {

namespace {

/// Words that one item of the parallel loop reads: 1 MiB.
constexpr size_t wordsPerItem = (size_t(1) << 20) / sizeof(uint64_t);

/// Sums with enough independent accumulators that loads, not additions, set the pace; in the widest
/// vectors of the machine.
__attribute__((target_clones("avx512f", "avx2", "default"))) uint64_t
sumWords(const uint64_t* words, size_t count) {
  constexpr size_t lanes = 64;
  uint64_t sums[lanes] = {};
  for (size_t i = 0; i + lanes <= count; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += words[i + lane];
  uint64_t total = 0;
  for (uint64_t sum : sums)
    total += sum;
  return total;
}

} // namespace

ReadBandwidth::ReadBandwidth(runtime::AnonymousMemory owned,
                             std::unique_ptr<runtime::ThreadPool> pool)
    : memory(std::move(owned)), words(reinterpret_cast<uint64_t*>(memory.bytes().data()),
                                      memory.bytes().size() / sizeof(uint64_t)),
      pool(std::move(pool)) {
  std::mt19937_64 random(1);
  for (uint64_t& word : words)
    word = random();
}

absl::StatusOr<ReadBandwidth> ReadBandwidth::create(size_t bytes,
                                                    std::unique_ptr<runtime::ThreadPool> pool) {
  constexpr size_t itemBytes = wordsPerItem * sizeof(uint64_t);
  TENON_ASSIGN_OR_RETURN(
      auto memory,
      runtime::AnonymousMemory::create(bytes / itemBytes * itemBytes, "the bandwidth benchmark"));
  return ReadBandwidth(std::move(memory), std::move(pool));
}

double ReadBandwidth::measureSeconds() {
  return bench::measureSeconds([&] {
    pool->run(
        words.size() / wordsPerItem,
        [](void* context, int64_t first, int64_t end) {
          auto* self = static_cast<ReadBandwidth*>(context);
          benchmark::DoNotOptimize(
              sumWords(self->words.data() + first * wordsPerItem, (end - first) * wordsPerItem));
        },
        this);
  });
}

} // namespace tenon::bench
