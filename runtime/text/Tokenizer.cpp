#include "runtime/text/Tokenizer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/text/internal/BpeTokenizer.h"
#include "runtime/text/internal/ByteLevelBpeTokenizer.h"
#include "runtime/text/internal/SentencePieceTokenizer.h"
#include "runtime/text/internal/SpecialTokens.h"
#include "runtime/text/internal/TextRewriter.h"
#include "runtime/text/internal/UnigramTokenizer.h"
#include "runtime/text/internal/WordEdges.h"
#include "runtime/text/internal/WordPieceTokenizer.h"
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

absl::Status checkAddedTokens(const TokenizerSpec& spec) {
  int64_t previous = -1;
  for (const AddedToken& token : spec.added) {
    if (token.id <= previous || token.id >= int64_t(spec.tokens.size()))
      return absl::InvalidArgumentError(absl::StrFormat(
          "tokenizer: expects the ids of added tokens in ascending order below %d, but got %d",
          spec.tokens.size(), token.id));
    previous = token.id;
  }
  return absl::OkStatus();
}

/// What holds for every model; the subclasses check the rest.
absl::Status checkSpec(const TokenizerSpec& spec) {
  if (spec.tokens.empty() || spec.tokens.size() > size_t(std::numeric_limits<int32_t>::max()))
    return absl::InvalidArgumentError(absl::StrFormat(
        "tokenizer: expects from 1 to 2147483647 tokens, but got %d", spec.tokens.size()));
  TENON_RETURN_IF_ERROR(checkKinds(spec));
  TENON_RETURN_IF_ERROR(checkSpecialTexts(spec));
  TENON_RETURN_IF_ERROR(checkAddedTokens(spec));
  TENON_RETURN_IF_ERROR(checkSpecialId(spec, "BOS", spec.bosId, spec.addBos));
  TENON_RETURN_IF_ERROR(checkSpecialId(spec, "EOS", spec.eosId, spec.addEos));
  for (int32_t id : spec.extraEndIds)
    TENON_RETURN_IF_ERROR(checkSpecialId(spec, "end token's", id, true));
  return checkSpecialId(spec, "unknown token's", spec.unknownId, false);
}

absl::StatusOr<std::unique_ptr<Tokenizer>> createModel(TokenizerSpec spec) {
  switch (spec.model) {
  case TokenizerModel::SentencePiece:
    return internal::SentencePieceTokenizer::create(std::move(spec));
  case TokenizerModel::ByteLevelBpe:
    return internal::ByteLevelBpeTokenizer::create(std::move(spec));
  case TokenizerModel::Bpe:
    return internal::BpeTokenizer::create(std::move(spec));
  case TokenizerModel::Unigram:
    return internal::UnigramTokenizer::create(std::move(spec));
  case TokenizerModel::WordPiece:
    return internal::WordPieceTokenizer::create(std::move(spec));
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "tokenizer: expects model 0 (SentencePiece), 1 (byte-level BPE), 2 (BPE), 3 (Unigram) or 4 "
      "(WordPiece), but got %d",
      int(spec.model)));
}

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::create(TokenizerSpec spec) {
  TENON_RETURN_IF_ERROR(checkSpec(spec));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, createModel(std::move(spec)));
  TENON_RETURN_IF_ERROR(tokenizer->prepare());
  return tokenizer;
}

Tokenizer::Tokenizer(TokenizerSpec spec) : description(std::move(spec)) {}

const AddedToken* Tokenizer::flagsOf(int32_t id) const {
  const auto found = std::ranges::lower_bound(description.added, id, {}, &AddedToken::id);
  return found != description.added.end() && found->id == id ? &*found : nullptr;
}

absl::StatusOr<Tokenizer::SpecialSets> Tokenizer::makeSets(bool withControl) const {
  SpecialSets sets{std::make_unique<internal::SpecialTokens>(),
                   std::make_unique<internal::SpecialTokens>()};
  for (size_t id = 0; id < description.tokens.size(); ++id) {
    const TokenKind tokenKind = kind(id);
    if (!(withControl ? isSpecial(tokenKind) : tokenKind == TokenKind::UserDefined))
      continue;
    const std::string& text = description.tokens[id];
    const AddedToken* flags = flagsOf(int32_t(id));
    if (!flags || !flags->normalized) {
      sets.given->add(text, int32_t(id));
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const std::string rewritten, normalizer->rewrite(text, false));
    sets.normalized->add(rewritten, int32_t(id));
  }
  return sets;
}

absl::Status Tokenizer::prepare() {
  const auto compile = [](const std::vector<RewriteStep>& steps)
      -> absl::StatusOr<std::unique_ptr<internal::TextRewriter>> {
    TENON_ASSIGN_OR_RETURN(internal::TextRewriter rewriter, internal::TextRewriter::create(steps));
    return std::make_unique<internal::TextRewriter>(std::move(rewriter));
  };
  TENON_ASSIGN_OR_RETURN(normalizer, compile(description.normalizers));
  TENON_ASSIGN_OR_RETURN(pieceNormalizer, compile(description.pieceNormalizers));
  TENON_ASSIGN_OR_RETURN(userDefined, makeSets(/*withControl=*/false));
  TENON_ASSIGN_OR_RETURN(allSpecial, makeSets(/*withControl=*/true));
  return absl::OkStatus();
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
  const SpecialSets& special = options.parseSpecial ? allSpecial : userDefined;
  const auto encodePiece = [&](std::string_view piece, bool isFirst) -> absl::Status {
    if (pieceNormalizer->isEmpty())
      return encodeText(piece, ids);
    TENON_ASSIGN_OR_RETURN(const std::string rewritten, pieceNormalizer->rewrite(piece, isFirst));
    return rewritten.empty() ? absl::OkStatus() : encodeText(rewritten, ids);
  };
  const auto encodeGiven = [&](std::string_view part, bool isFirst) -> absl::Status {
    std::string rewritten;
    if (!normalizer->isEmpty()) {
      TENON_ASSIGN_OR_RETURN(rewritten, normalizer->rewrite(part, isFirst));
      part = rewritten;
    }
    return encodeParts(part, *special.normalized, ids,
                       [&](std::string_view piece, bool isFirstPiece) {
                         return encodePiece(piece, isFirst && isFirstPiece);
                       });
  };
  TENON_RETURN_IF_ERROR(encodeParts(text, *special.given, ids, encodeGiven));
  if (options.addSpecial && description.addEos)
    ids.push_back(description.eosId);
  return ids;
}

template <class EncodeRest>
absl::Status Tokenizer::encodeParts(std::string_view text, const internal::SpecialTokens& special,
                                    std::vector<int32_t>& ids, EncodeRest encodeRest) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const internal::SpecialTokens::Match match = special.find(text, at);
    if (match.length == 0)
      break;
    size_t begin = match.begin;
    size_t end = match.begin + match.length;
    at = end;
    if (const AddedToken* flags = flagsOf(match.id)) {
      if (flags->wholeWord && (internal::endsWithWord(text.substr(0, begin)) ||
                               internal::beginsWithWord(text.substr(end))))
        continue;
      if (flags->stripsLeft)
        begin = std::max(done, begin - internal::spacesAtEnd(text.substr(0, begin)));
      if (flags->stripsRight)
        end += internal::spacesAtBegin(text.substr(end));
    }
    if (begin > done)
      TENON_RETURN_IF_ERROR(encodeRest(text.substr(done, begin - done), done == 0));
    ids.push_back(match.id);
    at = done = end;
  }
  return done < text.size() ? encodeRest(text.substr(done), done == 0) : absl::OkStatus();
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
