#include "runtime/text/internal/SentencePieceTokenizer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/text/internal/SpaceSymbol.h"
#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime::internal {
namespace {

/// The bytes of the first word of `text`: any spaces, then all up to the next space.
size_t firstWordLength(std::string_view text) {
  size_t at = 0;
  while (text.substr(at, spaceSymbol.size()) == spaceSymbol)
    at += spaceSymbol.size();
  return std::min(text.find(spaceSymbol, at), text.size());
}

std::string escapeSpaces(std::string_view text, bool addPrefix) {
  std::string escaped;
  const size_t spaces = size_t(std::count(text.begin(), text.end(), ' ')) + addPrefix;
  escaped.reserve(text.size() + spaces * spaceSymbol.size());
  if (addPrefix)
    escaped += spaceSymbol;
  for (char c : text) {
    if (c == ' ')
      escaped += spaceSymbol;
    else
      escaped += c;
  }
  return escaped;
}

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> SentencePieceTokenizer::create(TokenizerSpec spec) {
  if (spec.scores.size() != spec.tokens.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("tokenizer: expects a score for each of %d tokens, but got %d",
                        spec.tokens.size(), spec.scores.size()));
  for (size_t id = 0; id < spec.scores.size(); ++id)
    if (std::isnan(spec.scores[id]))
      return absl::InvalidArgumentError(
          absl::StrFormat("tokenizer: expects a number as the score of token %d, but got NaN", id));
  std::unique_ptr<SentencePieceTokenizer> tokenizer(new SentencePieceTokenizer(std::move(spec)));
  TENON_RETURN_IF_ERROR(tokenizer->indexTokens());
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

absl::Status SentencePieceTokenizer::indexTokens() {
  idByByte.fill(-1);
  const std::vector<std::string>& tokens = spec().tokens;
  idByText.reserve(tokens.size());
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (kind(id) == TokenKind::Byte) {
      const std::optional<uint8_t> byte = parseByteToken(tokens[id]);
      if (!byte)
        return absl::InvalidArgumentError(absl::StrFormat(
            "tokenizer: expects byte token %d to be written as <0x00> to <0xFF>, but got '%s'", id,
            tokens[id]));
      idByByte[*byte] = int32_t(id);
    } else if (kind(id) == TokenKind::Normal || kind(id) == TokenKind::UserDefined) {
      idByText[tokens[id]] = int32_t(id);
      longestText = std::max(longestText, tokens[id].size());
      tokensSpanWords |= firstWordLength(tokens[id]) < tokens[id].size();
    }
  }
  return absl::OkStatus();
}

int32_t SentencePieceTokenizer::find(std::string_view text) const {
  if (text.size() > longestText)
    return -1;
  const auto found = idByText.find(text);
  return found == idByText.end() ? -1 : found->second;
}

absl::Status SentencePieceTokenizer::encodeText(std::string_view text,
                                                std::vector<int32_t>& ids) const {
  const std::string escaped = escapeSpaces(text, spec().addSpacePrefix);
  std::vector<Symbol> symbols;
  std::vector<Candidate<float>> queue;
  for (std::string_view rest = escaped; !rest.empty();) {
    const size_t length = tokensSpanWords ? rest.size() : firstWordLength(rest);
    TENON_RETURN_IF_ERROR(encodeWord(rest.substr(0, length), symbols, queue, ids));
    rest.remove_prefix(length);
  }
  return absl::OkStatus();
}

absl::Status SentencePieceTokenizer::encodeWord(std::string_view word, std::vector<Symbol>& symbols,
                                                std::vector<Candidate<float>>& queue,
                                                std::vector<int32_t>& ids) const {
  symbols.clear();
  for (size_t at = 0; at < word.size();) {
    const Utf8Unit unit = readUtf8(word.substr(at));
    const size_t length = unit.kind == Utf8Kind::Valid ? unit.length : 1;
    appendSymbol(symbols, uint32_t(at), uint32_t(length), find(word.substr(at, length)));
    at += length;
  }

  mergeSymbols(symbols, queue,
               [&](const Symbol& left, const Symbol& right) -> std::optional<Merge<float>> {
                 const int32_t id = find(word.substr(left.begin, left.length + right.length));
                 if (id < 0)
                   return std::nullopt;
                 return Merge<float>{-spec().scores[size_t(id)], id};
               });

  for (const Symbol& symbol : symbols) {
    if (symbol.length == 0)
      continue;
    if (symbol.id >= 0)
      ids.push_back(symbol.id);
    else
      TENON_RETURN_IF_ERROR(appendBytes(word.substr(symbol.begin, symbol.length), ids));
  }
  return absl::OkStatus();
}

absl::Status SentencePieceTokenizer::appendBytes(std::string_view symbol,
                                                 std::vector<int32_t>& ids) const {
  const bool covered =
      std::all_of(symbol.begin(), symbol.end(), [&](char c) { return idByByte[uint8_t(c)] >= 0; });
  if (!covered && spec().unknownId < 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "tokenizer: expects a token for '%s', its bytes or the unknown, but got none", symbol));
  if (!covered)
    ids.push_back(spec().unknownId);
  else
    for (char c : symbol)
      ids.push_back(idByByte[uint8_t(c)]);
  return absl::OkStatus();
}

std::string SentencePieceTokenizer::decodeToken(size_t id) const {
  const std::string& text = spec().tokens[id];
  if (kind(id) == TokenKind::Byte)
    return std::string(1, char(*parseByteToken(text)));
  return readSpaces(text);
}

} // namespace tenon::runtime::internal
