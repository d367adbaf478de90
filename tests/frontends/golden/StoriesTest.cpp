#include <nlohmann/json.hpp>

#include "tests/Tolerances.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tests/frontends/golden/ReferenceModel.h"

namespace tenon::tests {
namespace {

/// A file of the model's folder.
std::string dataFile(const std::string& name) { return TENON_TEST_DATA "/stories260K/" + name; }

GreedyRun runOf(const nlohmann::json& json) {
  return {json.at("prompt_ids").get<std::vector<int32_t>>(),
          json.at("greedy_ids").get<std::vector<int32_t>>()};
}

/// The prompt of the first run and its first 8 greedy ids.
std::vector<int32_t> first13(const GreedyRun& run) {
  std::vector<int32_t> ids(run.promptIds);
  ids.insert(ids.end(), run.greedyIds.begin(), run.greedyIds.begin() + 8);
  return ids;
}

TEST(StoriesTest, GreedyIdsOfF32) {
  ReferenceModel model(dataFile("stories260K.gguf"));
  auto json = nlohmann::json::parse(readFile(dataFile("stories260K_greedy.json")));
  for (const nlohmann::json& run : json.at("runs"))
    expectGreedy(model, runOf(run));
}

TEST(StoriesTest, LogitsOfF32) {
  auto json = nlohmann::json::parse(readFile(dataFile("stories260K_greedy.json")));
  std::vector<int32_t> ids = first13(runOf(json.at("runs")[0]));
  std::string expected = dataFile("stories260K_logits_13x512.f32");
  ReferenceModel rounded(dataFile("stories260K.gguf"));
  expectLogits(rounded, ids, expected, relativeToLargest);
  ReferenceModel unrounded(dataFile("stories260K.gguf"), /*round=*/false);
  expectLogits(unrounded, ids, expected, relativeToLargestInDouble);
}

class QuantisedStoriesTest : public ::testing::TestWithParam<const char*> {};

TEST_P(QuantisedStoriesTest, GreedyIdsAndLogits) {
  auto json = nlohmann::json::parse(readFile(dataFile("stories260K_quant_greedy.json")));
  const nlohmann::json& entry = json.at(GetParam());
  std::string name = entry.at("file").get<std::string>();
  ReferenceModel model(dataFile(name));
  expectGreedy(model, runOf(entry));
  std::string logits = dataFile(name.substr(0, name.find(".gguf")) + "_logits_13x512.f32");
  std::vector<int32_t> ids = first13(runOf(entry));
  expectLogits(model, ids, logits, relativeToLargest);
  ReferenceModel unrounded(dataFile(name), /*round=*/false);
  expectLogits(unrounded, ids, logits, relativeToLargestInDouble);
}

INSTANTIATE_TEST_SUITE_P(Encodings, QuantisedStoriesTest, ::testing::Values("F16", "Q8_0", "Q4_0"),
                         [](const auto& info) { return std::string(info.param); });

/// Two sequences in one step give what each gives alone, to the bit.
TEST(StoriesTest, SequencesDoNotMix) {
  ReferenceModel together(dataFile("stories260K.gguf")), alone(dataFile("stories260K.gguf"));
  const std::vector<int32_t> first = {1, 403, 407, 261}, second = {1, 291, 376, 400};
  std::vector<double> joined;
  for (int32_t i = 0; i < 4; ++i)
    joined = together.decodeBoth(first[i], second[i], i).at(0);
  std::vector<double> expected = alone.decodeAll(first).back().at(0);
  alone.reset();
  std::vector<double> ofSecond = alone.decodeAll(second).back().at(0);
  EXPECT_NE(ofSecond, expected);
  expected.insert(expected.end(), ofSecond.begin(), ofSecond.end());
  EXPECT_EQ(joined, expected);
}

/// A prompt in two chunks gives what it gives in one, to the bit.
TEST(StoriesTest, ChunkedPrefill) {
  ReferenceModel model(dataFile("stories260K.gguf"));
  std::vector<double> whole = model.prefill({1, 403, 407, 261, 378}).at(0);
  model.reset();
  model.prefill({1, 403, 407});
  EXPECT_EQ(model.prefill({261, 378}, 3).at(0), whole);
}

/// Rounding to 16 bits costs accuracy, not sense.
TEST(StoriesTest, ActivationsOf16Bits) {
  auto json = nlohmann::json::parse(readFile(dataFile("stories260K_greedy.json")));
  std::vector<int32_t> ids = first13(runOf(json.at("runs")[0]));
  std::vector<double> expected = readF32File(dataFile("stories260K_logits_13x512.f32"));
  expected.erase(expected.begin(), expected.end() - 512);
  auto errorOf = [&](frontends::ActivationType type) {
    ReferenceModel model(dataFile("stories260K.gguf"), /*round=*/true, type);
    Results results = model.prefill(ids);
    return results.empty() ? INFINITY : relativeError(results.front(), expected);
  };
  double f16 = errorOf(frontends::ActivationType::F16);
  double bf16 = errorOf(frontends::ActivationType::BF16);
  EXPECT_GT(f16, relativeToLargest);
  EXPECT_LT(f16, 0.01);
  EXPECT_GT(bf16, f16);
  EXPECT_LT(bf16, 0.1);
}

} // namespace
} // namespace tenon::tests
