// fused = split, bit for bit, and both near the reference, on a GPU, over random graphs: those of
// `--seeds=FIRST-LAST`, or of the seeds that `tests/data/random-graphs.seeds` lists. One case a piece
// of a range, so that processes can share them (GTEST_TOTAL_SHARDS). Prints every seed before its
// graph runs, and for every piece a line `graphs: {...}` that `scripts/gpu-check` adds up.
// `--compile-only` needs no GPU: it leaves the kernels in the cache, for a run that finds them there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "absl/strings/strip.h"
#include "codegen/cuda/CompileForCuda.h"
#include "nlohmann/json.hpp"
#include "runtime/cuda/CudaExecutor.h"
#include "runtime/cuda/Devices.h"
#include "support/Status.h"
#include "tests/common/RandomGraphCase.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::tests {
namespace {

std::vector<SeedRange> ranges;
bool compileOnly = false;

/// What a piece did, for the line that it prints.
struct Summary {
  uint64_t graphs = 0;
  std::vector<uint64_t> failed;                      ///< seeds
  std::map<std::string, std::pair<int, int>> heroes; ///< by emitter: kernels, and those of several
                                                     ///< operations
  std::map<size_t, int> fusedOps; ///< by operations of a fused kernel: how many have that number
  std::map<std::string, double> seconds;

  void count(mlir::ModuleOp module, passes::Plan plan) {
    module.walk([&](KernelOp kernel) {
      auto operations = kernel.getBlock().without_terminator();
      size_t size = std::distance(operations.begin(), operations.end());
      std::pair<int, int>& hero = heroes[kernel.getScheduleAttr().getEmitter().str()];
      ++hero.first;
      if (plan == passes::Plan::Fused && size > 1) {
        ++hero.second;
        ++fusedOps[size];
      }
    });
  }

  void print() const {
    nlohmann::json line = {{"graphs", graphs}, {"failed", failed}, {"seconds", seconds}};
    for (auto [size, kernels] : fusedOps)
      line["fused_ops"][std::to_string(size)] = kernels;
    for (const auto& [name, kernels] : heroes)
      line["heroes"][name] = {kernels.first, kernels.second};
    std::printf("graphs: %s\n", line.dump().c_str());
    std::fflush(stdout);
  }
};

/// Adds what passes until its end to a sum of seconds.
class Timer {
public:
  explicit Timer(double& seconds) : seconds(seconds) {}
  ~Timer() {
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

private:
  double& seconds;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

class RandomGraphsOnGpu : public testing::TestWithParam<SeedRange> {
protected:
  void SetUp() override {
    if (compileOnly)
      return;
    auto devices = runtime::listCudaDevices();
    ASSERT_THAT(devices, IsOk());
    if (devices->empty())
      GTEST_SKIP() << "no CUDA device on this machine";
  }

  absl::StatusOr<runtime::Program> compilePlan(const RandomGraphCase& graph, passes::Plan plan);
  absl::StatusOr<RandomGraphCase::Outputs> runPlan(const RandomGraphCase& graph, passes::Plan plan);
  void check(uint64_t seed);

  Summary summary;
};

absl::StatusOr<runtime::Program> RandomGraphsOnGpu::compilePlan(const RandomGraphCase& graph,
                                                                passes::Plan plan) {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    Timer timer(summary.seconds["plan"]);
    TENON_ASSIGN_OR_RETURN(module, graph.plan("h200", plan));
    summary.count(*module, plan);
  }
  Timer timer(summary.seconds["compile"]);
  return codegen::compileForCuda(*module, {.threads = 1});
}

absl::StatusOr<RandomGraphCase::Outputs> RandomGraphsOnGpu::runPlan(const RandomGraphCase& graph,
                                                                    passes::Plan plan) {
  TENON_ASSIGN_OR_RETURN(runtime::Program program, compilePlan(graph, plan));
  std::unique_ptr<runtime::CudaExecutor> executor;
  {
    Timer timer(summary.seconds["load"]);
    TENON_ASSIGN_OR_RETURN(executor, runtime::CudaExecutor::create(std::move(program), {}));
  }
  Timer timer(summary.seconds["run"]);
  return graph.run(*executor);
}

void RandomGraphsOnGpu::check(uint64_t seed) {
  auto graph = RandomGraphCase::create(seed);
  ASSERT_THAT(graph, IsOk());
  SCOPED_TRACE(graph->text());
  if (compileOnly) {
    for (passes::Plan plan : {passes::Plan::Fused, passes::Plan::Split})
      ASSERT_THAT(compilePlan(*graph, plan), IsOk());
    return;
  }
  auto fused = runPlan(*graph, passes::Plan::Fused);
  ASSERT_THAT(fused, IsOk());
  auto split = runPlan(*graph, passes::Plan::Split);
  ASSERT_THAT(split, IsOk());
  EXPECT_TRUE(*fused == *split) << "bits differ";
  Timer timer(summary.seconds["reference"]);
  graph->expectNearReference({*fused});
}

TEST_P(RandomGraphsOnGpu, FusedEqualsSplit) {
  const testing::TestResult* result =
      testing::UnitTest::GetInstance()->current_test_info()->result();
  for (uint64_t seed = GetParam().first; seed <= GetParam().last; ++seed) {
    SCOPED_TRACE(seed);
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    int before = result->total_part_count();
    check(seed);
    ++summary.graphs;
    if (result->total_part_count() > before)
      summary.failed.push_back(seed);
  }
  summary.print();
}

/// The ranges in pieces of 40 seeds.
std::vector<SeedRange> pieces() {
  constexpr uint64_t most = 40;
  std::vector<SeedRange> all;
  for (SeedRange range : ranges)
    for (uint64_t first = range.first; first <= range.last; first += most)
      all.push_back({first, std::min(range.last, first + most - 1)});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphsOnGpu, testing::ValuesIn(pieces()),
                         [](const auto& info) {
                           return std::to_string(info.param.first) + "_" +
                                  std::to_string(info.param.last);
                         });

} // namespace
} // namespace tenon::tests

int main(int argc, char** argv) {
  using namespace tenon::tests;
  auto seeds = readSeeds(TENON_TEST_DATA "/random-graphs.seeds");
  for (int i = 1; i < argc; ++i)
    if (absl::string_view text = argv[i]; absl::ConsumePrefix(&text, "--seeds=")) {
      auto range = parseSeedRange(text);
      seeds = range.ok() ? decltype(seeds)({*range}) : range.status();
    } else if (text == "--compile-only") {
      compileOnly = true;
    }
  if (!seeds.ok()) {
    std::fprintf(stderr, "%s\n", std::string(seeds.status().message()).c_str());
    return 2;
  }
  ranges = *std::move(seeds);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
