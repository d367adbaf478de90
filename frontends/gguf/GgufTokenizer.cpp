#include "frontends/gguf/GgufTokenizer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "runtime/text/BertText.h"
#include "runtime/text/PreTokenizers.h"
#include "support/Status.h"

namespace tenon::frontends {
namespace {

using runtime::RewriteKind;
using runtime::TokenizerModel;
using runtime::TokenizerSpec;
using runtime::TokenKind;

absl::StatusOr<TokenizerModel> readModel(const GgufFile& file) {
  constexpr std::string_view key = "tokenizer.ggml.model";
  TENON_ASSIGN_OR_RETURN(const std::string_view model, file.requireString(key));
  constexpr std::pair<std::string_view, TokenizerModel> models[] = {
      {"llama", TokenizerModel::SentencePiece},
      {"gpt2", TokenizerModel::ByteLevelBpe},
      {"t5", TokenizerModel::Unigram},
      {"bert", TokenizerModel::WordPiece},
  };
  for (const auto& [name, kind] : models)
    if (model == name)
      return kind;
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: metadata key '%s' expects llama, gpt2, t5 or bert, but got '%s'",
                      file.path(), key, model));
}

absl::StatusOr<std::vector<std::string>> readStrings(const GgufFile& file, std::string_view key) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> views, file.requireStrings(key));
  return std::vector<std::string>(views.begin(), views.end());
}

absl::StatusOr<std::vector<TokenKind>> readKinds(const GgufFile& file) {
  constexpr std::string_view key = "tokenizer.ggml.token_type";
  if (!file.has(key))
    return std::vector<TokenKind>();
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> types, file.requireI64s(key));
  std::vector<TokenKind> kinds;
  kinds.reserve(types.size());
  for (size_t id = 0; id < types.size(); ++id) {
    if (types[id] < int64_t(TokenKind::Normal) || types[id] > int64_t(TokenKind::Byte))
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: metadata key '%s' expects types from 1 to 6, but got %d for token %d", file.path(),
          key, types[id], id));
    kinds.push_back(TokenKind(types[id]));
  }
  return kinds;
}

/// A token id; −1 where the file says so, as 2^32 − 1 or as a signed number.
absl::StatusOr<int32_t> readId(const GgufFile& file, std::string_view key, int32_t otherwise) {
  const GgufValue* value = file.find(key);
  if (!value)
    return otherwise;
  const std::optional<int64_t> id = value->asI64();
  if (id && (*id == -1 || *id == std::numeric_limits<uint32_t>::max()))
    return -1;
  if (!id || *id < 0 || *id > std::numeric_limits<int32_t>::max())
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: metadata key '%s' expects a token id, but got %s (%s)", file.path(),
                        key, value->text(), value->typeText()));
  return int32_t(*id);
}

/// Texts of control tokens that end a turn or a message in the templates of known models. Files often
/// name EOS alone.
constexpr std::string_view endTexts[] = {
    "<|eot_id|>",      "<|eom_id|>",
    "<|im_end|>",      "<|end|>",
    "<end_of_turn>",   "<|endoftext|>",
    "<|end_of_text|>", "<end_of_utterance>",
    "<EOT>",           "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
};

/// What ends a generation beside EOS: end of turn, end of message.
absl::Status readExtraEndIds(const GgufFile& file, TokenizerSpec& spec) {
  for (std::string_view key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    TENON_ASSIGN_OR_RETURN(const int32_t id, readId(file, key, -1));
    if (id >= 0 && !spec.endsGeneration(id))
      spec.extraEndIds.push_back(id);
  }
  for (size_t id = 0; id < std::min(spec.kinds.size(), spec.tokens.size()); ++id)
    if (spec.kinds[id] == TokenKind::Control &&
        std::ranges::count(endTexts, spec.tokens[id]) != 0 && !spec.endsGeneration(int32_t(id)))
      spec.extraEndIds.push_back(int32_t(id));
  return absl::OkStatus();
}

/// Ids of special tokens where a file of `model` is silent (llama.cpp's).
struct DefaultIds {
  int32_t bos = -1;
  int32_t eos = -1;
  int32_t unknown = -1;
};

DefaultIds defaultIds(TokenizerModel model) {
  switch (model) {
  case TokenizerModel::SentencePiece:
    return {.bos = 1, .eos = 2, .unknown = 0};
  case TokenizerModel::Unigram:
    return {.eos = 1, .unknown = 2};
  case TokenizerModel::WordPiece:
    return {.bos = 101, .eos = 102, .unknown = 100};
  case TokenizerModel::ByteLevelBpe:
  case TokenizerModel::Bpe:
    break;
  }
  return {};
}

