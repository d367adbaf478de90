#include "frontends/gguf/GgufTokenizer.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/gguf/GgufWriter.h"
#include "runtime/text/Tokenizer.h"
#include "tests/common/TempFolder.h"

namespace tenon::frontends {
namespace {

using runtime::TokenizerModel;
using runtime::TokenizerSpec;
using runtime::TokenKind;
using testing::ElementsAre;
using Strings = std::vector<std::string>;

/// Reads the tokeniser of a file with the metadata that `fill` adds; errors without the path.
absl::StatusOr<TokenizerSpec> read(const std::function<void(GgufWriter&)>& fill) {
  tests::TempFolder folder;
  const std::string path = folder.path("model.gguf");
  std::unique_ptr<GgufWriter> writer = GgufWriter::create(path).value();
  fill(*writer);
  EXPECT_TRUE(writer->finish().ok());
  absl::StatusOr<TokenizerSpec> spec = readGgufTokenizer(*GgufFile::open(path).value());
  if (spec.ok())
    return spec;
  std::string message(spec.status().message());
  EXPECT_THAT(message, testing::StartsWith(path + ": "));
  return absl::Status(spec.status().code(), message.substr(path.size() + 2));
}

void addLlama(GgufWriter& writer) {
  writer.addString("tokenizer.ggml.model", "llama");
  writer.addStrings("tokenizer.ggml.tokens", Strings{"<unk>", "<s>", "</s>", "a"});
  writer.addF32s("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, -1});
}

void addGpt2(GgufWriter& writer) {
  writer.addString("tokenizer.ggml.model", "gpt2");
  writer.addStrings("tokenizer.ggml.tokens", Strings{"a", "b", "ab"});
  writer.addStrings("tokenizer.ggml.merges", Strings{"a b"});
}

TEST(GgufTokenizer, hasLlamaCppsDefaultsForSentencePiece) {
  const TokenizerSpec spec = read(addLlama).value();
  EXPECT_EQ(spec.model, TokenizerModel::SentencePiece);
  EXPECT_THAT(spec.tokens, ElementsAre("<unk>", "<s>", "</s>", "a"));
  EXPECT_THAT(spec.scores, ElementsAre(0, 0, 0, -1));
  EXPECT_TRUE(spec.kinds.empty());
  EXPECT_EQ(spec.bosId, 1);
  EXPECT_EQ(spec.eosId, 2);
  EXPECT_EQ(spec.unknownId, 0);
  EXPECT_TRUE(spec.addBos);
  EXPECT_FALSE(spec.addEos);
  EXPECT_TRUE(spec.addSpacePrefix);
}

TEST(GgufTokenizer, hasLlamaCppsDefaultsForByteLevelBpe) {
  const TokenizerSpec spec = read(addGpt2).value();
  EXPECT_EQ(spec.model, TokenizerModel::ByteLevelBpe);
  EXPECT_EQ(spec.preTokenizer, "default");
  EXPECT_THAT(spec.merges, ElementsAre("a b"));
  EXPECT_EQ(spec.bosId, -1);
  EXPECT_EQ(spec.eosId, -1);
  EXPECT_EQ(spec.unknownId, -1);
  EXPECT_FALSE(spec.addBos);
}

TEST(GgufTokenizer, readsWhatTheFileSays) {
  const TokenizerSpec llama =
      read([](GgufWriter& writer) {
        addLlama(writer);
        writer.addI32s("tokenizer.ggml.token_type", std::vector<int32_t>{2, 3, 4, 6});
        writer.addU32("tokenizer.ggml.bos_token_id", 3);
        writer.addU32("tokenizer.ggml.eos_token_id", 0);
        writer.addU32("tokenizer.ggml.unknown_token_id", 0xFFFFFFFF);
        writer.addBool("tokenizer.ggml.add_bos_token", false);
        writer.addBool("tokenizer.ggml.add_eos_token", true);
        writer.addBool("tokenizer.ggml.add_space_prefix", false);
      }).value();
  EXPECT_THAT(llama.kinds, ElementsAre(TokenKind::Unknown, TokenKind::Control,
                                       TokenKind::UserDefined, TokenKind::Byte));
  EXPECT_EQ(llama.bosId, 3);
  EXPECT_EQ(llama.eosId, 0);
  EXPECT_EQ(llama.unknownId, -1);
  EXPECT_FALSE(llama.addBos);
  EXPECT_TRUE(llama.addEos);
  EXPECT_FALSE(llama.addSpacePrefix);

  const TokenizerSpec gpt2 = read([](GgufWriter& writer) {
                               addGpt2(writer);
                               writer.addString("tokenizer.ggml.pre", "gpt-2");
                             }).value();
  EXPECT_EQ(gpt2.preTokenizer, "gpt-2");
}

TEST(GgufTokenizer, putsBosFirstWhereThePreTokenizerDoes) {
  const auto readLlama3 = [](const std::function<void(GgufWriter&)>& fill) {
    return read([&](GgufWriter& writer) {
             addGpt2(writer);
             writer.addString("tokenizer.ggml.pre", "llama-bpe");
             fill(writer);
           })
        .value();
  };
  EXPECT_TRUE(readLlama3([](GgufWriter&) {}).addBos);
  EXPECT_FALSE(readLlama3([](GgufWriter& writer) {
                 writer.addBool("tokenizer.ggml.add_bos_token", false);
               }).addBos);
}

TEST(GgufTokenizer, readsFurtherEndTokens) {
  const auto readEnds = [](uint32_t eos, uint32_t endOfTurn, uint32_t endOfMessage) {
    return read([&](GgufWriter& writer) {
             addLlama(writer);
             writer.addU32("tokenizer.ggml.eos_token_id", eos);
             writer.addU32("tokenizer.ggml.eot_token_id", endOfTurn);
             writer.addU32("tokenizer.ggml.eom_token_id", endOfMessage);
           })
        .value()
        .extraEndIds;
  };
  EXPECT_THAT(readEnds(2, 3, 1), ElementsAre(3, 1));
  EXPECT_THAT(readEnds(2, 2, 3), ElementsAre(3)); // EOS again
  EXPECT_THAT(readEnds(2, 3, 3), ElementsAre(3));
  EXPECT_THAT(readEnds(2, 0xFFFFFFFF, 0xFFFFFFFF), ElementsAre());
  EXPECT_TRUE(read(addLlama).value().extraEndIds.empty());
}

TEST(GgufTokenizer, knowsEndsOfTurnsByTheirTexts) {
  const TokenizerSpec spec =
      read([](GgufWriter& writer) {
        writer.addString("tokenizer.ggml.model", "gpt2");
        writer.addStrings(
            "tokenizer.ggml.tokens",
            Strings{"<|im_end|>", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<end_of_turn>"});
        writer.addStrings("tokenizer.ggml.merges", Strings{"a b"});
        writer.addI32s("tokenizer.ggml.token_type", std::vector<int32_t>{1, 3, 3, 3, 3});
        writer.addU32("tokenizer.ggml.eos_token_id", 3);
      }).value();
  EXPECT_THAT(spec.extraEndIds, ElementsAre(2, 4)); // token 0 is text, token 3 is EOS
}

TEST(GgufTokenizer, readsUnigrams) {
  const auto readT5 = [](const std::function<void(GgufWriter&)>& fill) {
    return read([&](GgufWriter& writer) {
             writer.addString("tokenizer.ggml.model", "t5");
             writer.addStrings("tokenizer.ggml.tokens",
                               Strings{"<pad>", "</s>", "<unk>", "\u2581a", "b", "\u2581"});
             writer.addF32s("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, -2, -3, -4});
             writer.addI32s("tokenizer.ggml.token_type", std::vector<int32_t>{3, 3, 2, 1, 1, 1});
             fill(writer);
           })
        .value();
  };
  const auto idsOf = [](const TokenizerSpec& spec, std::string_view text) {
    return runtime::Tokenizer::create(spec).value()->encode(text).value();
  };
  const TokenizerSpec plain = readT5([](GgufWriter&) {});
  EXPECT_EQ(plain.model, TokenizerModel::Unigram);
  EXPECT_THAT(idsOf(plain, "ab  a"), ElementsAre(3, 4, 5, 3, 1)); // EOS stands after
  const TokenizerSpec merging = readT5(
      [](GgufWriter& writer) { writer.addBool("tokenizer.ggml.remove_extra_whitespaces", true); });
  EXPECT_THAT(idsOf(merging, " ab  a "), ElementsAre(3, 4, 3, 1));
  const TokenizerSpec mapped = readT5([](GgufWriter& writer) {
    writer.addBool("tokenizer.ggml.add_space_prefix", false);
    // One unit, which leads nowhere, and a text.
    writer.addI32s("tokenizer.ggml.precompiled_charsmap",
                   std::vector<int32_t>{4, 0, 0, 0, 0, 0, 0, 0, 120, 0});
  });
  EXPECT_THAT(idsOf(mapped, "b a"), ElementsAre(4, 3, 1));
  ASSERT_FALSE(mapped.normalizers.empty());
  EXPECT_EQ(mapped.normalizers[0].content, std::string("\4\0\0\0\0\0\0\0x\0", 10));
}

TEST(GgufTokenizer, readsWordPieces) {
  const TokenizerSpec spec =
      read([](GgufWriter& writer) {
        writer.addString("tokenizer.ggml.model", "bert");
        writer.addStrings("tokenizer.ggml.tokens",
                          Strings{"[UNK]", "[CLS]", "[SEP]", "\u2581un", "want", "\u2581."});
        writer.addU32("tokenizer.ggml.bos_token_id", 1);
        writer.addU32("tokenizer.ggml.seperator_token_id", 2);
        writer.addU32("tokenizer.ggml.unknown_token_id", 0);
      }).value();
  EXPECT_THAT(spec.tokens, ElementsAre("[UNK]", "[CLS]", "[SEP]", "un", "##want", "."));
  EXPECT_THAT(runtime::Tokenizer::create(spec).value()->encode("\u00DAnwant. x").value(),
              ElementsAre(1, 3, 4, 5, 0, 2));
}

TEST(GgufTokenizer, refusesWhatIsMissing) {
  const auto missing = [](const std::string& key, const std::function<void(GgufWriter&)>& fill) {
    EXPECT_EQ(read(fill).status().code(), absl::StatusCode::kNotFound) << key;
    EXPECT_THAT(std::string(read(fill).status().message()), testing::HasSubstr(key));
  };
  missing("tokenizer.ggml.model", [](GgufWriter&) {});
  missing("tokenizer.ggml.tokens",
          [](GgufWriter& writer) { writer.addString("tokenizer.ggml.model", "llama"); });
  missing("tokenizer.ggml.scores", [](GgufWriter& writer) {
    writer.addString("tokenizer.ggml.model", "llama");
    writer.addStrings("tokenizer.ggml.tokens", Strings{"a"});
  });
  missing("tokenizer.ggml.merges", [](GgufWriter& writer) {
    writer.addString("tokenizer.ggml.model", "gpt2");
    writer.addStrings("tokenizer.ggml.tokens", Strings{"a"});
  });
}

TEST(GgufTokenizer, refusesModelsThatItDoesNotKnow) {
  EXPECT_EQ(
      read([](GgufWriter& writer) { writer.addString("tokenizer.ggml.model", "rwkv"); }).status(),
      absl::InvalidArgumentError("metadata key 'tokenizer.ggml.model' expects llama, gpt2, "
                                 "t5 or bert, but got 'rwkv'"));
}

TEST(GgufTokenizer, refusesTypesThatItDoesNotKnow) {
  for (int32_t type : {0, 7, 257, -1})
    EXPECT_EQ(read([&](GgufWriter& writer) {
                addLlama(writer);
                writer.addI32s("tokenizer.ggml.token_type", std::vector<int32_t>{1, 1, type, 1});
              }).status(),
              absl::InvalidArgumentError(
                  "metadata key 'tokenizer.ggml.token_type' expects types from 1 to 6, but got " +
                  std::to_string(type) + " for token 2"));
}

TEST(GgufTokenizer, refusesIdsThatAreNone) {
  const auto refusal = [](const std::function<void(GgufWriter&)>& addId) {
    return read([&](GgufWriter& writer) {
             addLlama(writer);
             addId(writer);
           })
        .status();
  };
  EXPECT_EQ(
      refusal([](GgufWriter& writer) { writer.addU32("tokenizer.ggml.eos_token_id", 0x80000000); }),
      absl::InvalidArgumentError("metadata key 'tokenizer.ggml.eos_token_id' expects a token "
                                 "id, but got 2147483648 (u32)"));
  EXPECT_EQ(refusal([](GgufWriter& writer) {
              writer.addString("tokenizer.ggml.bos_token_id", "one");
            }).code(),
            absl::StatusCode::kInvalidArgument);
}

} // namespace
} // namespace tenon::frontends
