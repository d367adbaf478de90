// fused = split, bit for bit, and both near the reference, on a GPU, over the random graphs whose
// seeds `tests/data/random-graphs.seeds` lists. One case a piece of a range, so that processes can
// share them (GTEST_TOTAL_SHARDS).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/cuda/CompileForCuda.h"
#include "runtime/cuda/CudaExecutor.h"
#include "runtime/cuda/Devices.h"
#include "support/Status.h"
#include "tests/common/RandomGraphCase.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::tests {
namespace {

class RandomGraphsOnGpu : public testing::TestWithParam<SeedRange> {};

absl::StatusOr<RandomGraphCase::Outputs> runPlan(const RandomGraphCase& graph, passes::Plan plan) {
  TENON_ASSIGN_OR_RETURN(auto module, graph.plan("h200", plan));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, codegen::compileForCuda(*module, {}));
  TENON_ASSIGN_OR_RETURN(auto executor, runtime::CudaExecutor::create(std::move(program), {}));
  return graph.run(*executor);
}

TEST_P(RandomGraphsOnGpu, FusedEqualsSplit) {
  auto devices = runtime::listCudaDevices();
  ASSERT_THAT(devices, IsOk());
  if (devices->empty())
    GTEST_SKIP() << "no CUDA device on this machine";
  for (uint64_t seed = GetParam().first; seed <= GetParam().last; ++seed) {
    SCOPED_TRACE(seed);
    auto graph = RandomGraphCase::create(seed);
    ASSERT_THAT(graph, IsOk());
    auto fused = runPlan(*graph, passes::Plan::Fused);
    auto split = runPlan(*graph, passes::Plan::Split);
    ASSERT_THAT(fused, IsOk());
    ASSERT_THAT(split, IsOk());
    EXPECT_TRUE(*fused == *split);
    graph->expectNearReference(*fused);
  }
}

/// The ranges of the file in pieces of 5 seeds.
std::vector<SeedRange> pieces() {
  constexpr uint64_t most = 5;
  std::vector<SeedRange> all;
  auto ranges = readSeeds(TENON_TEST_DATA "/random-graphs.seeds");
  EXPECT_THAT(ranges, IsOk());
  for (SeedRange range : ranges.value_or(std::vector<SeedRange>()))
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
