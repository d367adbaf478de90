#include "runtime/text/Tokenizer.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/text/internal/ByteLevelBpeTokenizer.h"
#include "runtime/text/internal/SentencePieceTokenizer.h"
#include "runtime/text/internal/SpecialTokens.h"
#include "support/Status.h"

namespace tenon::runtime {
namespace {

absl::Status checkKinds(const TokenizerSpec& spec) {
  if (!spec.kinds.empty() && spec.kinds.size() != spec.tokens.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("tokenizer: expects a kind for each of %d tokens or none, but got %d",
                        spec.tokens.size(), spec.kinds.size()));
  for (size_t id = 0; id < spec.kinds.size(); ++id)
    if (spec.kinds[id] < TokenKind::Normal || spec.kinds[id] > TokenKind::Byte)
      return absl::InvalidArgumentError(
          absl::StrFormat("tokenizer: expects a kind from 1 to 6 for token %d, but got %d", id,
                          int(spec.kinds[id])));
  return absl::OkStatus();
}

absl::Status checkSpecialId(const TokenizerSpec& spec, std::string_view name, int32_t id,
                            bool needed) {
  const int64_t lowest = needed ? 0 : -1;
  if (id < lowest || id >= int64_t(spec.tokens.size()))
    return absl::InvalidArgumentError(
        absl::StrFormat("tokenizer: expects the %s id from %d to %d, but got %d", name, lowest,
                        int64_t(spec.tokens.size()) - 1, id));
  return absl::OkStatus();
}

/// Looking for tokens in a text takes time in proportion to the longest of them.
constexpr size_t longestSpecialToken = 1024;

bool isSpecial(TokenKind kind) {
  return kind == TokenKind::UserDefined || kind == TokenKind::Control || kind == TokenKind::Unknown;
}

absl::Status checkSpecialTexts(const TokenizerSpec& spec) {
  for (size_t id = 0; id < spec.kinds.size(); ++id)
    if (isSpecial(spec.kinds[id]) && spec.tokens[id].size() > longestSpecialToken)
      return absl::InvalidArgumentError(
          absl::StrFormat("tokenizer: expects control and user-defined tokens of at most %d bytes, "
                          "but token %d has "
                          "%d",
                          longestSpecialToken, id, spec.tokens[id].size()));
  return absl::OkStatus();
}

/// What holds for every model; the subclasses check the rest.
absl::Status checkSpec(const TokenizerSpec& spec) {
  if (spec.tokens.empty() || spec.tokens.size() > size_t(std::numeric_limits<int32_t>::max()))
    return absl::InvalidArgumentError(absl::StrFormat(
        "tokenizer: expects from 1 to 2147483647 tokens, but got %d", spec.tokens.size()));
  TENON_RETURN_IF_ERROR(checkKinds(spec));
  TENON_RETURN_IF_ERROR(checkSpecialTexts(spec));
  TENON_RETURN_IF_ERROR(checkSpecialId(spec, "BOS", spec.bosId, spec.addBos));
  TENON_RETURN_IF_ERROR(checkSpecialId(spec, "EOS", spec.eosId, spec.addEos));
  for (int32_t id : spec.extraEndIds)
    TENON_RETURN_IF_ERROR(checkSpecialId(spec, "end token's", id, true));
  return checkSpecialId(spec, "unknown token's", spec.unknownId, false);
}

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::create(TokenizerSpec spec) {
  TENON_RETURN_IF_ERROR(checkSpec(spec));
  switch (spec.model) {
  case TokenizerModel::SentencePiece:
    return internal::SentencePieceTokenizer::create(std::move(spec));
  case TokenizerModel::ByteLevelBpe:
    return internal::ByteLevelBpeTokenizer::create(std::move(spec));
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "tokenizer: expects model 0 (SentencePiece) or 1 (byte-level BPE), but got %d",
      int(spec.model)));
}

Tokenizer::Tokenizer(TokenizerSpec spec)
    : description(std::move(spec)), userDefined(std::make_unique<internal::SpecialTokens>()),
      allSpecial(std::make_unique<internal::SpecialTokens>()) {
  for (size_t id = 0; id < description.tokens.size(); ++id) {
    const TokenKind tokenKind = kind(id);
    if (tokenKind == TokenKind::UserDefined)
      userDefined->add(description.tokens[id], int32_t(id));
    if (isSpecial(tokenKind))
      allSpecial->add(description.tokens[id], int32_t(id));
  }
}

Tokenizer::~Tokenizer() = default;

TokenKind Tokenizer::kind(size_t id) const {
  return description.kinds.empty() ? TokenKind::Normal : description.kinds[id];
}

absl::StatusOr<std::vector<int32_t>> Tokenizer::encode(std::string_view text,
                                                       const EncodeOptions& options) const {
  if (text.size() > maxTextBytes)
    return absl::InvalidArgumentError(absl::StrFormat(
        "tokenizer: expects a text of at most %d bytes, but got %d", maxTextBytes, text.size()));
  std::vector<int32_t> ids;
  if (options.addSpecial && description.addBos)
    ids.push_back(description.bosId);
  TENON_RETURN_IF_ERROR(encodeParts(text, options.parseSpecial ? *allSpecial : *userDefined, ids));
  if (options.addSpecial && description.addEos)
    ids.push_back(description.eosId);
  return ids;
}

absl::Status Tokenizer::encodeParts(std::string_view text, const internal::SpecialTokens& special,
                                    std::vector<int32_t>& ids) const {
  for (size_t at = 0; at < text.size();) {
    const internal::SpecialTokens::Match match = special.find(text, at);
    if (match.begin > at)
      TENON_RETURN_IF_ERROR(encodeText(text.substr(at, match.begin - at), ids));
    if (match.length > 0)
      ids.push_back(match.id);
    at = match.begin + match.length;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Tokenizer::decode(int32_t id) const {
  if (id < 0 || size_t(id) >= description.tokens.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("tokenizer: expects a token id from 0 to %d, but got %d",
                        int64_t(description.tokens.size()) - 1, id));
  switch (kind(size_t(id))) {
  case TokenKind::Normal:
  case TokenKind::Byte:
    return decodeToken(size_t(id));
  case TokenKind::UserDefined:
    return description.tokens[size_t(id)];
  case TokenKind::Unknown:
  case TokenKind::Control:
  case TokenKind::Unused:
    break;
  }
  return std::string();
}

} // namespace tenon::runtime
