// The time from a model file to a program for the CPU, decode of one row and prefill of 64: cold,
// with an empty cache of kernels in each iteration, and from the cache that a compilation left.
//
//   bench_cpu_compile MODEL.gguf

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include "bench/cpu/LoadedModel.h"
#include "bench/cpu/Median.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace tenon::bench {

namespace {

absl::Status compile(const std::string& path) {
  auto context = tools::makeContext();
  tools::ModelOptions options;
  options.path = path;
  options.shapes = {"decode:1", "prefill:" + std::to_string(prefillRows)};
  TENON_ASSIGN_OR_RETURN(auto module, tools::readModel(*context, options));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "cpu"));
  return tools::compileModel(*module, target).status();
}

void benchCompile(benchmark::State& state, const std::string& path, const std::string& cache,
                  bool isCold) {
  std::vector<double> times;
  for (auto _ : state) {
    if (isCold)
      std::filesystem::remove_all(cache);
    absl::Status status;
    times.push_back(measureSeconds([&] { status = compile(path); }));
    if (!status.ok())
      return state.SkipWithError(std::string(status.message()).c_str());
    state.SetIterationTime(times.back());
  }
  state.counters["median_s"] = median(times);
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::cerr << "usage: bench_cpu_compile MODEL.gguf [--benchmark_…]\n";
    return 2;
  }
  std::string path = argv[1];
  std::string cache =
      std::filesystem::temp_directory_path() / ("tenon-bench-cache-" + std::to_string(::getpid()));
  ::setenv("TENON_CACHE_DIR", cache.c_str(), 1);
  for (bool isCold : {true, false})
    benchmark::RegisterBenchmark(
        isCold ? "compile/cold" : "compile/cached",
        [=](benchmark::State& state) { benchCompile(state, path, cache, isCold); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(isCold ? 5 : 15);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(cache);
  return 0;
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv) { return tenon::bench::run(argc, argv); }
