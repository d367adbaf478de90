// fused = split, bit for bit, on the CPU, over random graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/cpu/CompileForCpu.h"
#include "runtime/cpu/CpuExecutor.h"
#include "support/Status.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/RandomGraphCase.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::tests {
namespace {

constexpr uint64_t graphs = 40;

absl::StatusOr<RandomGraphCase::Outputs> runPlan(const RandomGraphCase& graph, passes::Plan plan,
                                                 int threads,
                                                 std::vector<passes::FusionDecision>* report) {
  TENON_ASSIGN_OR_RETURN(auto module, graph.plan(hostTargets().back(), plan, report));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, codegen::compileForCpu(*module, {}));
  TENON_ASSIGN_OR_RETURN(auto executor,
                         runtime::CpuExecutor::create(std::move(program), {.threads = threads}));
  return graph.run(*executor);
}

TEST(RandomGraphs, FusedEqualsSplit) {
  std::vector<size_t> fusedOps;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    SCOPED_TRACE(seed);
    auto graph = RandomGraphCase::create(seed);
    ASSERT_THAT(graph, IsOk());
    std::vector<passes::FusionDecision> decisions;
    auto fused = runPlan(*graph, passes::Plan::Fused, 2, &decisions);
    auto split = runPlan(*graph, passes::Plan::Split, 1, nullptr);
    ASSERT_THAT(fused, IsOk());
    ASSERT_THAT(split, IsOk());
    for (const passes::FusionDecision& decision : decisions)
      if (decision.taken)
        fusedOps.push_back(decision.ops.size());
    EXPECT_TRUE(*fused == *split);
    ASSERT_NO_FATAL_FAILURE(graph->expectNearReference(*fused));
  }
  llvm::sort(fusedOps);
  ASSERT_GT(fusedOps.size(), graphs);
  EXPECT_GE(fusedOps[fusedOps.size() / 2], 3u) << "operations in the median kernel";
}

} // namespace
} // namespace tenon::tests
