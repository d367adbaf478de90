// Google Benchmark rows of every chain and shape of bench/shapes, fused and unfused, on a GPU: a row
// `POINT/PLAN` whose time is that of one copy of the chain, as the device measures it.
#include <cstdlib>
#include <iostream>
#include <memory>

#include "bench/fusion/TimedPoint.h"
#include "benchmark/benchmark.h"
#include "support/Status.h"
#include "tools/bench/InterleavedTiming.h"
#include "tools/driver/MakeExecutor.h"

namespace tenon::bench {
namespace {

/// `last` stays loaded until this row's plan is: a device without any starts anew.
absl::Status timePlan(benchmark::State& state, const FusionPoint& point, bool fused,
                      std::unique_ptr<runtime::Executor>& last) {
  TENON_ASSIGN_OR_RETURN(CompiledPoint compiled, compilePoint(point, "h200", "graph-pdl"));
  if (fused && !compiled.fuses())
    return absl::NotFoundError("no plan makes fewer kernels");
  CompiledPlan& plan = fused ? compiled.fused : compiled.unfused;
  TENON_ASSIGN_OR_RETURN(auto executor, tools::makeExecutor(std::move(plan.program), {}));
  last = std::move(executor);
  constexpr int64_t callsOfIteration = 5;
  constexpr int32_t position = 511;
  for (auto _ : state) {
    TENON_ASSIGN_OR_RETURN(std::vector<tools::Distribution> times,
                           tools::timeInTurn({last.get()}, callsOfIteration, position));
    state.SetIterationTime(static_cast<double>(times[0].medianNs) * 1e-9 / compiled.copies);
  }
  state.counters["kernels"] = static_cast<double>(plan.kernels);
  state.counters["predicted_us"] = plan.predictedNs * 1e-3;
  return absl::OkStatus();
}

absl::Status registerAll(const std::string& folder, std::unique_ptr<runtime::Executor>& last) {
  for (const char* set : pointSets) {
    TENON_ASSIGN_OR_RETURN(std::vector<FusionPoint> points, readPoints(folder, set));
    for (const FusionPoint& point : points)
      for (bool fused : {true, false})
        benchmark::RegisterBenchmark((point.name() + (fused ? "/fused" : "/unfused")).c_str(),
                                     [point, fused, &last](benchmark::State& state) {
                                       absl::Status status = timePlan(state, point, fused, last);
                                       if (!status.ok())
                                         state.SkipWithError(status.ToString().c_str());
                                     })
            ->UseManualTime()
            ->Iterations(5)
            ->Unit(benchmark::kMicrosecond);
  }
  return absl::OkStatus();
}

} // namespace
} // namespace tenon::bench

/// Flags are Google Benchmark's; `--benchmark_filter=` chooses rows. The first other argument is the
/// folder of shapes, bench/shapes unless given.
int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  std::unique_ptr<tenon::runtime::Executor> last;
  absl::Status status = tenon::bench::registerAll(count > 1 ? arguments[1] : "bench/shapes", last);
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
}
