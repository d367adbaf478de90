// What a loop on the thread pool costs, and the read bandwidth that it reaches.
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "runtime/cpu/AnonymousMemory.h"
#include "runtime/cpu/ThreadPool.h"

namespace tenon::runtime {
namespace {

/// A pool that shares loops however short they are.
std::unique_ptr<ThreadPool> sharingPool(int64_t threads) {
  return *ThreadPool::create(static_cast<int>(threads), usableCores(), nullptr);
}

/// Empty loops back to back: the time of waking and joining all threads.
void barrier(benchmark::State& state) {
  auto pool = sharingPool(state.range(0));
  for (auto _ : state)
    pool->run(1024, [](void*, int64_t, int64_t) {}, nullptr);
}
BENCHMARK(barrier)->Arg(1)->Arg(2)->Arg(4)->UseRealTime();

/// A loop after the threads have been idle for range(1) microseconds.
void barrierAfterPause(benchmark::State& state) {
  auto pool = sharingPool(state.range(0));
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::microseconds(state.range(1)));
    auto start = std::chrono::steady_clock::now();
    pool->run(1024, [](void*, int64_t, int64_t) {}, nullptr);
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK(barrierAfterPause)
    ->Args({2, 100})
    ->Args({2, 1000})
    ->Args({2, 50'000})
    ->Iterations(1000)
    ->UseManualTime();

struct Sums {
  const uint64_t* words;
  int64_t wordsPerItem;
  std::vector<uint64_t> results; // one an item
};

/// Reads range(1) MiB in items of 64 KiB.
void readMemory(benchmark::State& state) {
  auto pool = *ThreadPool::create(static_cast<int>(state.range(0)));
  constexpr int64_t itemBytes = 64 << 10;
  int64_t bytes = state.range(1) << 20, items = bytes / itemBytes;
  auto memory = *AnonymousMemory::create(bytes, "a benchmark");
  for (std::byte& byte : memory.bytes())
    byte = std::byte{1};
  Sums sums{reinterpret_cast<const uint64_t*>(memory.bytes().data()), itemBytes / 8,
            std::vector<uint64_t>(items)};
  for (auto _ : state)
    pool->run(
        items,
        [](void* context, int64_t first, int64_t end) {
          auto& sums = *static_cast<Sums*>(context);
          for (int64_t item = first; item < end; ++item) {
            uint64_t sum = 0;
            for (int64_t i = 0; i < sums.wordsPerItem; ++i)
              sum += sums.words[item * sums.wordsPerItem + i];
            sums.results[item] = sum;
          }
        },
        &sums);
  benchmark::DoNotOptimize(sums.results.data());
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK(readMemory)->ArgsProduct({{1, 2}, {512}})->UseRealTime();

} // namespace
} // namespace tenon::runtime
