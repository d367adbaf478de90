#include "runtime/text/Tokenizer.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/CollidingNames.h"
#include "tests/runtime/text/TestVocabularies.h"

namespace tenon::runtime {
namespace {

using testing::HasSubstr;
using Ids = std::vector<int32_t>;

std::unique_ptr<Tokenizer> make(TokenizerSpec spec) {
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::create(std::move(spec));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return *std::move(tokenizer);
}

Ids encode(const Tokenizer& tokenizer, std::string_view text, EncodeOptions options = {false}) {
  absl::StatusOr<Ids> ids = tokenizer.encode(text, options);
  EXPECT_TRUE(ids.ok()) << ids.status();
  return *std::move(ids);
}

void expectRefused(TokenizerSpec spec, const std::string& message) {
  const absl::Status status = Tokenizer::create(std::move(spec)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << message;
  EXPECT_EQ(status.message(), "tokenizer: expects " + message);
}

TEST(SentencePiece, mergesTheHighestScoreFirst) {
  const auto tokenizer = make(makeSentencePieceSpec());
  EXPECT_EQ(encode(*tokenizer, "abc"), (Ids{259, 265})); // bc, then a bc; ▁ stays
  EXPECT_EQ(encode(*tokenizer, "ab"), (Ids{259, 263}));
  EXPECT_EQ(encode(*tokenizer, "a"), (Ids{266}));
}

TEST(SentencePiece, mergesEqualScoresFromTheLeft) {
  const auto tokenizer = make(makeSentencePieceSpec());
  EXPECT_EQ(encode(*tokenizer, "  "), (Ids{269, 259})); // three ▁ with the prefix
}

TEST(SentencePiece, writesUnknownCharactersAsBytes) {
  const auto tokenizer = make(makeSentencePieceSpec());
  EXPECT_EQ(encode(*tokenizer, "aé"), (Ids{266, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(encode(*tokenizer, "\xFF\xE2\x82"), (Ids{259, 3 + 0xFF, 3 + 0xE2, 3 + 0x82}));
}

TEST(SentencePiece, writesTheUnknownTokenWithoutBytes) {
  TokenizerSpec spec = makeSentencePieceSpec();
  spec.kinds[3 + 0xA9] = TokenKind::Unused;
  EXPECT_EQ(encode(*make(spec), "éa"), (Ids{259, 0, 260}));
  spec.unknownId = -1;
  const absl::Status status = make(spec)->encode("é").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "tokenizer: expects a token for 'é', its bytes or the unknown, but got none");
}

TEST(SentencePiece, spacePrefixIsOptional) {
  TokenizerSpec spec = makeSentencePieceSpec();
  spec.addSpacePrefix = false;
  EXPECT_EQ(encode(*make(spec), "a"), (Ids{260}));
}

TEST(SentencePiece, addsBosAndEosWhereAskedTo) {
  TokenizerSpec spec = makeSentencePieceSpec();
  spec.addEos = true;
  const auto tokenizer = make(spec);
  EXPECT_EQ(encode(*tokenizer, "a", {.addSpecial = true}), (Ids{1, 266, 2}));
  EXPECT_EQ(encode(*tokenizer, "", {.addSpecial = true}), (Ids{1, 2}));
  EXPECT_EQ(encode(*tokenizer, "", {.addSpecial = false}), (Ids{}));
}

TEST(SentencePiece, controlTokensInTheTextAreTextUnlessParsed) {
  const auto tokenizer = make(makeSentencePieceSpec());
  EXPECT_EQ(encode(*tokenizer, "</s>", {.addSpecial = false, .parseSpecial = true}), (Ids{2}));
  EXPECT_EQ(encode(*tokenizer, "<s>a<unk>", {.addSpecial = false, .parseSpecial = true}),
            (Ids{1, 266, 0}));
  EXPECT_EQ(encode(*tokenizer, "<s>"), (Ids{259, 3 + '<', 3 + 's', 3 + '>'}));
}

// Even where merging could form their text.
TEST(SentencePiece, controlAndByteTokensAreNeverMerged) {
  TokenizerSpec spec = makeSentencePieceSpec();
  addToken(spec, "s>", -1);
  addToken(spec, "1>", -1);
  addToken(spec, "<0x0", -1);
  addToken(spec, "<0x", -1);
  addToken(spec, "<0", -1);
  const auto tokenizer = make(spec);
  EXPECT_EQ(encode(*tokenizer, "<s>"), (Ids{259, 3 + '<', 270}));
  EXPECT_EQ(encode(*tokenizer, "<0x01>"), (Ids{259, 272, 271}));
}

TEST(SentencePiece, userDefinedTokensAreReadFirst) {
  const auto tokenizer = make(makeSentencePieceSpec());
  EXPECT_EQ(encode(*tokenizer, "a<tool>a"), (Ids{266, 267, 266}));
  EXPECT_EQ(encode(*tokenizer, "<tool>s<tool>"), (Ids{268, 267}));
  EXPECT_EQ(encode(*tokenizer, "<too"), (Ids{259, 3 + '<', 3 + 't', 3 + 'o', 3 + 'o'}));
}

TEST(SentencePiece, decodesEveryKind) {
  const auto tokenizer = make(makeSentencePieceSpec());
  EXPECT_EQ(tokenizer->decode(266).value(), " a");
  EXPECT_EQ(tokenizer->decode(269).value(), "  ");
  EXPECT_EQ(tokenizer->decode(3 + 0xE2).value(), "\xE2");
  EXPECT_EQ(tokenizer->decode(267).value(), "<tool>");
  EXPECT_EQ(tokenizer->decode(0).value(), "");
  EXPECT_EQ(tokenizer->decode(1).value(), "");
}

TEST(SentencePiece, tokensMaySpanWords) {
  TokenizerSpec spec = makeSentencePieceSpec();
  EXPECT_EQ(encode(*make(spec), "a b"), (Ids{266, 259, 261}));
  addToken(spec, "▁a▁", 0);  // 270
  addToken(spec, "▁a▁b", 0); // 271
  EXPECT_EQ(encode(*make(spec), "a b"), (Ids{271}));
}

TEST(SentencePiece, encodesLongTextsInNearlyLinearTime) {
  const auto tokenizer = make(makeSentencePieceSpec());
  const std::string text(size_t(1) << 21, 'a'); // quadratic work would take hours
  EXPECT_EQ(encode(*tokenizer, text).size(), text.size());
}

TEST(ByteLevelBpe, mergesTheLowestRankFirst) {
  const auto tokenizer = make(makeByteLevelBpeSpec());
  EXPECT_EQ(encode(*tokenizer, "low lower"), (Ids{257, 259, 258}));
  EXPECT_EQ(encode(*tokenizer, "ow"), (Ids{260}));
  EXPECT_EQ(encode(*tokenizer, " l"), (Ids{261}));
  EXPECT_EQ(encode(*tokenizer, "lolo"), (Ids{256, 256}));
}

TEST(ByteLevelBpe, encodesEveryByte) {
  const auto tokenizer = make(makeByteLevelBpeSpec());
  EXPECT_EQ(encode(*tokenizer, "é\xFF"), (Ids{0xC3, 0xA9, 0xFF}));
}

TEST(ByteLevelBpe, putsNoBosFirstUnlessAskedTo) {
  TokenizerSpec spec = makeByteLevelBpeSpec();
  EXPECT_EQ(encode(*make(spec), "low", {.addSpecial = true}), (Ids{257}));
  spec.addBos = true;
  EXPECT_EQ(encode(*make(spec), "low", {.addSpecial = true}), (Ids{262, 257}));
}

TEST(ByteLevelBpe, parsesControlTokens) {
  const auto tokenizer = make(makeByteLevelBpeSpec());
  EXPECT_EQ(encode(*tokenizer, "low<|end|>low", {.addSpecial = false, .parseSpecial = true}),
            (Ids{257, 262, 257}));
  EXPECT_EQ(encode(*tokenizer, "<|end|>").size(), 7u);
}

TEST(ByteLevelBpe, decodesBytes) {
  const auto tokenizer = make(makeByteLevelBpeSpec());
  EXPECT_EQ(tokenizer->decode(259).value(), " low");
  EXPECT_EQ(tokenizer->decode(0xC3).value(), "\xC3");
  EXPECT_EQ(tokenizer->decode(262).value(), "");
}

TEST(ByteLevelBpe, leavesOutBytesWithoutTokens) {
  TokenizerSpec spec = makeByteLevelBpeSpec();
  spec.tokens[0xFF] = "<unk>";
  spec.unknownId = 0xFF;
  EXPECT_EQ(encode(*make(spec), "ow\xFF low"), (Ids{260, 259}));
  spec.tokens[0xFF] = "ÿ";
  EXPECT_EQ(encode(*make(spec), "ow\xFF"), (Ids{260, 0xFF}));
  spec.kinds[0xFF] = TokenKind::UserDefined; // the letter, not the byte
  EXPECT_EQ(encode(*make(spec), "ow\xFF"), (Ids{260}));
  EXPECT_EQ(encode(*make(spec), "owÿ"), (Ids{260, 0xFF}));
}

TEST(ByteLevelBpe, takesWholeTokensWhereMergesAreIgnored) {
  TokenizerSpec spec = makeByteLevelBpeSpec();
  for (const char* text : {"Ġhey", "wo", "low!", "hi"})
    spec.tokens.push_back(text); // from 263 on; no merge leads to them
  spec.kinds.assign(spec.tokens.size(), TokenKind::Normal);
  spec.kinds[262] = spec.kinds[266] = TokenKind::Control;
  EXPECT_EQ(encode(*make(spec), " hey"), (Ids{' ', 'h', 'e', 'y'}));
  spec.preTokenizer = "llama-bpe";
  EXPECT_EQ(encode(*make(spec), " hey"), (Ids{263}));
  EXPECT_EQ(encode(*make(spec), "wo"), (Ids{264}));
  EXPECT_EQ(encode(*make(spec), " wo low"), (Ids{' ', 'w', 'o', 259}));
  EXPECT_EQ(encode(*make(spec), "low!"), (Ids{257, '!'})); // not one piece
  EXPECT_EQ(encode(*make(spec), "hi"), (Ids{'h', 'i'}));   // a control token is no text
}

TEST(ByteLevelBpe, encodesLongTextsInNearlyLinearTime) {
  const auto tokenizer = make(makeByteLevelBpeSpec());
  std::string text; // one piece
  while (text.size() < size_t(1) << 21)
    text += "low";
  EXPECT_EQ(encode(*tokenizer, text).size(), text.size() / 3);
}

TEST(Tokenizer, refusesIdsOutsideTheVocabulary) {
  const auto tokenizer = make(makeByteLevelBpeSpec());
  for (int32_t id : {-1, 263})
    EXPECT_EQ(tokenizer->decode(id).status().message(),
              absl::StrFormat("tokenizer: expects a token id from 0 to 262, but got %d", id));
}

TEST(Tokenizer, refusesTextsThatAreTooLong) {
  const auto tokenizer = make(makeByteLevelBpeSpec());
  const std::string_view text("", Tokenizer::maxTextBytes + 1); // refused before it is read
  EXPECT_EQ(tokenizer->encode(text).status().message(),
            "tokenizer: expects a text of at most 536870912 bytes, but got 536870913");
}

TEST(TokenizerSpecCheck, refusesBrokenVocabularies) {
  TokenizerSpec spec;
  expectRefused(spec, "from 1 to 2147483647 tokens, but got 0");

  spec = makeByteLevelBpeSpec();
  spec.model = TokenizerModel(9);
  expectRefused(spec, "model 0 (SentencePiece), 1 (byte-level BPE), 2 (BPE), 3 (Unigram) or 4 "
                      "(WordPiece), but got 9");

  spec = makeByteLevelBpeSpec();
  spec.kinds.pop_back();
  expectRefused(spec, "a kind for each of 263 tokens or none, but got 262");

  spec = makeByteLevelBpeSpec();
  spec.kinds[7] = TokenKind(0);
  expectRefused(spec, "a kind from 1 to 6 for token 7, but got 0");
  spec.kinds[7] = TokenKind(7);
  expectRefused(spec, "a kind from 1 to 6 for token 7, but got 7");
}

/// Looking for one takes time in proportion to its length, at every byte of the text.
TEST(TokenizerSpecCheck, refusesLongSpecialTokens) {
  TokenizerSpec spec = makeByteLevelBpeSpec();
  spec.tokens[262] = std::string(1024, 'a');
  spec.kinds[262] = TokenKind::UserDefined;
  EXPECT_TRUE(Tokenizer::create(spec).ok());
  spec.tokens[262] += 'a';
  for (TokenKind kind : {TokenKind::UserDefined, TokenKind::Control, TokenKind::Unknown}) {
    spec.kinds[262] = kind;
    expectRefused(spec, "control and user-defined tokens of at most 1024 bytes, but token 262 has "
                        "1025");
  }
  spec.kinds[262] = TokenKind::Normal;
  EXPECT_TRUE(Tokenizer::create(spec).ok());
}

TEST(TokenizerSpecCheck, refusesSpecialIdsOutsideTheVocabulary) {
  TokenizerSpec spec = makeByteLevelBpeSpec();
  spec.bosId = 263;
  expectRefused(spec, "the BOS id from -1 to 262, but got 263");
  spec.bosId = -1;
  EXPECT_TRUE(Tokenizer::create(spec).ok());
  spec.addBos = true;
  expectRefused(spec, "the BOS id from 0 to 262, but got -1");

  spec = makeByteLevelBpeSpec();
  spec.eosId = -2;
  expectRefused(spec, "the EOS id from -1 to 262, but got -2");
  spec.eosId = -1;
  spec.addEos = true;
  expectRefused(spec, "the EOS id from 0 to 262, but got -1");

  spec = makeByteLevelBpeSpec();
  spec.extraEndIds = {262, 263};
  expectRefused(spec, "the end token's id from 0 to 262, but got 263");
  spec.extraEndIds = {-1};
  expectRefused(spec, "the end token's id from 0 to 262, but got -1");

  spec = makeByteLevelBpeSpec();
  spec.unknownId = 1000;
  expectRefused(spec, "the unknown token's id from -1 to 262, but got 1000");
}

TEST(TokenizerSpecCheck, refusesBrokenSentencePieceVocabularies) {
  TokenizerSpec spec = makeSentencePieceSpec();
  spec.scores.pop_back();
  expectRefused(spec, "a score for each of 270 tokens, but got 269");

  spec = makeSentencePieceSpec();
  spec.scores[260] = NAN;
  expectRefused(spec, "a number as the score of token 260, but got NaN");

  for (const char* text : {"<0x0G>", "<0xG0>", "<0x000>", "0x00", "<0x00]", "<0y00>"}) {
    spec = makeSentencePieceSpec();
    spec.tokens[5] = text;
    expectRefused(spec, std::string("byte token 5 to be written as <0x00> to <0xFF>, but got '") +
                            text + "'");
  }
}

TEST(TokenizerSpecCheck, refusesBrokenMerges) {
  for (const char* merge : {"", "low", "low ", " low"}) {
    TokenizerSpec spec = makeByteLevelBpeSpec();
    spec.merges[1] = merge;
    expectRefused(spec, std::string("merge 1 to be 'left right', but got '") + merge + "'");
  }
  TokenizerSpec spec = makeByteLevelBpeSpec();
  spec.merges[2] = "xy z";
  expectRefused(spec, "the parts and the result of merge 2 to be tokens, but 'xy' is none");
  spec.merges[2] = "x yz";
  expectRefused(spec, "the parts and the result of merge 2 to be tokens, but 'yz' is none");
  spec.merges[2] = "x y";
  expectRefused(spec, "the parts and the result of merge 2 to be tokens, but 'xy' is none");
}

TEST(TokenizerSpecCheck, refusesUnknownPreTokenizers) {
  TokenizerSpec spec = makeByteLevelBpeSpec();
  spec.preTokenizer = "gpt-17";
  const absl::Status status = Tokenizer::create(spec).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("chameleon, but got 'gpt-17'"));
}

TEST(TokenizerSpecCheck, emptyTokensAreNeverEncoded) {
  TokenizerSpec spec = makeSentencePieceSpec();
  addToken(spec, "", 100);
  addToken(spec, "", 100, TokenKind::UserDefined);
  EXPECT_EQ(encode(*make(spec), "a"), (Ids{266}));
}

/// Tokens that were made to collide cost no more than others: the hash of the tables is not known
/// before the process starts.
TEST(Tokenizer, TokensOfOneHashCostNoMore) {
  constexpr size_t count = 20'000;
  for (const TokenizerSpec& base : {makeSentencePieceSpec(), makeByteLevelBpeSpec()}) {
    auto secondsOf = [&](const std::vector<std::string>& tokens) {
      TokenizerSpec spec = base;
      for (const std::string& token : tokens)
        addToken(spec, token, -20);
      if (base.scores.empty())
        spec.scores.clear();
      return tests::cpuSecondsOf([&] { EXPECT_EQ(encode(*make(spec), "ab").empty(), false); });
    };
    double usual = secondsOf(tests::namesOfManyHashes(count));
    EXPECT_LT(secondsOf(tests::namesOfOneHash(count)), 4 * usual);
  }
}

} // namespace
} // namespace tenon::runtime
