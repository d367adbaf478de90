#include "frontends/hf/HfTokenizer.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/text/Tokenizer.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::frontends {
namespace {

using nlohmann::json;
using runtime::Tokenizer;
using runtime::TokenizerSpec;
using runtime::TokenKind;
using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;

std::string fixture(const std::string& name) {
  return TENON_TEST_DATA "/hf/tokenizers/" + name + ".json";
}

/// The ids that Hugging Face's `tokenizers` gives (tests/goldens/make_tokenizers.py).
class TokenizerJsonGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(TokenizerJsonGolden, GivesTheSameIds) {
  auto file = JsonFile::open(fixture(GetParam()));
  ASSERT_THAT(file, IsOk());
  auto spec = readTokenizerJson(*file);
  ASSERT_THAT(spec, IsOk());
  auto tokenizer = Tokenizer::create(*spec);
  ASSERT_THAT(tokenizer, IsOk());
  json cases = json::parse(tests::readFile(fixture(GetParam() + std::string(".ids"))));
  ASSERT_GE(cases.size(), 60u);
  for (const json& entry : cases) {
    std::string text = entry.at("text").get<std::string>();
    auto ids = (*tokenizer)->encode(text, {.addSpecial = true, .parseSpecial = true});
    ASSERT_THAT(ids, IsOk());
    EXPECT_EQ(*ids, entry.at("ids").get<std::vector<int32_t>>()) << entry.at("text");
  }
}

INSTANTIATE_TEST_SUITE_P(All, TokenizerJsonGolden,
                         ::testing::Values("albert", "bert", "bert_cased", "gpt2", "llama2",
                                           "llama3", "mistral", "phi3", "qwen", "starcoder", "t5"),
                         [](const auto& info) { return std::string(info.param); });

TEST(TokenizerJson, DecodesWhatItEncodes) {
  for (const char* name : {"llama2", "llama3", "mistral", "qwen", "starcoder"}) {
    auto spec = readTokenizerJson(JsonFile::open(fixture(name)).value()).value();
    auto tokenizer = Tokenizer::create(spec).value();
    std::string text = "Once upon a time, 日本 1234 \u00E9 \U0001F600!";
    std::string decoded;
    const std::vector<int32_t> ids = tokenizer->encode(text, {.addSpecial = false}).value();
    for (int32_t id : ids)
      decoded += tokenizer->decode(id).value();
    // SentencePiece's space before the text stays.
    EXPECT_EQ(decoded, decoded.starts_with(' ') ? " " + text : text) << name;
  }
}

/// A tokeniser of four tokens, or with a change.
json tinyTokenizer() {
  return json::parse(R"({
      "version": "1.0", "added_tokens": [{"id": 3, "content": "<s>", "special": true}],
      "normalizer": null,
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
      "post_processor": null, "decoder": {"type": "ByteLevel"},
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}})");
}

std::string errorOf(const std::function<void(json&)>& change) {
  json data = tinyTokenizer();
  change(data);
  auto file = JsonFile::parse("tokenizer.json", data.dump());
  EXPECT_THAT(file, IsOk());
  auto spec = readTokenizerJson(*file);
  EXPECT_EQ(spec.status().code(), invalid);
  std::string message(spec.status().message());
  EXPECT_THAT(message, HasSubstr("tokenizer.json: key '"));
  return message;
}

/// The message where the member at `pointer` has another value.
std::string errorAt(const char* pointer, const json& value) {
  return errorOf([&](json& data) { data[json::json_pointer(pointer)] = value; });
}

TEST(TokenizerJson, ReadsModelAndAddedTokens) {
  auto spec = readTokenizerJson(JsonFile::parse("t", tinyTokenizer().dump()).value());
  ASSERT_THAT(spec, IsOk());
  EXPECT_THAT(spec->tokens, ElementsAre("a", "b", "ab", "<s>"));
  EXPECT_THAT(spec->merges, ElementsAre("a b"));
  EXPECT_EQ(spec->kinds[3], TokenKind::Control);
  EXPECT_FALSE(spec->addBos);
}

TEST(TokenizerJson, RefusesModelsThatItDoesNotKnow) {
  EXPECT_THAT(
      errorAt("/model/type", "WordLevel"),
      HasSubstr("'model.type' expects 'BPE', 'Unigram' or 'WordPiece', but got 'WordLevel'"));
  EXPECT_THAT(errorAt("/model", 3), HasSubstr("'model' expects an object, but got 3"));
  EXPECT_THAT(errorAt("/model/dropout", 0.1), HasSubstr("absent or 0, but got 0.1"));
  EXPECT_THAT(errorAt("/model/end_of_word_suffix", "</w>"), HasSubstr("absent or empty"));
  EXPECT_THAT(errorAt("/model/unk_token", "?"),
              HasSubstr("a token of the vocabulary, but got '?'"));
  EXPECT_THAT(errorAt("/model/fuse_unk", 1), HasSubstr("true or false, but got 1"));
}

