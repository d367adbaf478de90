// Tiny random models of each family on the CPU, against Hugging Face's own code (tests/goldens).
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/cpu/CpuExecutor.h"
#include "support/Status.h"
#include "tests/Tolerances.h"
#include "tests/common/FamilyGolden.h"
#include "tests/end-to-end/Models.h"
#include "tests/frontends/golden/QuantisedExperts.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace tenon::tests {
namespace {

class CpuFamilies : public testing::TestWithParam<const char*> {};

/// Compiles decode and prefill for this machine. The goldens hold no tokeniser, so the module may
/// not say that it is a model for text.
absl::StatusOr<std::unique_ptr<runtime::Executor>>
compileFamily(const tools::ModelOptions& options) {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> module,
                         tools::readModel(*context, options));
  (*module)->removeAttr(TenonDialect::modelAttrName);
  for (auto function : module->getOps<mlir::func::FuncOp>())
    function->removeAttr(TenonDialect::entryAttrName);
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "cpu"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*module, target));
  return runtime::CpuExecutor::create(std::move(program), {});
}

/// The first `chunk` tokens as one chunk, the others one by one.
void expectGolden(runtime::Executor& cpu, const FamilyGolden& golden, size_t chunk) {
  std::vector<std::string> names = golden.outputs();
  ASSERT_GE(names.size(), 3u);
  const std::vector<int32_t> ids = golden.ids();
  ASSERT_GE(ids.size(), chunk);

  Outputs found = runRows(cpu, 1, {ids.begin(), ids.begin() + chunk}, 0).value();
  for (size_t token = chunk; token < ids.size(); ++token) {
    Outputs row = runRows(cpu, 0, {ids[token]}, static_cast<int32_t>(token)).value();
    for (size_t output = 0; output < row.size(); ++output)
      found[output].insert(found[output].end(), row[output].begin(), row[output].end());
  }
  ASSERT_EQ(found.size(), names.size());
  for (size_t output = 0; output < names.size(); ++output) {
    std::vector<float> expected = golden.values(names[output]);
    // A chunk gives the logits of its last token only.
    if (output == 0)
      expected.erase(expected.begin(),
                     expected.begin() + (chunk - 1) * (expected.size() / ids.size()));
    ASSERT_EQ(found[output].size(), expected.size());
    EXPECT_LE(relativeDifference(found[output], expected), relativeToLargest) << names[output];
  }
}

TEST_P(CpuFamilies, HiddenStatesAndLogits) {
  FamilyGolden golden(GetParam());
  std::unique_ptr<runtime::Executor> cpu =
      compileFamily(
          {.path = golden.modelPath(), .shapes = {"decode:1", "prefill:16"}, .blockOutputs = true})
          .value();
  expectGolden(*cpu, golden, 16);
}

INSTANTIATE_TEST_SUITE_P(All, CpuFamilies, testing::ValuesIn(goldenFamilies),
                         [](const auto& info) { return std::string(info.param); });

class CpuNested : public testing::TestWithParam<const char*> {};

TEST_P(CpuNested, HiddenStatesAndLogits) {
  std::unique_ptr<runtime::Executor> cpu = compileFamily({.path = nestedFolder(GetParam()),
                                                          .shapes = {"decode:1", "prefill:16"},
                                                          .blockOutputs = true})
                                               .value();
  expectGolden(*cpu, FamilyGolden(GetParam()), 16);
}

TEST_P(CpuNested, GreedyIds) {
  FamilyGolden golden(GetParam());
  std::unique_ptr<runtime::Executor> cpu =
      compileFamily({.path = nestedFolder(GetParam()), .shapes = {"decode:1"}}).value();
  std::vector<int32_t> ids = golden.ids(), expected = golden.ids("greedy"), found;
  ASSERT_EQ(expected.size(), 64u);
  for (size_t i = 0; found.size() < expected.size(); ++i) {
    std::vector<float> logits = runRows(*cpu, 0, {ids[i]}, static_cast<int32_t>(i)).value().at(0);
    if (i + 1 < ids.size())
      continue;
    auto best = static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
    found.push_back(best);
    ids.push_back(best);
  }
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(All, CpuNested, testing::ValuesIn(nestedFolders),
                         [](const auto& info) { return std::string(info.param); });

class CpuQuantisedExperts : public testing::TestWithParam<ExpertContainer> {};

/// Experts in containers give what their dequantised form does.
TEST_P(CpuQuantisedExperts, LogitsOfTheDequantisedForm) {
  QuantisedForms forms(TENON_TEST_BUILD "/hf/qwen3moe", GetParam());
  auto compile = [](const TempFolder& folder) {
    return compileFamily({.path = folder.path(""), .shapes = {"decode:1", "prefill:16"}}).value();
  };
  std::unique_ptr<runtime::Executor> quantised = compile(forms.quantised);
  std::unique_ptr<runtime::Executor> plain = compile(forms.plain);
  const std::vector<int32_t> ids = FamilyGolden("qwen3moe").ids();
  for (size_t function : {1, 0}) {
    std::vector<int32_t> fed = function == 1 ? ids : std::vector<int32_t>{7};
    auto position = static_cast<int32_t>(function == 1 ? 0 : ids.size());
    std::vector<float> found = runRows(*quantised, function, fed, position).value().at(0);
    EXPECT_LE(relativeDifference(found, runRows(*plain, function, fed, position).value().at(0)),
              relativeToLargest);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CpuQuantisedExperts, testing::ValuesIn(expertContainers()),
                         [](const auto& info) { return info.param.name; });

class CpuFamilyStreams : public testing::TestWithParam<const char*> {};

/// While all tokens fit into its window, a stream sees what any text sees, though its queries have three
/// views and its keys two ranges.
TEST_P(CpuFamilyStreams, BeginAsTheirTexts) {
  FamilyGolden golden(GetParam());
  std::unique_ptr<runtime::Executor> cpu = compileFamily({.path = golden.modelPath(),
                                                          .shapes = {"decode:1", "prefill:6"},
                                                          .keptTokens = 4,
                                                          .window = 16,
                                                          .blockOutputs = true})
                                               .value();
  expectGolden(*cpu, golden, 6);
}

// One block of SmolLM3 rotates nothing.
INSTANTIATE_TEST_SUITE_P(All, CpuFamilyStreams,
                         testing::Values("cohere", "olmoe", "qwen3", "smollm3", "stablelm"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace tenon::tests
