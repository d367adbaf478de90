// Tiny random models of each family against Hugging Face's own code (tests/goldens).
#include "tests/Tolerances.h"
#include "tests/common/FamilyGolden.h"
#include "tests/frontends/gguf/ModelFile.h"
#include "tests/frontends/golden/ReferenceModel.h"

namespace tenon::tests {
namespace {

using frontends::ModelFile;

/// The largest relative error of the logits and of each block's output over the prompt, decoded
/// token by token.
std::vector<double> errorsOf(ReferenceModel& model, const FamilyGolden& golden) {
  std::vector<std::string> names = golden.outputs();
  std::vector<std::vector<double>> found(names.size());
  for (const Results& results : model.decodeAll(golden.ids())) {
    EXPECT_EQ(results.size(), names.size());
    for (size_t i = 0; i < std::min(results.size(), names.size()); ++i)
      found[i].insert(found[i].end(), results[i].begin(), results[i].end());
  }
  std::vector<double> errors;
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<float> expected = golden.values(names[i]);
    errors.push_back(relativeError(found[i], {expected.begin(), expected.end()}));
  }
  return errors;
}

class FamiliesGoldenTest : public ::testing::TestWithParam<const char*> {
protected:
  FamilyGolden golden = FamilyGolden(GetParam());
  std::string path = golden.modelPath();
};

TEST_P(FamiliesGoldenTest, HiddenStatesAndLogits) {
  ASSERT_GE(golden.outputs().size(), 3u);
  for (bool round : {true, false}) {
    ReferenceModel model(path, round);
    for (double error : errorsOf(model, golden))
      EXPECT_LE(error, round ? relativeToLargest : relativeToLargestInDouble);
  }
}

/// In chunks of 16, the second of which is not full.
TEST_P(FamiliesGoldenTest, PrefillGivesTheSame) {
  ReferenceModel decoding(path), prefilling(path);
  std::vector<int32_t> ids = golden.ids();
  ids.insert(ids.end(), ids.begin(), ids.begin() + 4);
  std::vector<Results> expected = decoding.decodeAll(ids);
  for (size_t first = 0; first < ids.size(); first += 16) {
    std::vector<int32_t> chunk(ids.begin() + first, ids.begin() + std::min(first + 16, ids.size()));
    Results found = prefilling.prefill(chunk, static_cast<int32_t>(first));
    ASSERT_EQ(found.size(), golden.outputs().size());
    EXPECT_EQ(found[0], expected[first + chunk.size() - 1][0]);
    size_t hidden = expected[0][1].size();
    for (size_t row = 0; row < chunk.size(); ++row)
      for (size_t block = 1; block < found.size(); ++block)
        EXPECT_TRUE(std::equal(found[block].begin() + row * hidden,
                               found[block].begin() + (row + 1) * hidden,
                               expected[first + row][block].begin()))
            << "position " << first + row << ", block " << block - 1;
  }
}

TEST_P(FamiliesGoldenTest, GreedyIds) {
  GreedyRun run{golden.ids(), golden.ids("greedy")};
  ASSERT_EQ(run.greedyIds.size(), 64u);
  ReferenceModel model(path);
  expectGreedy(model, run);
}

INSTANTIATE_TEST_SUITE_P(All, FamiliesGoldenTest, ::testing::ValuesIn(goldenFamilies),
                         [](const auto& info) { return std::string(info.param); });

/// Caches of 15 positions lie within the original context of 16, longer ones do not.
TEST(LongRopeGoldenTest, ShortContextsHaveTheirOwnFactors) {
  FamilyGolden golden("phi3", "short.");
  ModelFile file = ModelFile::read(golden.modelPath());
  ReferenceModel longer(golden.modelPath());
  EXPECT_GE(errorsOf(longer, golden).front(), 10 * relativeToLargest);
  file.keys["phi3.context_length"] = 15u;
  TempFolder temporary;
  ReferenceModel model(file.write(temporary));
  for (double error : errorsOf(model, golden))
    EXPECT_LE(error, relativeToLargest);
}

/// A key of a family's own, given another value.
struct KeyCase {
  const char* family;
  const char* key;
  ModelFile::KeyValue value;
};

class FamilyKeyTest : public ::testing::TestWithParam<KeyCase> {};

/// The goldens would notice if the key were not read.
TEST_P(FamilyKeyTest, AnotherValueIsAnotherModel) {
  FamilyGolden golden(GetParam().family);
  ModelFile file = ModelFile::read(golden.modelPath());
  ASSERT_TRUE(file.keys.contains(GetParam().key));
  file.keys[GetParam().key] = GetParam().value;
  TempFolder temporary;
  ReferenceModel model(file.write(temporary));
  EXPECT_GE(errorsOf(model, golden).front(), 10 * relativeToLargest);
}

INSTANTIATE_TEST_SUITE_P(
    All, FamilyKeyTest,
    ::testing::Values(KeyCase{"mpt", "mpt.attention.clamp_kqv", 0.0f},
                      KeyCase{"mpt", "mpt.attention.clamp_kqv", 1.0f},
                      KeyCase{"mpt", "mpt.attention.max_alibi_bias", 8.0f},
                      KeyCase{"gemma2", "gemma2.attention.sliding_window", 0u},
                      KeyCase{"gemma2", "gemma2.attention.sliding_window", 7u},
                      KeyCase{"gemma2", "gemma2.attn_logit_softcapping", 3.0f},
                      KeyCase{"gemma2", "gemma2.final_logit_softcapping", 5.0f},
                      KeyCase{"gemma2", "gemma2.attention.scale", 0.2f},
                      KeyCase{"gpt_oss", "gpt-oss.expert_used_count", 2u},
                      KeyCase{"gpt_oss", "gpt-oss.attention.sliding_window", 0u},
                      KeyCase{"gpt_oss", "gpt-oss.rope.scaling.factor", 1.0f},
                      KeyCase{"mixtral", "llama.expert_used_count", 1u},
                      KeyCase{"qwen3moe", "qwen3moe.expert_used_count", 2u},
                      KeyCase{"mistral", "llama.attention.sliding_window", 0u},
                      KeyCase{"mistral", "llama.attention.sliding_window", 7u},
                      KeyCase{"phi3", "phi3.attention.sliding_window", 0u},
                      KeyCase{"phi3", "phi3.rope.scaling.attn_factor", 1.0f},
                      KeyCase{"qwen2", "qwen2.rope.freq_base", 10000.0f}));

} // namespace
} // namespace tenon::tests