TEST(TokenizerJson, RefusesBrokenUnigrams) {
  const json good =
      json::parse(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -1.5]]})");
  auto changed = [&](const char* pointer, const json& value) {
    json model = good;
    model[json::json_pointer(pointer)] = value;
    return errorOf([&](json& data) {
      data.erase("pre_tokenizer");
      data["model"] = model;
    });
  };
  EXPECT_THAT(changed("/vocab", json::array()), HasSubstr("a list of tokens with scores"));
  EXPECT_THAT(changed("/vocab/1", {"a", "b"}),
              HasSubstr("'model.vocab[1]' expects a token and its score"));
  EXPECT_THAT(changed("/unk_id", 2),
              HasSubstr("'model.unk_id' expects a token id below 2, but got 2"));
  EXPECT_THAT(errorAt("/model", good), HasSubstr("expects ByteLevel with a model BPE alone"));
}

TEST(TokenizerJson, RefusesBrokenWordPieces) {
  json model = {{"type", "WordPiece"}, {"vocab", {{"[UNK]", 0}, {"a", 1}}}};
  auto changed = [&](const char* key, const json& value) {
    return errorOf([&](json& data) {
      data.erase("pre_tokenizer");
      data["model"] = model;
      data["model"][key] = value;
    });
  };
  EXPECT_THAT(changed("continuing_subword_prefix", "@@"), HasSubstr("expects '##', but got '@@'"));
  EXPECT_THAT(changed("max_input_chars_per_word", 7), HasSubstr("expects 100, but got 7"));
  EXPECT_THAT(changed("unk_token", "?"), HasSubstr("a token of the vocabulary, but got '?'"));
  EXPECT_THAT(changed("type", "WordPiece"), HasSubstr("'decoder.type' expects WordPiece"));
}

TEST(TokenizerJson, RefusesNormalizersThatMeanSomethingElse) {
  EXPECT_THAT(errorAt("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}}),
              HasSubstr("'normalizer.precompiled_charsmap' expects base64, but got '?'"));
  EXPECT_THAT(errorAt("/normalizer", {{"type", "BertNormalizer"}}),
              HasSubstr("handle_chinese_chars' expects to be false without the pre-tokeniser"));
  json words = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "WhitespaceSplit"}}, {{"type", "Metaspace"}, {"prepend_scheme", "first"}}}}};
  EXPECT_THAT(errorAt("/pre_tokenizer", words),
              HasSubstr("prepend_scheme' expects 'always' after WhitespaceSplit"));
}

