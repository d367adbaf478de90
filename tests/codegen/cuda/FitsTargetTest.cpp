// Blocks of every kernel that is chosen fit the device, without a GPU: models, attention of all sizes
// of heads and rows, and very wide rows, for every target and for one with little shared memory.
#include "absl/strings/str_cat.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "tests/common/StatusMatchers.h"
#include "tools/driver/LoadedModel.h"

namespace tenon::testing {
namespace {

/// A device of compute capability 8.6, as far as blocks can tell it from an A100: what differs is from
/// the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; 84
/// multiprocessors are those of an RTX A6000 (NVIDIA's data sheet).
TargetAttr smallTarget(mlir::MLIRContext* context) {
  TargetAttr a100 = findTarget(context, "a100");
  mlir::Builder builder(context);
  mlir::NamedAttrList properties(a100.getProperties());
  for (auto [name, value] : {std::pair<const char*, int64_t>{"smem_bytes_per_block", 101376},
                             {"smem_bytes_per_sm", 102400},
                             {"threads_per_sm", 1536},
                             {"blocks_per_sm", 16},
                             {"sms", 84}})
    properties.set(name, builder.getI64IntegerAttr(value));
  return TargetAttr::get(context, builder.getStringAttr("small"), DeviceKind::Cuda,
                         builder.getStrArrayAttr({"sm_86"}), properties.getDictionary(context));
}

std::vector<std::string> cudaTargets() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::string> names = {"small"};
  for (const std::string& name : listTargets())
    if (findTarget(&context, name).getDevice() == DeviceKind::Cuda)
      names.push_back(name);
  return names;
}

TargetAttr targetOf(mlir::MLIRContext* context, const std::string& name) {
  return name == "small" ? smallTarget(context) : findTarget(context, name);
}

class FitsTarget : public ::testing::TestWithParam<std::string> {
protected:
  /// Schedules the module, prints its kernels and expects each to fit.
  void expectFits(mlir::ModuleOp module, TargetAttr target, passes::Plan plan) {
    constexpr int64_t mostStaticBytes = 48 << 10;
    passes::PipelineOptions options = {.upTo = Phase::Scheduled, .target = target};
    options.fusion.plan = plan;
    ASSERT_THAT(passes::runPipeline(module, options), tests::IsOk());
    auto kernels = codegen::printCudaKernels(module);
    ASSERT_THAT(kernels, tests::IsOk());
    ASSERT_FALSE(kernels->empty());
    for (const codegen::CudaKernel& kernel : *kernels) {
      const kernels::BlockResources& block = kernel.stated;
      EXPECT_LE(block.staticSmemBytes, mostStaticBytes) << kernel.name;
      EXPECT_LE(block.staticSmemBytes + block.dynamicSmemBytes,
                target.getProperty("smem_bytes_per_block"))
          << kernel.name;
      EXPECT_GE(residentBlocks(block, target), 1) << kernel.name;
    }
  }

  void expectTextFits(const std::string& text) {
    SCOPED_TRACE(text);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = frontends::parseModuleText(context, text, "test");
    ASSERT_THAT(module, tests::IsOk());
    expectFits(**module, targetOf(&context, GetParam()), passes::Plan::Fused);
  }
};

TEST_P(FitsTarget, Models) {
  for (auto [shape, activations, weights] : {std::tuple{"llama-3.2-1b", "bf16", "bf16"},
                                             {"llama-3.1-8b", "f16", "q4_k"},
                                             {"pythia-2.8b", "f16", "f16"}}) {
    SCOPED_TRACE(shape);
    tools::ModelOptions options = {.path = shape,
                                   .activations = activations,
                                   .shapes = {"decode:1", "decode:16", "prefill:512"},
                                   .contextLength = 2048,
                                   .randomSeed = 1,
                                   .weightType = weights,
                                   .target = "h200"};
    auto model = tools::loadModel(options);
    ASSERT_THAT(model, tests::IsOk());
    expectFits(*model->module, targetOf(model->context.get(), GetParam()), passes::Plan::Auto);
  }
}

/// Attention of 8 query heads over 2 key heads; many rows share a sequence.
std::string attention(int64_t rows, int64_t size, const std::string& type) {
  int64_t sequences = rows > 16 ? 1 : rows;
  std::string query = absl::StrCat("tensor<", rows, "x8x", size, "x", type, ">");
  std::string cache = absl::StrCat("tensor<", sequences, "x2048x2x", size, "x", type, ">");
  std::string sequence = absl::StrCat("tensor<", sequences, "xi32>");
  std::string position = absl::StrCat("tensor<", rows, "xi32>");
  return absl::StrCat("func.func @f(%q: ", query, ", %k: ", cache, ", %v: ", cache,
                      ", %s: ", sequence, ", %p: ", position, ") -> ", query,
                      " {\n  %y = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (", query, ", ",
                      cache, ", ", cache, ", ", sequence, ", ", position, ") -> ", query,
                      "\n  return %y : ", query, "\n}\n");
}

TEST_P(FitsTarget, Attention) {
  for (int64_t size : {16, 64, 80, 96, 128, 256, 512})
    for (int64_t rows : {1, 4, 16, 17, 512, 4096})
      for (const char* type : {"f16", "f32"})
        expectTextFits(attention(rows, size, type));
}

TEST_P(FitsTarget, WideRows) {
  for (int64_t length : {131072, 262144, 786432, 1 << 20, 20000000})
    for (int64_t rows : {1, 300})
      for (const char* type : {"f16", "f32"})
        for (const char* operation :
             {"rms_norm %x eps 1.0e-5", "layer_norm %x eps 1.0e-5", "softmax %x"}) {
          std::string tensor = absl::StrCat("tensor<", rows, "x", length, "x", type, ">");
          expectTextFits(absl::StrCat("func.func @f(%x: ", tensor, ") -> ", tensor,
                                      " {\n  %y = tenon.", operation, " : (", tensor, ") -> ",
                                      tensor, "\n  return %y : ", tensor, "\n}\n"));
        }
}

INSTANTIATE_TEST_SUITE_P(Targets, FitsTarget, ::testing::ValuesIn(cudaTargets()),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace tenon::testing
