// fused = split, bit for bit, on the CPU, over random graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/cpu/CompileForCpu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/cpu/CpuExecutor.h"
#include "support/Status.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/RandomGraphCase.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

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
    ASSERT_NO_FATAL_FAILURE(graph->expectNearReference({*fused}));
  }
  llvm::sort(fusedOps);
  ASSERT_GT(fusedOps.size(), graphs);
  EXPECT_GE(fusedOps[fusedOps.size() / 2], 3u) << "operations in the median kernel";
}

constexpr passes::Plan allPlans[] = {passes::Plan::Unfused, passes::Plan::Auto, passes::Plan::Fused,
                                     passes::Plan::Split};

/// The plans of a graph as functions of one program, in which equal kernels are compiled once.
absl::StatusOr<runtime::Program> compilePlans(const RandomGraphCase& graph,
                                              const std::string& target) {
  mlir::OwningOpRef<mlir::ModuleOp> all;
  for (passes::Plan plan : allPlans) {
    TENON_ASSIGN_OR_RETURN(auto module, graph.plan(target, plan));
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    function.setSymName("f" + std::to_string(static_cast<int>(plan)));
    if (!all)
      all = std::move(module);
    else
      function->moveBefore(all->getBody(), all->getBody()->end());
  }
  return codegen::compileForCpu(*all, {});
}

/// Under all plans near the reference; fused and split equal.
void expectPlansAgree(const RandomGraphCase& graph) {
  std::string target = hostTargets().back();
  auto program = compilePlans(graph, target);
  ASSERT_THAT(program, IsOk());
  auto executor = runtime::CpuExecutor::create(*std::move(program), {.threads = 2});
  ASSERT_THAT(executor, IsOk());
  std::vector<RandomGraphCase::Outputs> runs;
  for (size_t function = 0; function < std::size(allPlans); ++function) {
    ASSERT_THAT((*executor)->resetStates(), IsOk());
    auto outputs = graph.run(**executor, function);
    ASSERT_THAT(outputs, IsOk());
    runs.push_back(*std::move(outputs));
  }
  EXPECT_TRUE(runs[2] == runs[3]) << "fused and split";
  graph.expectNearReference(runs, target);
}

/// Graphs of all operations with the seeds from `first` on.
void expectPlansOfSeedsAgree(uint64_t first, uint64_t count) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(seed);
    auto graph = RandomGraphCase::create(seed, GraphOps::All);
    ASSERT_THAT(graph, IsOk());
    ASSERT_NO_FATAL_FAILURE(expectPlansAgree(*graph));
  }
}

/// Every operation of the dialect, with indices outside their ranges and special floats too.
TEST(RandomGraphs, EveryPlanOfEveryOperation) { expectPlansOfSeedsAgree(0, 150); }

/// With weights in groups.
TEST(RandomGraphs, EveryPlanOfGroups) { expectPlansOfSeedsAgree(1'000'000, 60); }

/// With weights in E2M1 numbers.
TEST(RandomGraphs, EveryPlanOfFp4) { expectPlansOfSeedsAgree(2'000'000, 40); }

/// With attention's bias, slopes and sinks, and functions that jump.
TEST(RandomGraphs, EveryPlanOfScores) { expectPlansOfSeedsAgree(3'000'000, 80); }

/// With mixtures of experts.
TEST(RandomGraphs, EveryPlanOfExperts) { expectPlansOfSeedsAgree(4'000'000, 24); }

/// With streams without end.
TEST(RandomGraphs, EveryPlanOfStreams) { expectPlansOfSeedsAgree(5'000'000, 24); }

/// With elements chosen by index, windows and sums of what stands before.
TEST(RandomGraphs, EveryPlanOfIndexed) { expectPlansOfSeedsAgree(6'000'000, 80); }

/// With integers, bools, and weights of attention.
TEST(RandomGraphs, EveryPlanOfIntegers) { expectPlansOfSeedsAgree(7'000'000, 80); }

/// Attention whose rows are chunks of several sequences.
TEST(RandomGraphs, EveryPlanOfChunks) { expectPlansOfSeedsAgree(10'000'000, 60); }

/// Products of inputs in another order.
TEST(RandomGraphs, EveryPlanOfOrders) { expectPlansOfSeedsAgree(11'000'000, 24); }

/// The CPU uses weights where they lie in the file, which may be anywhere.
TEST(RandomGraphs, WeightsAtOddOffsets) {
  constexpr uint64_t graphsWithFiles = 50;
  TempFolder folder;
  for (uint64_t seed = 0; seed < graphsWithFiles; ++seed) {
    SCOPED_TRACE(seed);
    auto graph = RandomGraphCase::create(seed, GraphOps::All);
    ASSERT_THAT(graph, IsOk());
    std::string name = std::to_string(seed) + ".weights";
    ASSERT_THAT(graph->moveWeightsToFile(folder.path(name)), IsOk());
    ASSERT_NO_FATAL_FAILURE(expectPlansAgree(*graph));
  }
}

} // namespace
} // namespace tenon::tests