TEST(TokenizerJson, CutsWordsBehindWhiteSpaceAsTokenizersDo) {
  json data = tinyTokenizer();
  data["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "WhitespaceSplit"}}, {{"type", "Metaspace"}}}}};
  data["decoder"] = {{"type", "Metaspace"}};
  data["model"]["vocab"]["\u2581"] = 4;
  data["added_tokens"][0]["id"] = 5;
  auto tokenizer =
      Tokenizer::create(readTokenizerJson(JsonFile::parse("t", data.dump()).value()).value());
  ASSERT_THAT(tokenizer, IsOk());
  auto idsOf = [&](const std::string& text) { return (*tokenizer)->encode(text).value(); };
  EXPECT_THAT(idsOf(" ab \n a "), ElementsAre(4, 2, 4, 0));
  EXPECT_THAT(idsOf("a \u2581b"), ElementsAre(4, 0, 4, 1)); // no second symbol
  EXPECT_THAT(idsOf("a\u2581 b"), ElementsAre(4, 0, 4, 4, 1));
  EXPECT_THAT(idsOf(" \n "), ElementsAre());
}

TEST(TokenizerJson, BoundsIds) {
  EXPECT_THAT(errorAt("/model/vocab", json::object()), HasSubstr("an object with tokens"));
  EXPECT_THAT(errorAt("/model/vocab/c", 4000000000u),
              HasSubstr("'model.vocab.c' expects an id from 0 to 65545, but got 4000000000"));
  EXPECT_THAT(errorAt("/model/vocab/c", -1), HasSubstr("but got -1"));
  EXPECT_THAT(errorAt("/model/vocab/c", 1), HasSubstr("an id of its own, but got 1"));
  EXPECT_THAT(errorAt("/added_tokens/0/id", 4000000000u),
              HasSubstr("'added_tokens[0].id' expects"));
  EXPECT_THAT(
      errorAt("/added_tokens/0/id", 1),
      HasSubstr("'added_tokens[0].content' expects the text of token 1, 'b', but got '<s>'"));
  EXPECT_THAT(errorAt("/added_tokens/0", 1), HasSubstr("an object, but got 1"));
  EXPECT_THAT(errorAt("/added_tokens", 1), HasSubstr("a list, but got 1"));
  EXPECT_THAT(errorAt("/added_tokens/1", {{"id", 3}, {"content", "<s>"}}),
              HasSubstr("'added_tokens' expects ids that differ, but got 3"));
}

TEST(TokenizerJson, RefusesMergesThatAreNone) {
  EXPECT_THAT(errorAt("/model/merges", 1), HasSubstr("'model.merges' expects a list, but got 1"));
  EXPECT_THAT(errorAt("/model/merges/0", {"a"}), HasSubstr("a pair of strings"));
  EXPECT_THAT(errorAt("/model/merges/0", {"a b", "b"}), HasSubstr("tokens without spaces"));
}

TEST(TokenizerJson, RefusesStepsThatItDoesNotKnow) {
  EXPECT_THAT(errorAt("/normalizer", {{"type", "Nmt"}}),
              HasSubstr("'normalizer.type' expects NFC, NFD,"));
  EXPECT_THAT(errorAt("/normalizer", 1), HasSubstr("'normalizer' expects an object, but got 1"));
  EXPECT_THAT(errorAt("/pre_tokenizer", {{"type", "UnicodeScripts"}}),
              HasSubstr("'pre_tokenizer.type' expects ByteLevel, Metaspace,"));
  EXPECT_THAT(errorAt("/pre_tokenizer",
                      {{"type", "Sequence"},
                       {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}}),
              HasSubstr("'pre_tokenizer.pretokenizers[1].type' expects nothing after ByteLevel"));
  EXPECT_THAT(errorAt("/pre_tokenizer",
                      {{"type", "Sequence"},
                       {"pretokenizers", {{{"type", "Digits"}}, {{"type", "Metaspace"}}}}}),
              HasSubstr("expects to be the first pre-tokeniser"));
  EXPECT_THAT(errorAt("/pre_tokenizer",
                      {{"type", "Sequence"},
                       {"pretokenizers", {{{"type", "Digits"}}, {{"type", "ByteLevel"}}}}}),
              HasSubstr("add_prefix_space' expects false after other steps"));
  EXPECT_THAT(errorAt("/pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "_"}}),
              HasSubstr("expects U+2581, but got '_'"));
  EXPECT_THAT(errorAt("/pre_tokenizer", {{"type", "Metaspace"}, {"prepend_scheme", "last"}}),
              HasSubstr("'always', 'first' or 'never', but got 'last'"));
  EXPECT_THAT(errorAt("/pre_tokenizer", {{"type", "Punctuation"}, {"behavior", "Lost"}}),
              HasSubstr("a behaviour of splits, but got 'Lost'"));
  EXPECT_THAT(errorAt("/post_processor", {{"type", "Other"}}),
              HasSubstr("'post_processor.type' expects ByteLevel, TemplateProcessing"));
  EXPECT_THAT(errorOf([](json& data) {
                data.erase("pre_tokenizer");
                data["decoder"] = {{"type", "WordPiece"}};
              }),
              HasSubstr("'decoder.type' expects Metaspace or Sequence"));
  json deep = {{"type", "NFC"}};
  for (int i = 0; i < 20; ++i)
    deep = {{"type", "Sequence"}, {"normalizers", {deep}}};
  EXPECT_THAT(errorAt("/normalizer", deep), HasSubstr("a list, at most 8 within one another"));
}

TEST(TokenizerJson, RefusesPatternsThatMeanSomethingElse) {
  auto splitBy = [](const json& pattern) {
    return errorAt("/pre_tokenizer",
                   {{"type", "Split"}, {"behavior", "Isolated"}, {"pattern", pattern}});
  };
  EXPECT_THAT(splitBy({{"Regex", "\\h+"}}), HasSubstr("a pattern without '\\h'"));
  EXPECT_THAT(splitBy({{"Regex", "[a-z&&[^b]]"}}), HasSubstr("a pattern without '&&'"));
  EXPECT_THAT(splitBy({{"Regex", ""}}), HasSubstr("that is not empty"));
  EXPECT_THAT(splitBy("a"), HasSubstr("an object with a Regex or a String, but got 'a'"));
}

TEST(TokenizerJson, ReadsTemplates) {
  json data = tinyTokenizer();
  json begin = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  json known = {{"<s>", {{"id", "<s>"}, {"ids", {3}}, {"tokens", {"<s>"}}}}};
  json post = {
      {"type", "TemplateProcessing"}, {"single", {begin, text, begin}}, {"special_tokens", known}};
  data["post_processor"] = post;
  auto spec = readTokenizerJson(JsonFile::parse("t", data.dump()).value());
  ASSERT_THAT(spec, IsOk());
  EXPECT_TRUE(spec->addBos && spec->addEos);
  EXPECT_EQ(spec->bosId, 3);
  EXPECT_EQ(spec->eosId, 3);
  post["single"] = {begin, begin, text};
  EXPECT_THAT(errorAt("/post_processor", post),
              HasSubstr("'post_processor.single[1]' expects one special token before the text"));
  post["single"] = {begin, text};
  post["special_tokens"]["<s>"]["ids"] = {9};
  EXPECT_THAT(errorAt("/post_processor", post), HasSubstr("a token id below 4, but got 9"));
  EXPECT_THAT(errorAt("/post_processor", {{"type", "BertProcessing"}, {"cls", {"<s>", 7}}}),
              HasSubstr("'post_processor.cls[1]' expects a token id below 4, but got 7"));
}

class HfTokenizerFolder : public ::testing::Test {
protected:
  absl::StatusOr<TokenizerSpec> read(const json& config) {
    folder.write("tokenizer.json", tinyTokenizer().dump());
    return readHfTokenizer(folder.path(""), JsonFile::parse("config.json", config.dump()).value());
  }
  tests::TempFolder folder;
};

TEST_F(HfTokenizerFolder, KnowsWhatEndsAGeneration) {
  folder.write("generation_config.json", R"({"eos_token_id": [2, 1], "bos_token_id": 3})");
  folder.write("tokenizer_config.json", R"({"eos_token": {"content": "<s>"}, "bos_token": "a"})");
  auto spec = read({{"eos_token_id", 1}, {"vocab_size", 7}});
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->eosId, 2);
  EXPECT_THAT(spec->extraEndIds, ElementsAre(1, 3));
  EXPECT_EQ(spec->bosId, 3);
  EXPECT_EQ(spec->tokens.size(), 7u);
  EXPECT_EQ(spec->kinds[6], TokenKind::Unused);
  EXPECT_THAT(Tokenizer::create(*spec), IsOk());
  EXPECT_THAT(read({{"eos_token_id", 7}, {"vocab_size", 7}}),
              FailsWith(invalid, HasSubstr("config.json: key 'eos_token_id' expects token ids "
                                           "below 7, but got 7")));
}

TEST_F(HfTokenizerFolder, ReadsTheChatTemplate) {
  const json config = json::object();
  EXPECT_EQ(read(config).value().chatTemplate, "");
  folder.write("tokenizer_config.json", R"({"chat_template": "{{ messages }}"})");
  EXPECT_EQ(read(config).value().chatTemplate, "{{ messages }}");
  folder.write("tokenizer_config.json",
               R"({"chat_template": [{"name": "tool_use", "template": "b"},
                                     {"name": "default", "template": "a"}]})");
  EXPECT_EQ(read(config).value().chatTemplate, "a");
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "rag", "template": "b"}]})");
  EXPECT_THAT(read(config), FailsWith(invalid, HasSubstr("'chat_template' expects a template, or a "
                                                         "list with one by the name 'default'")));
  folder.write("chat_template.jinja", "c");
  EXPECT_EQ(read(config).value().chatTemplate, "c");
  folder.write("chat_template.jinja", std::string((1 << 20) + 1, 'c'));
  EXPECT_THAT(read(config), FailsWith(invalid, HasSubstr("chat_template.jinja: expects a chat "
                                                         "template of at most 1048576 bytes")));
}

TEST_F(HfTokenizerFolder, NeedsATokenizerJson) {
  auto config = JsonFile::parse("config.json", "{}").value();
  EXPECT_THAT(
      readHfTokenizer(folder.path("none"), config),
      FailsWith(absl::StatusCode::kNotFound, HasSubstr("none/tokenizer.json: cannot open")));
}

TEST(JsonFile, IsOfBoundedDepth) {
  auto nested = [](int levels) {
    return "{\"a\": " + std::string(static_cast<size_t>(levels), '[') +
           std::string(static_cast<size_t>(levels), ']') + "}";
  };
  EXPECT_TRUE(JsonFile::parse("t", nested(60)).ok());
  EXPECT_THAT(std::string(JsonFile::parse("t", nested(2'000'000)).status().message()),
              testing::HasSubstr("t: expects JSON of at most 64 levels, but got more"));
}

} // namespace
} // namespace tenon::frontends
