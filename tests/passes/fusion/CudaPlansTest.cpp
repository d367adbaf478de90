// Every fused kernel of the test models and of random graphs compiles for the H200, without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "codegen/cuda/CompileForCuda.h"
#include "ir/Targets.h"
#include "passes/Pipeline.h"
#include "tests/codegen/cuda/ExpectResources.h"
#include "tests/common/RandomGraphCase.h"
#include "tests/common/StatusMatchers.h"
#include "tests/passes/fusion/PlannedModels.h"

namespace tenon::tests {
namespace {

struct ModelCase {
  const char* name;
  const char* file;
  const char* activations;
  /// Rules that take part in kernels of `fused`, functions together.
  std::vector<std::string> rules;
};

void PrintTo(const ModelCase& model, std::ostream* out) { *out << model.name; }

class CudaPlans : public testing::TestWithParam<ModelCase> {};

/// Plans `fused` and `split`: what codegen refuses, legality or the cut should have.
TEST_P(CudaPlans, CompileForTheH200) {
  for (passes::Plan plan : {passes::Plan::Fused, passes::Plan::Split}) {
    auto context = tools::makeContext();
    auto module = readTestModel(*context, GetParam().file, GetParam().activations,
                                {"decode:1", "decode:4", "prefill:32"});
    ASSERT_THAT(module, IsOk());
    std::vector<passes::FusionDecision> decisions;
    ASSERT_THAT(passes::runPipeline(**module, {.target = findTarget(context.get(), "h200"),
                                               .fusion = {.plan = plan, .report = &decisions}}),
                IsOk());
    std::vector<codegen::CudaKernel> kernels;
    ASSERT_THAT(codegen::compileForCuda(**module, {.kernels = &kernels}), IsOk());
    for (const codegen::CudaKernel& kernel : kernels)
      expectResources(kernel, findTarget(context.get(), "h200"), /*slack=*/4);
    std::map<std::string, int> counts = countRules(decisions);
    for (const std::string& rule : GetParam().rules)
      EXPECT_GE(counts[rule], 1) << rule;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, CudaPlans,
    testing::Values(
        ModelCase{"llama",
                  "stories260K/stories260K-f16.gguf",
                  "f16",
                  {"embedding-norm", "matmul-epilogue"}},
        ModelCase{"gptneox",
                  "tiny-neox/tiny-neox-262k-f32.gguf",
                  "f16",
                  {"matmul-epilogue", "parallel-residual"}},
        ModelCase{"gemma2", "goldens/gemma2.gguf", "bf16", {"norm-residual", "matmul-epilogue"}},
        ModelCase{"gpt2", "goldens/gpt2.gguf", "f16", {"matmul-epilogue"}},
        ModelCase{"phi3", "goldens/phi3.gguf", "f16", {"embedding-norm", "matmul-epilogue"}},
        ModelCase{"qwen3", "goldens/qwen3.gguf", "f16", {"embedding-norm", "matmul-epilogue"}}),
    [](const auto& info) { return std::string(info.param.name); });

/// The emitters of a plan's kernels.
void addHeroes(mlir::ModuleOp module, std::set<std::string>& heroes) {
  module.walk([&](KernelOp kernel) { heroes.insert(kernel.getScheduleAttr().getEmitter().str()); });
}

/// Sources alone, of many graphs: what the emitters' common description accepts, they print. Half of
/// the fused kernels hold three operations or more; every emitter but that of top_k, which no graph
/// has, is there.
TEST(CudaPlans, RandomGraphsPrint) {
  constexpr uint64_t first = 200, withChunks = 10'000'000, chunks = 30;
  std::vector<uint64_t> seeds;
  for (uint64_t seed = 0; seed < first + chunks; ++seed)
    seeds.push_back(seed < first ? seed : withChunks + seed - first);
  std::vector<size_t> fusedOps;
  std::set<std::string> heroes;
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(seed);
    auto graph = RandomGraphCase::create(seed);
    ASSERT_THAT(graph, IsOk());
    std::vector<passes::FusionDecision> decisions;
    auto fused = graph->plan("h200", passes::Plan::Fused, &decisions);
    auto split = graph->plan("h200", passes::Plan::Split);
    ASSERT_THAT(fused, IsOk());
    ASSERT_THAT(split, IsOk());
    EXPECT_THAT(codegen::printCudaKernels(**fused), IsOk());
    EXPECT_THAT(codegen::printCudaKernels(**split), IsOk());
    addHeroes(**fused, heroes);
    addHeroes(**split, heroes);
    for (const passes::FusionDecision& decision : decisions)
      if (decision.taken)
        fusedOps.push_back(decision.ops.size());
  }
  llvm::sort(fusedOps);
  ASSERT_GT(fusedOps.size(), 200u);
  EXPECT_GE(fusedOps[fusedOps.size() / 2], 3u) << "operations in the median kernel";
  EXPECT_THAT(heroes, testing::ElementsAre(
                          "accept", "argmax", "block_gemm", "copy", "cublaslt", "decode_attention",
                          "elementwise", "expert_gemv", "gemm", "gemv", "gemv_bulk", "heads",
                          "held_block_gemv", "held_gemm", "hopper_attention", "kv_write",
                          "layer_norm", "narrow_gemm", "reduce", "rms_norm", "rope", "softmax",
                          "tensor_decode_attention", "tensor_gemm", "weighted_sum"));
}

/// Kernels of some graphs compile, and take what their schedules state. The registers stated for
/// products of several f32 rows are far more than ptxas needs.
TEST(CudaPlans, RandomGraphsCompile) {
  for (uint64_t seed : {22, 28, 114, 120, 142, 157}) {
    SCOPED_TRACE(seed);
    auto graph = RandomGraphCase::create(seed);
    ASSERT_THAT(graph, IsOk());
    auto fused = graph->plan("h200", passes::Plan::Fused);
    ASSERT_THAT(fused, IsOk());
    std::vector<codegen::CudaKernel> kernels;
    ASSERT_THAT(codegen::compileForCuda(**fused, {.kernels = &kernels}), IsOk());
    for (const codegen::CudaKernel& kernel : kernels)
      expectResources(kernel, findTarget((*fused)->getContext(), "h200"), /*slack=*/8);
  }
}

} // namespace
} // namespace tenon::tests
