#include "frontends/gguf/GgufTokenizer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "runtime/text/PreTokenizers.h"
#include "support/Status.h"

namespace tenon::frontends {
namespace {

using runtime::TokenizerModel;
using runtime::TokenizerSpec;
using runtime::TokenKind;

absl::StatusOr<TokenizerModel> readModel(const GgufFile& file) {
  constexpr std::string_view key = "tokenizer.ggml.model";
  TENON_ASSIGN_OR_RETURN(const std::string_view model, file.requireString(key));
  if (model == "llama")
    return TokenizerModel::SentencePiece;
  if (model == "gpt2")
    return TokenizerModel::ByteLevelBpe;
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: metadata key '%s' expects llama or gpt2, but got '%s'", file.path(), key, model));
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

/// Where the file is silent, `spec.model` and `spec.preTokenizer` decide.
absl::Status readSpecialTokens(const GgufFile& file, TokenizerSpec& spec) {
  const bool isSentencePiece = spec.model == TokenizerModel::SentencePiece;
  const runtime::PreTokenizerEntry* preTokenizer = runtime::findPreTokenizer(spec.preTokenizer);
  TENON_ASSIGN_OR_RETURN(spec.bosId,
                         readId(file, "tokenizer.ggml.bos_token_id", isSentencePiece ? 1 : -1));
  TENON_ASSIGN_OR_RETURN(spec.eosId,
                         readId(file, "tokenizer.ggml.eos_token_id", isSentencePiece ? 2 : -1));
  TENON_ASSIGN_OR_RETURN(spec.unknownId,
                         readId(file, "tokenizer.ggml.unknown_token_id", isSentencePiece ? 0 : -1));
  TENON_ASSIGN_OR_RETURN(
      spec.addBos, file.optionalBool("tokenizer.ggml.add_bos_token",
                                     isSentencePiece || (preTokenizer && preTokenizer->addBos)));
  TENON_ASSIGN_OR_RETURN(spec.addEos, file.optionalBool("tokenizer.ggml.add_eos_token", false));
  return readExtraEndIds(file, spec);
}

} // namespace

absl::StatusOr<TokenizerSpec> readGgufTokenizer(const GgufFile& file) {
  TokenizerSpec spec;
  TENON_ASSIGN_OR_RETURN(spec.model, readModel(file));
  TENON_ASSIGN_OR_RETURN(spec.tokens, readStrings(file, "tokenizer.ggml.tokens"));
  TENON_ASSIGN_OR_RETURN(spec.kinds, readKinds(file));
  if (spec.model == TokenizerModel::SentencePiece) {
    TENON_ASSIGN_OR_RETURN(spec.scores, file.requireF32s("tokenizer.ggml.scores"));
    TENON_ASSIGN_OR_RETURN(spec.addSpacePrefix,
                           file.optionalBool("tokenizer.ggml.add_space_prefix", true));
  } else {
    TENON_ASSIGN_OR_RETURN(spec.merges, readStrings(file, "tokenizer.ggml.merges"));
    TENON_ASSIGN_OR_RETURN(const std::string_view preTokenizer,
                           file.optionalString("tokenizer.ggml.pre", "default"));
    spec.preTokenizer = std::string(preTokenizer);
  }
  TENON_RETURN_IF_ERROR(readSpecialTokens(file, spec));
  return spec;
}

} // namespace tenon::frontends
