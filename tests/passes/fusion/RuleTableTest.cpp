// Which rules make kernels in which model families, counted from the steps of Programs for the H200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "codegen/ProgramBuilder.h"
#include "ir/Targets.h"
#include "passes/Pipeline.h"
#include "tests/common/StatusMatchers.h"
#include "tests/passes/fusion/PlannedModels.h"

namespace tenon::tests {
namespace {

struct Family {
  const char* name;
  const char* file;
  const char* activations;
  std::vector<std::string> rules; ///< that apply to it
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

class RuleTable : public testing::TestWithParam<Family> {};

/// The operations of a step or of a decision, sorted: `argmax+matmul`.
std::string contentOf(std::vector<std::string> ops) {
  std::ranges::sort(ops);
  return absl::StrJoin(ops, "+");
}

/// How many steps of the program hold these operations and no others.
std::map<std::string, int> countSteps(const runtime::Program& program) {
  std::map<std::string, int> counts;
  for (const runtime::Function& function : program.functions)
    for (const runtime::Step& step : function.steps) {
      absl::string_view ops = step.name;
      if (size_t colon = ops.rfind(": "); colon != absl::string_view::npos)
        ops.remove_prefix(colon + 2);
      std::vector<std::string> names = absl::StrSplit(ops, '+');
      std::erase_if(names, [](const std::string& name) {
        return name == "slice" || name == "reshape" || name == "constant";
      });
      ++counts[contentOf(names)];
    }
  return counts;
}

TEST_P(RuleTable, EveryRuleThatAppliesHasSteps) {
  auto context = tools::makeContext();
  auto module = readTestModel(*context, GetParam().file, GetParam().activations,
                              {"decode:1", "decode:4", "prefill:32"}, /*nextIds=*/true);
  ASSERT_THAT(module, IsOk());
  std::vector<passes::FusionDecision> decisions;
  passes::PipelineOptions options = {.target = findTarget(context.get(), "h200")};
  options.fusion.plan = passes::Plan::Fused;
  options.fusion.report = &decisions;
  ASSERT_THAT(passes::runPipeline(**module, options), IsOk());
  auto program = codegen::buildProgram(**module, [](KernelOp) { return 0; });
  ASSERT_THAT(program, IsOk());
  std::map<std::string, int> steps = countSteps(*program);
  for (const passes::FusionDecision& decision : decisions) {
    if (!decision.taken)
      continue;
    std::vector<std::string> ops;
    for (const std::string& op : decision.ops)
      ops.push_back(op.substr(0, op.find(' ')));
    EXPECT_GE(steps[contentOf(ops)]--, 1) << decision.rule << ": " << contentOf(ops);
  }
  std::map<std::string, int> counts = countRules(decisions);
  for (const std::string& rule : GetParam().rules)
    EXPECT_GE(counts[rule], 1) << rule;
}

// Where no row names residual-norm, every sum in front of a norm ends the product before it, which
// saves as many kernels and more bytes, and the norm begins the product after it.
const std::vector<std::string> serial = {"embedding-norm",  "gated-linear", "head-argmax",
                                         "matmul-epilogue", "norm-matmul",  "qkv-cache",
                                         "shared-input"};

INSTANTIATE_TEST_SUITE_P(
    Families, RuleTable,
    testing::Values(Family{"llama", "stories260K/stories260K-f16.gguf", "f16", serial},
                    Family{"mistral", "goldens/mistral.gguf", "bf16", serial},
                    Family{"phi3", "goldens/phi3.gguf", "bf16", serial},
                    Family{"qwen2", "goldens/qwen2.gguf", "f16", serial},
                    Family{"qwen3", "goldens/qwen3.gguf", "f16", serial},
                    Family{"gemma2",
                           "goldens/gemma2.gguf",
                           "bf16",
                           {"elementwise-chain", "embedding-norm", "gated-linear", "head-argmax",
                            "matmul-epilogue", "norm-matmul", "norm-residual", "qkv-cache",
                            "shared-input"}},
                    Family{"gpt2",
                           "goldens/gpt2.gguf",
                           "f16",
                           {"embedding-norm", "head-argmax", "matmul-epilogue", "norm-matmul",
                            "qkv-cache", "residual-norm", "shared-input"}},
                    Family{"gptneox",
                           "tiny-neox/tiny-neox-262k-f32.gguf",
                           "f16",
                           {"embedding-norm", "head-argmax", "matmul-epilogue", "norm-matmul",
                            "parallel-residual", "qkv-cache", "shared-input"}}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tenon::tests
