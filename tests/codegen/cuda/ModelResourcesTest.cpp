// Every kernel of the models takes what its schedule states, without a GPU.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Pipeline.h"
#include "tests/codegen/cuda/ExpectResources.h"
#include "tests/common/StatusMatchers.h"
#include "tools/driver/LoadedModel.h"

namespace tenon::testing {
namespace {

struct Model {
  const char* shape;
  const char* type;
  int64_t longContext; ///< positions, several steps of keys for a warp of decode attention
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.shape; }

/// Of products of more than 8 rows after a norm: once, while it is made, not among the products.
constexpr int heldNormBytes = 128;

int allowedSpills(const codegen::CudaKernel& kernel) {
  return kernel.name.find("held_gemm") != std::string::npos ? heldNormBytes : 0;
}

class ModelResources : public ::testing::TestWithParam<Model> {};

tools::ModelOptions inputOf(const Model& model, std::vector<std::string> shapes,
                            int64_t context = 1024, const char* target = "h200") {
  return {.path = model.shape,
          .activations = model.type,
          .shapes = std::move(shapes),
          .contextLength = context,
          .randomSeed = 1,
          .weightType = model.type,
          .target = target};
}

TEST_P(ModelResources, AreThoseStated) {
  tools::ModelOptions options =
      inputOf(GetParam(), {"decode:1", "decode:4", "decode:16", "prefill:512"});
  for (passes::Plan plan : {passes::Plan::Unfused, passes::Plan::Fused, passes::Plan::Auto}) {
    auto model = tools::loadModel(options);
    ASSERT_THAT(model, tests::IsOk());
    passes::PipelineOptions pipeline = {.target = model->target};
    pipeline.fusion.plan = plan;
    ASSERT_THAT(passes::runPipeline(*model->module, pipeline), tests::IsOk());
    std::vector<codegen::CudaKernel> kernels;
    ASSERT_THAT(codegen::compileForCuda(*model->module, {.kernels = &kernels}), tests::IsOk());
    EXPECT_GE(kernels.size(), 8u);
    for (const codegen::CudaKernel& kernel : kernels) {
      expectResources(kernel, model->target, /*slack=*/3);
      EXPECT_LE(kernel.spillBytes, allowedSpills(kernel)) << kernel.name;
    }
  }
}

TEST_P(ModelResources, AreThoseStatedForManyRows) {
  auto model =
      tools::loadModel(inputOf(GetParam(), {"decode:32", "decode:128", "prefill:2048"}, 2048));
  ASSERT_THAT(model, tests::IsOk());
  passes::PipelineOptions pipeline = {.target = model->target};
  pipeline.fusion.plan = passes::Plan::Auto;
  ASSERT_THAT(passes::runPipeline(*model->module, pipeline), tests::IsOk());
  std::vector<codegen::CudaKernel> kernels;
  ASSERT_THAT(codegen::compileForCuda(*model->module, {.kernels = &kernels}), tests::IsOk());
  EXPECT_GE(kernels.size(), 8u);
  for (const codegen::CudaKernel& kernel : kernels) {
    expectResources(kernel, model->target, /*slack=*/4);
    EXPECT_LE(kernel.spillBytes, allowedSpills(kernel)) << kernel.name;
  }
}

TEST_P(ModelResources, AreThoseStatedForLongContexts) {
  auto model = tools::loadModel(inputOf(GetParam(), {"decode:1"}, GetParam().longContext));
  ASSERT_THAT(model, tests::IsOk());
  passes::PipelineOptions pipeline = {.target = model->target};
  pipeline.fusion.plan = passes::Plan::Fused;
  ASSERT_THAT(passes::runPipeline(*model->module, pipeline), tests::IsOk());
  std::vector<codegen::CudaKernel> kernels;
  ASSERT_THAT(codegen::compileForCuda(*model->module, {.kernels = &kernels}), tests::IsOk());
  EXPECT_GE(kernels.size(), 4u);
  for (const codegen::CudaKernel& kernel : kernels) {
    expectResources(kernel, model->target, /*slack=*/3);
    EXPECT_LE(kernel.spillBytes, allowedSpills(kernel)) << kernel.name;
  }
}

/// Kernels that stamp take what is stated too, and spill as little, so that as many blocks are there at
/// once: of every model for one target, of one for the others.
TEST_P(ModelResources, AreThoseStatedWithStamps) {
  std::vector<const char*> targets = {"h200"};
  if (GetParam().shape == std::string("llama-3.2-1b"))
    targets.insert(targets.end(), {"a100", "b200"});
  for (const char* target : targets) {
    auto model = tools::loadModel(inputOf(GetParam(), {"decode:1"}, 1024, target));
    ASSERT_THAT(model, tests::IsOk());
    passes::PipelineOptions pipeline = {.target = model->target};
    pipeline.fusion.plan = passes::Plan::Auto;
    ASSERT_THAT(passes::runPipeline(*model->module, pipeline), tests::IsOk());
    std::vector<codegen::CudaKernel> kernels;
    ASSERT_THAT(codegen::compileForCuda(*model->module, {.kernels = &kernels, .stamps = true}),
                tests::IsOk());
    EXPECT_GE(kernels.size(), 4u);
    for (const codegen::CudaKernel& kernel : kernels) {
      SCOPED_TRACE(target);
      expectResources(kernel, model->target, /*slack=*/4);
      EXPECT_LE(kernel.spillBytes, allowedSpills(kernel)) << kernel.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(H200, ModelResources,
                         ::testing::Values(Model{"llama-3.2-1b", "bf16", 8448},
                                           Model{"llama-3.1-8b", "bf16", 8448},
                                           Model{"pythia-2.8b", "f16", 2048}),
                         [](const auto& info) {
                           std::string name = info.param.shape;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

} // namespace
} // namespace tenon::testing
