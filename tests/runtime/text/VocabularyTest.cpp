// The tokenisers of real models against the ids that llama.cpp gives (its tests' .inp and .out).

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "frontends/gguf/GgufFile.h"
#include "frontends/gguf/GgufTokenizer.h"
#include "runtime/text/StreamingDetokenizer.h"
#include "runtime/text/Tokenizer.h"

namespace tenon::runtime {
namespace {

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<Tokenizer> loadTokenizer(const std::string& path) {
  absl::StatusOr<std::shared_ptr<const frontends::GgufFile>> file = frontends::GgufFile::open(path);
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok())
    return nullptr;
  absl::StatusOr<TokenizerSpec> spec = frontends::readGgufTokenizer(**file);
  EXPECT_TRUE(spec.ok()) << spec.status();
  if (!spec.ok())
    return nullptr;
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::create(*std::move(spec));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

std::vector<std::string> splitCases(const std::string& text) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::vector<std::string> cases;
  size_t at = 0;
  for (size_t end; (end = text.find(separator, at)) != std::string::npos;
       at = end + separator.size())
    cases.push_back(text.substr(at, end - at));
  return cases;
}

std::vector<std::vector<int32_t>> readIdLines(const std::string& text) {
  std::vector<std::vector<int32_t>> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream numbers(line);
    lines.emplace_back();
    for (int32_t id; numbers >> id;)
      lines.back().push_back(id);
  }
  return lines;
}

std::string decodeAll(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string text;
  for (int32_t id : ids)
    text += tokenizer.decode(id).value();
  return text;
}

struct Vocabulary {
  std::string name;
  /// Bytes that no token stands for.
  std::string missing = "";
};

class VocabularyTest : public testing::TestWithParam<Vocabulary> {
protected:
  void SetUp() override {
    const std::string name = GetParam().name;
    tokenizer = loadTokenizer(TENON_TEST_BUILD "/vocab/" + name + ".gguf");
    ASSERT_NE(tokenizer, nullptr);
    const std::string cases = TENON_TEST_DATA "/vocab/ggml-vocab-" + name + ".gguf";
    inputs = splitCases(readFile(cases + ".inp"));
    expected = readIdLines(readFile(cases + ".out"));
    ASSERT_EQ(inputs.size(), 46u);
    ASSERT_EQ(expected.size(), 46u);
  }

  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<std::string> inputs;
  std::vector<std::vector<int32_t>> expected;
};

TEST_P(VocabularyTest, encodesAllCases) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto ids = tokenizer->encode(inputs[i], {.addSpecial = false, .parseSpecial = false});
    ASSERT_TRUE(ids.ok()) << ids.status();
    EXPECT_EQ(*ids, expected[i]) << "case " << i << ": '" << inputs[i] << "'";
  }
}

TEST_P(VocabularyTest, decodesWhatItEncodes) {
  const bool isSentencePiece = tokenizer->spec().model == TokenizerModel::SentencePiece;
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(decodeAll(*tokenizer, expected[i]),
              (isSentencePiece && !inputs[i].empty() ? " " : "") + inputs[i])
        << "case " << i;
}

TEST_P(VocabularyTest, keepsEveryByteThatHasAToken) {
  std::string bytes;
  for (int i = 0; i < 256; ++i)
    bytes += char(i);
  bytes += "\xE2\x82 half a \xF0\x9F\x98 character \xC3";
  const auto ids = tokenizer->encode(bytes, {.addSpecial = false});
  ASSERT_TRUE(ids.ok()) << ids.status();
  std::erase_if(bytes,
                [](char byte) { return GetParam().missing.find(byte) != std::string::npos; });
  const bool isSentencePiece = tokenizer->spec().model == TokenizerModel::SentencePiece;
  EXPECT_EQ(decodeAll(*tokenizer, *ids), (isSentencePiece ? " " : "") + bytes);
}

// These stand nowhere in UTF-8.
constexpr const char* notUtf8 = "\xC0\xC1\xF5\xF6\xF7\xF8\xF9\xFA\xFB\xFC\xFD\xFE\xFF";

INSTANTIATE_TEST_SUITE_P(
    , VocabularyTest,
    testing::Values(Vocabulary{"llama-spm"}, Vocabulary{"phi-3"}, Vocabulary{"gpt-2"},
                    Vocabulary{"deepseek-coder", notUtf8},
                    Vocabulary{"starcoder", notUtf8 + std::string("\xF1")},
                    Vocabulary{"falcon",
                               notUtf8 + std::string("\xF2\3\4\5\x0B"
                                                     "\x11\x13\x14\x15\x16\x17\x19\x1C\x1D\x1E")}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::erase(name, '-');
      return name;
    });

struct GreedyFile {
  const char* model;
  const char* json;
};

class GreedyTextTest : public testing::TestWithParam<GreedyFile> {
protected:
  void SetUp() override {
    const std::string data = TENON_TEST_DATA "/";
    tokenizer = loadTokenizer(data + GetParam().model);
    ASSERT_NE(tokenizer, nullptr);
    const nlohmann::json json = nlohmann::json::parse(readFile(data + GetParam().json));
    if (json.contains("runs"))
      runs = json["runs"];
    else // one run for each quantisation, all of the same prompt
      for (nlohmann::json run : json) {
        run["prompt"] = "Once upon a time";
        runs.push_back(run);
      }
    ASSERT_GE(runs.size(), 2u);
  }

  std::unique_ptr<Tokenizer> tokenizer;
  nlohmann::json runs = nlohmann::json::array();
};

TEST_P(GreedyTextTest, encodesThePrompts) {
  for (const nlohmann::json& run : runs) {
    const auto ids = tokenizer->encode(run["prompt"].get<std::string>());
    ASSERT_TRUE(ids.ok()) << ids.status();
    EXPECT_EQ(*ids, run["prompt_ids"].get<std::vector<int32_t>>());
  }
}

TEST_P(GreedyTextTest, streamsTheTexts) {
  for (const nlohmann::json& run : runs) {
    StreamingDetokenizer stream(*tokenizer);
    std::string text;
    for (const char* part : {"prompt_ids", "greedy_ids"})
      for (int32_t id : run[part].get<std::vector<int32_t>>())
        text += stream.push(id).value();
    text += stream.flush();
    EXPECT_EQ(text, run["text"].get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(, GreedyTextTest,
                         testing::Values(GreedyFile{"stories260K/stories260K.gguf",
                                                    "stories260K/stories260K_greedy.json"},
                                         GreedyFile{"stories260K/stories260K-q8_0.gguf",
                                                    "stories260K/stories260K_quant_greedy.json"},
                                         GreedyFile{"tiny-neox/tiny-neox-262k-f32.gguf",
                                                    "tiny-neox/tiny-neox-262k_greedy.json"}),
                         [](const auto& info) { return "file" + std::to_string(info.index); });

} // namespace
} // namespace tenon::runtime
