// Whole models of every family on the CPU: fused = split bit for bit, and which rules make kernels.
#include <cstring>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cpu/CpuExecutor.h"
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

class ModelPlans : public testing::TestWithParam<ModelCase> {};

absl::StatusOr<std::unique_ptr<runtime::Executor>>
load(const ModelCase& model, passes::Plan plan, std::vector<passes::FusionDecision>* report) {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(auto module, readTestModel(*context, model.file, model.activations,
                                                    {"decode:1", "decode:3", "prefill:8"}));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "cpu"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         tools::compileModel(*module, target, {.plan = plan, .report = report}));
  return runtime::CpuExecutor::create(std::move(program), {.threads = 2});
}

/// The bytes of all outputs of all functions, each called a few times with tokens of its own.
std::vector<std::vector<std::byte>> runAll(runtime::Executor& executor) {
  std::vector<std::vector<std::byte>> all;
  const runtime::Program& program = executor.program();
  for (size_t index = 0; index < program.functions.size(); ++index) {
    const runtime::Function& function = program.functions[index];
    EXPECT_THAT(executor.resetStates(), IsOk());
    for (int32_t call = 0; call < 3; ++call) {
      bool isPrefill = function.inputs.size() > 3;
      std::vector<std::vector<int32_t>> values;
      for (const runtime::Port& port : function.inputs) {
        std::vector<int32_t>& input = values.emplace_back(port.bytes / sizeof(int32_t));
        for (size_t i = 0; i < input.size(); ++i) {
          int32_t row = static_cast<int32_t>(i);
          input[i] = port.name == "ids"         ? (37 * (call * 8 + row) + 11) % 100
                     : port.name == "positions" ? (isPrefill ? call * 8 + row : call)
                     : port.name == "sequences" ? row
                                                : 7;
        }
      }
      std::vector<std::span<const std::byte>> inputs;
      for (const std::vector<int32_t>& input : values)
        inputs.push_back(std::as_bytes(std::span(input)));
      size_t first = all.size();
      std::vector<std::span<std::byte>> outputs;
      for (const runtime::Port& port : function.outputs)
        all.emplace_back(port.bytes);
      for (size_t i = first; i < all.size(); ++i)
        outputs.push_back(all[i]);
      EXPECT_THAT(executor.run(index, inputs, outputs), IsOk());
    }
  }
  return all;
}

size_t countSteps(const runtime::Executor& executor) {
  size_t steps = 0;
  for (const runtime::Function& function : executor.program().functions)
    steps += function.steps.size();
  return steps;
}

TEST_P(ModelPlans, FusedEqualsSplit) {
  std::vector<passes::FusionDecision> decisions;
  auto fused = load(GetParam(), passes::Plan::Fused, &decisions);
  auto split = load(GetParam(), passes::Plan::Split, nullptr);
  ASSERT_THAT(fused, IsOk());
  ASSERT_THAT(split, IsOk());
  EXPECT_TRUE(runAll(**fused) == runAll(**split));
  // A third of the kernels at least are gone.
  EXPECT_GE(countSteps(**split), countSteps(**fused) * 3 / 2);
  std::map<std::string, int> counts = countRules(decisions);
  for (const std::string& rule : GetParam().rules)
    EXPECT_GE(counts[rule], 1) << rule;
}

TEST_P(ModelPlans, AutoEqualsSplit) {
  auto automatic = load(GetParam(), passes::Plan::Auto, nullptr);
  auto split = load(GetParam(), passes::Plan::Split, nullptr);
  ASSERT_THAT(automatic, IsOk());
  ASSERT_THAT(split, IsOk());
  EXPECT_TRUE(runAll(**automatic) == runAll(**split));
}

const std::vector<std::string> gated = {"shared-input", "gated-linear", "matmul-epilogue",
                                        "norm-matmul"};

INSTANTIATE_TEST_SUITE_P(
    Families, ModelPlans,
    testing::Values(
        ModelCase{"llama_f32", "stories260K/stories260K.gguf", "f32", gated},
        ModelCase{"llama_f16", "stories260K/stories260K-f16.gguf", "f16", gated},
        ModelCase{"llama_q8_0", "stories260K/stories260K-q8_0.gguf", "bf16", gated},
        ModelCase{"gptneox",
                  "tiny-neox/tiny-neox-262k-f32.gguf",
                  "f16",
                  {"shared-input", "matmul-epilogue", "parallel-residual"}},
        ModelCase{"gemma2", "goldens/gemma2.gguf", "f32", {"norm-residual", "gated-linear"}},
        ModelCase{"gpt2", "goldens/gpt2.gguf", "f16", {"shared-input", "matmul-epilogue"}},
        ModelCase{"mistral", "goldens/mistral.gguf", "f16", gated},
        ModelCase{"phi3", "goldens/phi3.gguf", "bf16", gated},
        ModelCase{"qwen2", "goldens/qwen2.gguf", "f16", gated},
        ModelCase{"qwen3", "goldens/qwen3.gguf", "f16", {"qkv-cache", "gated-linear"}}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tenon::tests
