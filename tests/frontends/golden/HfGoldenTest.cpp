// The models of tests/data as Hugging Face folders (tests/goldens/convert_gguf_to_hf.py): the same
// results as the models' own code, and the same bits as their GGUF files give.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "frontends/models/Frontend.h"
#include "tests/Tolerances.h"
#include "tests/common/FamilyGolden.h"
#include "tests/common/TempFolder.h"
#include "tests/frontends/golden/ReferenceModel.h"

namespace tenon::tests {
namespace {

std::string hfFolder(const std::string& name) { return TENON_TEST_BUILD "/hf/" + name; }

constexpr const char* storiesModel = TENON_TEST_DATA "/stories260K/stories260K.gguf";
constexpr const char* neoxModel = TENON_TEST_DATA "/tiny-neox/tiny-neox-262k-f32.gguf";

void expectHiddenStatesAndLogits(const std::string& folder, const FamilyGolden& golden) {
  ReferenceModel model(folder);
  std::vector<std::string> names = golden.outputs();
  ASSERT_GE(names.size(), 3u);
  std::vector<std::vector<double>> found(names.size());
  for (const Results& results : model.decodeAll(golden.ids())) {
    ASSERT_EQ(results.size(), names.size());
    for (size_t i = 0; i < names.size(); ++i)
      found[i].insert(found[i].end(), results[i].begin(), results[i].end());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<float> expected = golden.values(names[i]);
    EXPECT_LE(relativeError(found[i], {expected.begin(), expected.end()}), relativeToLargest)
        << names[i];
  }
}

class HfFamilies : public ::testing::TestWithParam<const char*> {
protected:
  FamilyGolden golden = FamilyGolden(GetParam());
  std::string folder = hfFolder(GetParam());
};

TEST_P(HfFamilies, HiddenStatesAndLogits) { expectHiddenStatesAndLogits(folder, golden); }

TEST_P(HfFamilies, GreedyIds) {
  ReferenceModel model(folder);
  expectGreedy(model, {golden.ids(), golden.ids("greedy")});
}

INSTANTIATE_TEST_SUITE_P(All, HfFamilies, ::testing::ValuesIn(goldenFolders),
                         [](const auto& info) { return std::string(info.param); });

/// Text models within models of texts and images, in folders as transformers saves them.
class HfNested : public ::testing::TestWithParam<const char*> {};

TEST_P(HfNested, HiddenStatesAndLogits) {
  expectHiddenStatesAndLogits(nestedFolder(GetParam()), FamilyGolden(GetParam()));
}

TEST_P(HfNested, GreedyIds) {
  FamilyGolden golden(GetParam());
  ASSERT_EQ(golden.ids("greedy").size(), 64u);
  ReferenceModel model(nestedFolder(GetParam()));
  expectGreedy(model, {golden.ids(), golden.ids("greedy")});
}

INSTANTIATE_TEST_SUITE_P(All, HfNested, ::testing::ValuesIn(nestedFolders),
                         [](const auto& info) { return std::string(info.param); });

/// The first files of Qwen2.5-VL have the text model's keys beside those of the images.
TEST(HfNestedKeys, BesideThoseOfImages) {
  const std::string nested = nestedFolder("qwen2_5_vl");
  auto config = nlohmann::json::parse(readFile(nested + "/config.json"));
  nlohmann::json flat = config;
  flat.erase("text_config");
  for (const auto& [key, value] : config["text_config"].items())
    if (key != "model_type" && key != "rope_parameters")
      flat[key] = value;
  flat["rope_theta"] = 10000.0;
  flat["rope_scaling"] = {{"type", "mrope"}, {"mrope_section", {2, 3, 3}}};
  TempFolder folder;
  folder.write("config.json", flat.dump());
  folder.write("model.safetensors", readFile(nested + "/model.safetensors"));
  expectHiddenStatesAndLogits(folder.path(""), FamilyGolden("qwen2_5_vl"));
}

/// A model as a folder and as a GGUF file.
struct TwoForms {
  const char* folder;
  std::string file;
};

class HfBits : public ::testing::TestWithParam<TwoForms> {};

TEST_P(HfBits, AreThoseOfGguf) {
  const std::vector<int32_t> ids = {1, 77, 12, 203, 77, 5, 140, 31, 250, 9, 66};
  ReferenceModel fromFolder(hfFolder(GetParam().folder));
  ReferenceModel fromFile(GetParam().file);
  std::vector<Results> expected = fromFile.decodeAll(ids);
  ASSERT_FALSE(expected.empty());
  ASSERT_FALSE(expected.front().empty());
  EXPECT_EQ(fromFolder.decodeAll(ids), expected);
}

std::string goldenFile(const std::string& name) {
  return TENON_TEST_DATA "/goldens/" + name + ".gguf";
}

INSTANTIATE_TEST_SUITE_P(
    All, HfBits,
    ::testing::Values(
        TwoForms{"bloom", goldenFile("bloom")}, TwoForms{"cohere", goldenFile("cohere")},
        TwoForms{"cohere_qk", goldenFile("cohere_qk")}, TwoForms{"falcon", goldenFile("falcon")},
        TwoForms{"falcon_mq", goldenFile("falcon_mq")}, TwoForms{"gemma", goldenFile("gemma")},
        TwoForms{"gemma2", goldenFile("gemma2")},
        TwoForms{"gemma3_text", goldenFile("gemma3_text")}, TwoForms{"glm4", goldenFile("glm4")},
        TwoForms{"gpt2", goldenFile("gpt2")}, TwoForms{"gpt_oss-mxfp4", goldenFile("gpt_oss")},
        TwoForms{"olmo2", goldenFile("olmo2")}, TwoForms{"olmoe", goldenFile("olmoe")},
        TwoForms{"phi", goldenFile("phi")}, TwoForms{"phi3", goldenFile("phi3")},
        TwoForms{"qwen2", goldenFile("qwen2")}, TwoForms{"qwen2moe", goldenFile("qwen2moe")},
        TwoForms{"qwen3-shards", goldenFile("qwen3")},
        TwoForms{"qwen3moe-shards", goldenFile("qwen3moe")},
        TwoForms{"stablelm", goldenFile("stablelm")},
        TwoForms{"stablelm_qk", goldenFile("stablelm_qk")},
        TwoForms{"starcoder2", goldenFile("starcoder2")}, TwoForms{"tiny-neox", neoxModel}),
    [](const auto& info) {
      std::string name = info.param.folder;
      std::ranges::replace(name, '-', '_');
      return name;
    });

/// GGUF stores the rows of Q and K of Llama and its relatives in another order, in which the products of Q and
/// K add up: equal within rounding, not in bits.
class HfNear : public ::testing::TestWithParam<TwoForms> {};

TEST_P(HfNear, ThoseOfGguf) {
  const std::vector<int32_t> ids = {1, 203, 207, 161, 178, 232, 183, 9, 8, 7, 6};
  ReferenceModel fromFolder(hfFolder(GetParam().folder)), fromFile(GetParam().file);
  std::vector<Results> expected = fromFile.decodeAll(ids), found = fromFolder.decodeAll(ids);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_GE(expected[i].size(), 3u);
    for (size_t output = 0; output < expected[i].size(); ++output)
      EXPECT_LE(relativeError(found[i][output], expected[i][output]), relativeToLargest);
  }
}

INSTANTIATE_TEST_SUITE_P(All, HfNear,
                         ::testing::Values(TwoForms{"granite", goldenFile("granite")},
                                           TwoForms{"ministral3", goldenFile("ministral3")},
                                           TwoForms{"mistral", goldenFile("mistral")},
                                           TwoForms{"mixtral", goldenFile("mixtral")},
                                           TwoForms{"smollm3", goldenFile("smollm3")},
                                           TwoForms{"stories260K", storiesModel}),
                         [](const auto& info) { return std::string(info.param.folder); });

/// Weights of 16 bits are used as they lie in the file.
TEST(HfTypes, SixteenBits) {
  for (const char* name : {"stories260K-f16", "stories260K-bf16"}) {
    auto source = frontends::openModel(hfFolder(name));
    ASSERT_THAT(source, IsOk());
    for (const frontends::SourceTensor& tensor : (*source)->tensors())
      EXPECT_EQ(tensor.encoding->name, std::string_view(name).substr(12));
    ReferenceModel rounded(hfFolder(name)), exact(hfFolder("stories260K"));
    Results found = rounded.decode(403, 0), expected = exact.decode(403, 0);
    ASSERT_FALSE(expected.empty());
    // Eight bits of mantissa.
    EXPECT_LE(relativeError(found[0], expected[0]), 0.03);
    EXPECT_GT(relativeError(found[0], expected[0]), 0);
  }
}

} // namespace
} // namespace tenon::tests
