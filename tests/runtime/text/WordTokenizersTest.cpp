// Unigram and WordPiece: what the golden texts of tests/data/hf/tokenizers do not reach.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/text/BertText.h"
#include "runtime/text/Tokenizer.h"
#include "tests/runtime/text/TestVocabularies.h"

namespace tenon::runtime {
namespace {

using testing::HasSubstr;
using Ids = std::vector<int32_t>;

Ids encode(const TokenizerSpec& spec, std::string_view text) {
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::create(spec);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  absl::StatusOr<Ids> ids = (*tokenizer)->encode(text, {.addSpecial = false});
  EXPECT_TRUE(ids.ok()) << ids.status();
  return *std::move(ids);
}

std::string refusal(const TokenizerSpec& spec) {
  return std::string(Tokenizer::create(spec).status().message());
}

/// 0 `<unk>`, then a, b, c, ab, bc, abc.
TokenizerSpec unigramSpec() {
  TokenizerSpec spec;
  spec.model = TokenizerModel::Unigram;
  addToken(spec, "<unk>", 0, TokenKind::Unknown);
  addToken(spec, "a", -3);
  addToken(spec, "b", -3);
  addToken(spec, "c", -3);
  addToken(spec, "ab", -4);
  addToken(spec, "bc", -3.5f);
  addToken(spec, "abc", -7);
  spec.unknownId = 0;
  return spec;
}

TEST(Unigram, takesTheTokensOfHighestScoreTogether) {
  EXPECT_EQ(encode(unigramSpec(), "abc"), (Ids{1, 5})); // −6.5; abc alone has −7, ab c too
  EXPECT_EQ(encode(unigramSpec(), "abab"), (Ids{4, 4}));
  EXPECT_EQ(encode(unigramSpec(), ""), Ids{});
}

TEST(Unigram, ofEqualScoresTakesTheLongestLastToken) {
  TokenizerSpec spec = unigramSpec();
  spec.scores[5] = -4; // a bc, ab c and abc have −7
  EXPECT_EQ(encode(spec, "abc"), (Ids{6}));
}

TEST(Unigram, joinsUnknownCharacters) {
  EXPECT_EQ(encode(unigramSpec(), "aééb日"), (Ids{1, 0, 2, 0}));
  EXPECT_EQ(encode(unigramSpec(), "a\xFF\xFE"), (Ids{1, 0}));
  TokenizerSpec spec = unigramSpec();
  spec.unknownId = -1;
  EXPECT_THAT(std::string(Tokenizer::create(spec).value()->encode("é").status().message()),
              HasSubstr("expects a token for every character of the text"));
}

TEST(Unigram, writesUnknownCharactersAsBytesWhereAllHaveTokens) {
  TokenizerSpec spec = unigramSpec();
  addToken(spec, "<0xC3>", 0, TokenKind::Byte);
  addToken(spec, "<0xA9>", 0, TokenKind::Byte);
  EXPECT_EQ(encode(spec, "éa"), (Ids{7, 8, 1}));
  EXPECT_EQ(encode(spec, "éèa"), (Ids{0, 1})); // è has another byte
  const auto tokenizer = Tokenizer::create(spec).value();
  EXPECT_EQ(tokenizer->decode(7).value() + tokenizer->decode(8).value(), "é");
}

TEST(Unigram, controlTokensAreNoText) {
  TokenizerSpec spec = unigramSpec();
  spec.kinds[6] = TokenKind::Control;
  spec.scores[6] = 100;
  EXPECT_EQ(encode(spec, "abc"), (Ids{1, 5}));
}

TEST(Unigram, refusesBrokenVocabularies) {
  TokenizerSpec spec = unigramSpec();
  spec.scores.pop_back();
  EXPECT_EQ(refusal(spec), "tokenizer: expects a score for each of 7 tokens, but got 6");
  spec = unigramSpec();
  spec.scores[2] = NAN;
  EXPECT_THAT(refusal(spec),
              HasSubstr("finite scores, but token 2 has 1 bytes and a score of nan"));
  spec = unigramSpec();
  spec.tokens[2] = std::string(1025, 'a');
  EXPECT_THAT(refusal(spec),
              HasSubstr("at most 1024 bytes with finite scores, but token 2 has 1025"));
  spec = unigramSpec();
  spec.kinds[3] = TokenKind::Byte;
  EXPECT_THAT(refusal(spec), HasSubstr("expects byte token 3 to be written as <0x00>"));
}

/// 0 [UNK], then un, ##want, ##ed, want, u, 日, `,`.
TokenizerSpec wordPieceSpec() {
  TokenizerSpec spec;
  spec.model = TokenizerModel::WordPiece;
  spec.tokens = {"[UNK]", "un", "##want", "##ed", "want", "u", "日", ",", "##wa"};
  spec.unknownId = 0;
  addBertNormalizer({}, spec);
  addBertSplits(spec);
  return spec;
}

TEST(WordPiece, takesTheLongestTokens) {
  EXPECT_EQ(encode(wordPieceSpec(), "unwanted want, UNwant"), (Ids{1, 2, 3, 4, 7, 1, 2}));
  EXPECT_EQ(encode(wordPieceSpec(), "日日u"), (Ids{6, 6, 5}));
}

TEST(WordPiece, aWordWithoutTokensIsUnknown) {
  EXPECT_EQ(encode(wordPieceSpec(), "unwantedly want"), (Ids{0, 4})); // nothing goes on with ly
  EXPECT_EQ(encode(wordPieceSpec(), "want" + std::string(97, 'x') + " want"), (Ids{0, 4}));
  TokenizerSpec spec = wordPieceSpec();
  spec.unknownId = -1;
  EXPECT_THAT(std::string(Tokenizer::create(spec).value()->encode("xyz").status().message()),
              HasSubstr("expects tokens for every word of the text"));
}

TEST(WordPiece, longWordsAreUnknown) {
  TokenizerSpec spec = wordPieceSpec();
  spec.tokens[8] = "##u";
  EXPECT_EQ(encode(spec, std::string(100, 'u')).size(), 100u);
  EXPECT_EQ(encode(spec, std::string(101, 'u')), Ids{0});
}

TEST(WordPiece, decodesWordsWithSpacesBetween) {
  const auto tokenizer = Tokenizer::create(wordPieceSpec()).value();
  EXPECT_EQ(tokenizer->decode(1).value() + tokenizer->decode(2).value(), " unwant");
}

TEST(BertText, stepsAreOptional) {
  TokenizerSpec spec;
  addBertNormalizer(
      {.cleans = false, .cutsIdeographs = false, .stripsAccents = false, .lowers = false}, spec);
  EXPECT_EQ(spec, TokenizerSpec());
}

} // namespace
} // namespace tenon::runtime
