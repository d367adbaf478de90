#include "runtime/text/internal/PreTokenizer.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/text/PreTokenizers.h"

namespace tenon::runtime::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string_view> split(std::string_view name, std::string_view text) {
  const auto preTokenizer = PreTokenizer::create(name);
  EXPECT_TRUE(preTokenizer.ok()) << preTokenizer.status();
  const auto pieces = preTokenizer->split(text);
  EXPECT_TRUE(pieces.ok()) << pieces.status();
  return *pieces;
}

TEST(PreTokenizer, cutsAsGpt2Does) {
  EXPECT_THAT(split("gpt-2", "I'll pay 100€  now\n\n you're"),
              ElementsAre("I", "'ll", " pay", " 100", "€", " ", " now", "\n\n", " you", "'re"));
  EXPECT_THAT(split("gpt-2", "end   "), ElementsAre("end", "   "));
  EXPECT_THAT(split("gpt-2", ""), ElementsAre());
}

TEST(PreTokenizer, cutsByAllPatternsOfAnEntry) {
  EXPECT_THAT(split("default", "a<=b 1234567 'tis"),
              ElementsAre("a", "<=", "b", " ", "123", "456", "7", " ", "'", "tis"));
}

TEST(PreTokenizer, cutsDigitsAsEachModelDoes) {
  EXPECT_THAT(split("gpt-2", "a 12345"), ElementsAre("a", " 12345"));
  EXPECT_THAT(split("falcon", "a 12345"), ElementsAre("a", " ", "123", "45"));
  EXPECT_THAT(split("starcoder", "a 123"), ElementsAre("a", " ", "1", "2", "3"));
  EXPECT_THAT(split("deepseek-coder", "a 12"), ElementsAre("a", " ", "1", "2"));
  EXPECT_THAT(split("llama-bpe", "a 12345"), ElementsAre("a", " ", "123", "45"));
  EXPECT_THAT(split("qwen2", "a 12"), ElementsAre("a", " ", "1", "2"));
}

TEST(PreTokenizer, cutsAsLlama3Does) {
  EXPECT_THAT(split("llama-bpe", "I'LL go\n\n  x.y(z);\r\n\t a"),
              ElementsAre("I", "'LL", " go", "\n\n", " ", " x", ".y", "(z", ");\r\n", "\t", " a"));
}

TEST(PreTokenizer, cutsByCaseAsOpenAiAndMistralDo) {
  EXPECT_THAT(split("gpt-4o", "HTMLParser isn't 12345 a//b\n"),
              ElementsAre("HTMLParser", " isn't", " ", "123", "45", " a", "//", "b", "\n"));
  EXPECT_THAT(split("tekken", "camelCase's 12"), ElementsAre("camel", "Case", "'s", " ", "1", "2"));
}

TEST(PreTokenizer, cutsAsDeepSeekV3Does) {
  EXPECT_THAT(split("deepseek-v3", "x=1234 .foo 日本語です(a)"),
              ElementsAre("x", "=", "123", "4", " .", "foo", " ", "日本語です", "(a", ")"));
}

TEST(PreTokenizer, cutsAsBloomDoes) {
  EXPECT_THAT(split("bloom", "a b, c 12"), ElementsAre("a", " b", ",", " c", " 12"));
  EXPECT_THAT(split("viking", "b 12"), ElementsAre("b", " ", "1", "2"));
}

TEST(PreTokenizer, cutsAsDeepSeekCoderDoes) {
  EXPECT_THAT(split("deepseek-coder", "a,\n\n 日本x=1"),
              ElementsAre("a", ",", "\n", "\n", " ", "日本", "x", "=", "1"));
}

TEST(PreTokenizer, knowsUnicodesLettersAndDigits) {
  EXPECT_THAT(split("gpt-2", "żółw 日本 ٣٤"), ElementsAre("żółw", " 日本", " ٣٤"));
}

// PCRE2's own \s takes U+180E for a space; U+0085 and U+3000 are spaces to both.
TEST(PreTokenizer, spacesAreUnicodesWhiteSpace) {
  EXPECT_THAT(split("gpt-2", "a\u180E!"), ElementsAre("a", "\u180E!"));
  EXPECT_THAT(split("gpt-2", "a\u0085\u3000"), ElementsAre("a", "\u0085\u3000"));
}

