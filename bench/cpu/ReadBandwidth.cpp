#include "bench/cpu/ReadBandwidth.h"

#include <atomic>
#include <chrono>
#include <random>

#include <benchmark/benchmark.h>

namespace tenon::bench {

namespace {

/// Words that one item of the parallel loop reads: 1 MiB.
constexpr size_t wordsPerItem = (size_t(1) << 20) / sizeof(uint64_t);

/// Sums with enough independent accumulators that loads, not additions, set the pace.
uint64_t sumWords(const uint64_t* words, size_t count) {
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

ReadBandwidth::ReadBandwidth(size_t bytes, std::unique_ptr<runtime::ThreadPool> pool)
    : storage(new uint64_t[bytes / sizeof(uint64_t) / wordsPerItem * wordsPerItem]),
      words(storage.get(), bytes / sizeof(uint64_t) / wordsPerItem * wordsPerItem),
      pool(std::move(pool)) {
  std::mt19937_64 random(1);
  for (uint64_t& word : words)
    word = random();
}

double ReadBandwidth::measureSeconds() {
  auto start = std::chrono::steady_clock::now();
  pool->run(
      words.size() / wordsPerItem,
      [](void* context, int64_t first, int64_t end) {
        auto* self = static_cast<ReadBandwidth*>(context);
        benchmark::DoNotOptimize(
            sumWords(self->words.data() + first * wordsPerItem, (end - first) * wordsPerItem));
      },
      this);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace tenon::bench
