// fused = split, bit for bit, on the CPU, over random graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/cpu/CompileForCpu.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "passes/Pipeline.h"
#include "tests/Tolerances.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/RandomGraph.h"
#include "tests/common/StatusMatchers.h"

using namespace mlir;

namespace tenon::tests {
namespace {

constexpr uint64_t graphs = 40;

absl::StatusOr<runtime::Program> compile(ModuleOp graph, const std::string& target,
                                         passes::Plan plan,
                                         std::vector<passes::FusionDecision>* report) {
  OwningOpRef<ModuleOp> copy = graph.clone();
  absl::Status status =
      passes::runPipeline(*copy, {.target = findTarget(graph.getContext(), target),
                                  .fusion = {.plan = plan, .report = report}});
  if (!status.ok())
    return status;
  return codegen::compileForCpu(*copy, {});
}

using Bytes = std::vector<std::vector<std::byte>>;

/// The results are near the interpreter's.
void expectNear(const runtime::Program& program, const Bytes& bytes,
                const std::vector<ReferenceTensor>& expected) {
  for (auto [i, tensor] : llvm::enumerate(expected)) {
    std::vector<double> actual(tensor.getNumElements());
    getEncoding(tensor.getType().getElementType())->decode(bytes[i], actual);
    double largest = 0;
    for (double value : tensor.toVector())
      largest = std::max(largest, std::abs(value));
    // Several roundings of a 16-bit type lie behind one another.
    double step = 16 * roundingStep(program.functions[0].outputs[i].encoding);
    for (auto [a, b] : llvm::zip_equal(actual, tensor.toVector()))
      ASSERT_LE(std::abs(a - b), (relativeToLargest + step) * largest) << "output " << i;
  }
}

TEST(RandomGraphs, FusedEqualsSplit) {
  std::string target = hostTargets().back();
  std::vector<size_t> fusedOps;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    SCOPED_TRACE(seed);
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto graph = makeRandomGraph(context, seed);
    ASSERT_THAT(graph, IsOk());
    std::vector<ReferenceTensor> inputs = makeRandomInputs(**graph, seed);
    std::vector<passes::FusionDecision> decisions;
    auto fused = compile(**graph, target, passes::Plan::Fused, &decisions);
    auto split = compile(**graph, target, passes::Plan::Split, nullptr);
    ASSERT_THAT(fused, IsOk());
    ASSERT_THAT(split, IsOk());
    for (const passes::FusionDecision& decision : decisions)
      if (decision.taken)
        fusedOps.push_back(decision.ops.size());
    auto fusedBytes = runFunction(*fused, 0, inputs, 2);
    auto splitBytes = runFunction(*split, 0, inputs, 1);
    ASSERT_THAT(fusedBytes, IsOk());
    ASSERT_THAT(splitBytes, IsOk());
    EXPECT_TRUE(*fusedBytes == *splitBytes);
    auto interpreter = Interpreter::create(**graph);
    ASSERT_THAT(interpreter, IsOk());
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_THAT(expected, IsOk());
    ASSERT_NO_FATAL_FAILURE(expectNear(*fused, *fusedBytes, *expected));
  }
  llvm::sort(fusedOps);
  ASSERT_GT(fusedOps.size(), graphs);
  EXPECT_GE(fusedOps[fusedOps.size() * 3 / 4], 3u) << "operations in the upper quartile";
}

} // namespace
} // namespace tenon::tests
