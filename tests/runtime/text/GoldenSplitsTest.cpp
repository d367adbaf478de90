// The splits that Hugging Face's `tokenizers` gives, as scripts/compare-tokenizers --golden writes.

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/text/internal/PreTokenizer.h"

namespace tenon::runtime::internal {
namespace {

class GoldenSplitsTest : public testing::TestWithParam<const char*> {};

TEST_P(GoldenSplitsTest, equalHuggingFaces) {
  std::ifstream file(TENON_TEST_DATA "/splits.json");
  const nlohmann::json cases = nlohmann::json::parse(file);
  ASSERT_EQ(cases.size(), 300u);
  const auto preTokenizer = PreTokenizer::create(GetParam());
  ASSERT_TRUE(preTokenizer.ok()) << preTokenizer.status();
  for (const nlohmann::json& entry : cases) {
    const std::string text = entry["text"];
    const auto pieces = preTokenizer->split(text);
    ASSERT_TRUE(pieces.ok()) << pieces.status();
    std::vector<size_t> lengths;
    for (std::string_view piece : *pieces)
      lengths.push_back(piece.size());
    EXPECT_EQ(lengths, entry[GetParam()].get<std::vector<size_t>>()) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(, GoldenSplitsTest,
                         testing::Values("gpt-2", "starcoder", "deepseek-coder", "llama-bpe",
                                         "qwen2"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

} // namespace
} // namespace tenon::runtime::internal