TEST(PreTokenizer, keepsBytesThatAreNotUtf8) {
  EXPECT_THAT(split("gpt-2", "ab\xFF\xE2\x82 cd\x80"),
              ElementsAre("ab", "\xFF\xE2\x82", " cd", "\x80"));
}

std::vector<std::string> splitBy(std::vector<SplitStep> steps, const std::string& text) {
  TokenizerSpec spec;
  spec.splits = std::move(steps);
  const auto preTokenizer = PreTokenizer::create(spec);
  EXPECT_TRUE(preTokenizer.ok()) << preTokenizer.status();
  const auto pieces = preTokenizer->split(text);
  EXPECT_TRUE(pieces.ok()) << pieces.status();
  return {pieces->begin(), pieces->end()};
}

TEST(PreTokenizer, matchesGoWhereTheBehaviourSays) {
  const std::string text = "-ab--c-";
  const auto by = [&](SplitBehavior behavior, bool invert = false) {
    return splitBy({{"-", behavior, invert}}, text);
  };
  EXPECT_THAT(by(SplitBehavior::Isolated), ElementsAre("-", "ab", "-", "-", "c", "-"));
  EXPECT_THAT(by(SplitBehavior::Removed), ElementsAre("ab", "c"));
  EXPECT_THAT(by(SplitBehavior::MergedWithPrevious), ElementsAre("-", "ab-", "-", "c-"));
  EXPECT_THAT(by(SplitBehavior::MergedWithNext), ElementsAre("-ab", "-", "-c", "-"));
  EXPECT_THAT(by(SplitBehavior::Contiguous), ElementsAre("-", "ab", "--", "c", "-"));
  EXPECT_THAT(by(SplitBehavior::Removed, true), ElementsAre("-", "-", "-", "-"));
  EXPECT_THAT(splitBy({{"b", SplitBehavior::Isolated}, {"-", SplitBehavior::Removed}}, text),
              ElementsAre("a", "b", "c"));
}

TEST(PreTokenizer, refusesBehavioursAndPatternsThatAreNone) {
  TokenizerSpec spec;
  spec.splits = {{"a", SplitBehavior{7}}};
  EXPECT_THAT(std::string(PreTokenizer::create(spec).status().message()),
              HasSubstr("expects behaviours of splits from 0 to 4, but got 7"));
  spec.splits = {{"(a"}};
  EXPECT_THAT(std::string(PreTokenizer::create(spec).status().message()),
              HasSubstr("pre-tokenizer, pattern '(a', byte 2"));
  spec.splits = {{std::string(20000, 'a')}};
  EXPECT_THAT(std::string(PreTokenizer::create(spec).status().message()),
              HasSubstr("expects a pattern of at most 16384 bytes, but got 20000"));
}

TEST(PreTokenizer, longRunsNeedNoStack) {
  std::set<std::vector<std::string_view>> patterns;
  for (const PreTokenizerEntry& entry : preTokenizers()) {
    if (!patterns.insert(entry.patterns).second)
      continue; // many names share their patterns
    for (const char* unit : {"a", "7", " ", "\n", "!", "é", "'s", " a", "\n ", "日"}) {
      std::string text;
      for (int i = 0; i < 300000; ++i)
        text += unit;
      std::string joined;
      for (std::string_view piece : split(entry.name, text))
        joined += piece;
      EXPECT_TRUE(joined == text) << entry.name << ": " << unit;
    }
  }
}

TEST(PreTokenizer, refusesUnknownNames) {
  const absl::Status status = PreTokenizer::create("gpt-17").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("tokenizer: expects one of the pre-tokenizers gpt-2, "),
                    HasSubstr(", llama-bpe, "), HasSubstr(", but got 'gpt-17'")));
}

TEST(PreTokenizer, refusesBrokenPatterns) {
  const absl::Status status = PreTokenizer::compile({"broken", {"a+", "(b"}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("pre-tokenizer 'broken', pattern '(b', byte 2: missing closing parenthesis"));
}

// 2^n ways to fail: matching gives up instead of hanging.
TEST(PreTokenizer, reportsMatchesThatDoNotEnd) {
  const auto preTokenizer = PreTokenizer::compile({"slow", {"(a|a)+[bc]"}});
  ASSERT_TRUE(preTokenizer.ok()) << preTokenizer.status();
  const absl::Status status = preTokenizer->split(std::string(200, 'a')).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("tokenizer: pattern '(a|a)+[bc]'"));
}

} // namespace
} // namespace tenon::runtime::internal