/// Where the file is silent, `spec.model` and `spec.preTokenizer` decide.
absl::Status readSpecialTokens(const GgufFile& file, TokenizerSpec& spec) {
  const runtime::PreTokenizerEntry* preTokenizer = runtime::findPreTokenizer(spec.preTokenizer);
  const DefaultIds defaults = defaultIds(spec.model);
  // What stands after a text of BERT's is the token that parts sentences, spelt so.
  const bool isWordPiece = spec.model == TokenizerModel::WordPiece;
  const std::string_view endKey =
      isWordPiece ? "tokenizer.ggml.seperator_token_id" : "tokenizer.ggml.eos_token_id";
  const bool startsWithBos = spec.model == TokenizerModel::SentencePiece || isWordPiece ||
                             (preTokenizer && preTokenizer->addBos);
  const bool endsWithEos = isWordPiece || spec.model == TokenizerModel::Unigram;
  TENON_ASSIGN_OR_RETURN(spec.bosId, readId(file, "tokenizer.ggml.bos_token_id", defaults.bos));
  TENON_ASSIGN_OR_RETURN(spec.eosId, readId(file, endKey, defaults.eos));
  TENON_ASSIGN_OR_RETURN(spec.unknownId,
                         readId(file, "tokenizer.ggml.unknown_token_id", defaults.unknown));
  TENON_ASSIGN_OR_RETURN(spec.addBos,
                         file.optionalBool("tokenizer.ggml.add_bos_token", startsWithBos));
  TENON_ASSIGN_OR_RETURN(spec.addEos,
                         file.optionalBool(isWordPiece ? "tokenizer.ggml.add_sep_token"
                                                       : "tokenizer.ggml.add_eos_token",
                                           endsWithEos));
  return readExtraEndIds(file, spec);
}

/// How SentencePiece normalises a text before its unigram model sees it (its normalizer.cc): the map of
/// characters, no spaces but single ones between words, one in front, all written as U+2581.
absl::Status readUnigramNormalizer(const GgufFile& file, TokenizerSpec& spec) {
  constexpr std::string_view mapKey = "tokenizer.ggml.precompiled_charsmap";
  if (file.has(mapKey)) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, file.requireI64s(mapKey));
    std::string bytes;
    for (int64_t value : values)
      bytes += char(value);
    if (!bytes.empty())
      spec.normalizers.push_back({RewriteKind::Charsmap, "", std::move(bytes)});
  }
  TENON_ASSIGN_OR_RETURN(const bool mergesSpaces,
                         file.optionalBool("tokenizer.ggml.remove_extra_whitespaces", false));
  TENON_ASSIGN_OR_RETURN(spec.addSpacePrefix,
                         file.optionalBool("tokenizer.ggml.add_space_prefix", true));
  if (mergesSpaces) {
    spec.pieceNormalizers.push_back({RewriteKind::Replace, R"(\A\ +|\ +\z)", ""});
    spec.pieceNormalizers.push_back({RewriteKind::Replace, R"(\ {2,})", " "});
  }
  if (spec.addSpacePrefix)
    spec.pieceNormalizers.push_back({RewriteKind::Prepend, "", " "});
  spec.pieceNormalizers.push_back({RewriteKind::Replace, R"(\ )", "\u2581"});
  return absl::OkStatus();
}

/// GGUF writes a token that begins a word with U+2581 in front and one that goes on without anything;
/// those in brackets are special.
void readWordPieces(TokenizerSpec& spec) {
  constexpr std::string_view wordMark = "\u2581";
  for (std::string& token : spec.tokens)
    if (token.starts_with(wordMark))
      token.erase(0, wordMark.size());
    else if (!(token.starts_with('[') && token.ends_with(']')))
      token.insert(0, "##");
  runtime::addBertNormalizer({}, spec);
  runtime::addBertSplits(spec);
}

absl::Status readBpe(const GgufFile& file, TokenizerSpec& spec) {
  TENON_ASSIGN_OR_RETURN(spec.merges, readStrings(file, "tokenizer.ggml.merges"));
  TENON_ASSIGN_OR_RETURN(const std::string_view preTokenizer,
                         file.optionalString("tokenizer.ggml.pre", "default"));
  spec.preTokenizer = std::string(preTokenizer);
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<TokenizerSpec> readGgufTokenizer(const GgufFile& file) {
  TokenizerSpec spec;
  TENON_ASSIGN_OR_RETURN(spec.model, readModel(file));
  TENON_ASSIGN_OR_RETURN(spec.tokens, readStrings(file, "tokenizer.ggml.tokens"));
  TENON_ASSIGN_OR_RETURN(spec.kinds, readKinds(file));
  TENON_ASSIGN_OR_RETURN(const std::string_view chatTemplate,
                         file.optionalString("tokenizer.chat_template", ""));
  spec.chatTemplate = std::string(chatTemplate);
  if (spec.model == TokenizerModel::SentencePiece || spec.model == TokenizerModel::Unigram) {
    TENON_ASSIGN_OR_RETURN(spec.scores, file.requireF32s("tokenizer.ggml.scores"));
  }
  if (spec.model == TokenizerModel::SentencePiece) {
    TENON_ASSIGN_OR_RETURN(spec.addSpacePrefix,
                           file.optionalBool("tokenizer.ggml.add_space_prefix", true));
  } else if (spec.model == TokenizerModel::Unigram) {
    TENON_RETURN_IF_ERROR(readUnigramNormalizer(file, spec));
  } else if (spec.model == TokenizerModel::WordPiece) {
    readWordPieces(spec);
  } else {
    TENON_RETURN_IF_ERROR(readBpe(file, spec));
  }
  TENON_RETURN_IF_ERROR(readSpecialTokens(file, spec));
  return spec;
}

} // namespace tenon::frontends
