#include "runtime/text/internal/BpeTokenizer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/text/internal/SpaceSymbol.h"
#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

absl::StatusOr<std::unique_ptr<Tokenizer>> BpeTokenizer::create(TokenizerSpec spec) {
  TENON_ASSIGN_OR_RETURN(PreTokenizer preTokenizer, PreTokenizer::create(spec));
  std::unique_ptr<BpeTokenizer> tokenizer(
      new BpeTokenizer(std::move(spec), std::move(preTokenizer)));
  TENON_RETURN_IF_ERROR(tokenizer->indexTokens());
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

absl::Status BpeTokenizer::indexTokens() {
  idByByte.fill(-1);
  const std::vector<std::string>& tokens = spec().tokens;
  TextIndex all;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (kind(id) != TokenKind::Unused)
      all[tokens[id]] = int32_t(id);
    if (kind(id) == TokenKind::Byte) {
      const std::optional<uint8_t> byte = parseByteToken(tokens[id]);
      if (!byte)
        return absl::InvalidArgumentError(absl::StrFormat(
            "tokenizer: expects byte token %d to be written as <0x00> to <0xFF>, but got '%s'", id,
            tokens[id]));
      idByByte[*byte] = int32_t(id);
    } else if (kind(id) != TokenKind::Unused) {
      idByText[tokens[id]] = int32_t(id);
    }
  }
  TENON_ASSIGN_OR_RETURN(merges, MergeTable::create(spec(), all));
  return absl::OkStatus();
}

void BpeTokenizer::appendUnknown(std::string_view character, uint32_t at,
                                 std::vector<Symbol>& symbols) const {
  const bool hasBytes = std::all_of(character.begin(), character.end(),
                                    [&](char c) { return idByByte[uint8_t(c)] >= 0; });
  if (hasBytes) {
    for (size_t i = 0; i < character.size(); ++i)
      appendSymbol(symbols, at + uint32_t(i), 1, idByByte[uint8_t(character[i])]);
    return;
  }
  const int32_t unknown = spec().unknownId;
  if (unknown < 0)
    return;
  if (spec().fuseUnknown && !symbols.empty() && symbols.back().id == unknown)
    symbols.back().length += uint32_t(character.size());
  else
    appendSymbol(symbols, at, uint32_t(character.size()), unknown);
}

absl::Status BpeTokenizer::encodeText(std::string_view text, std::vector<int32_t>& ids) const {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> pieces, preTokenizer.split(text));
  std::vector<Symbol> symbols;
  std::vector<Candidate<int32_t>> queue;
  for (std::string_view piece : pieces) {
    if (preTokenizer.ignoresMerges())
      if (const auto found = idByText.find(piece); found != idByText.end()) {
        ids.push_back(found->second);
        continue;
      }
    symbols.clear();
    for (size_t at = 0; at < piece.size();) {
      const Utf8Unit unit = readUtf8(piece.substr(at));
      const std::string_view character =
          piece.substr(at, unit.kind == Utf8Kind::Valid ? unit.length : 1);
      if (const auto found = idByText.find(character); found != idByText.end())
        appendSymbol(symbols, uint32_t(at), uint32_t(character.size()), found->second);
      else
        appendUnknown(character, uint32_t(at), symbols);
      at += character.size();
    }
    mergeSymbols(symbols, queue,
                 [&](const Symbol& left, const Symbol& right) { return merges.find(left, right); });
    for (const Symbol& symbol : symbols)
      if (symbol.length > 0)
        ids.push_back(symbol.id);
  }
  return absl::OkStatus();
}

std::string BpeTokenizer::decodeToken(size_t id) const {
  const std::string& text = spec().tokens[id];
  if (kind(id) == TokenKind::Byte)
    return std::string(1, char(*parseByteToken(text)));
  return readSpaces(text);
}

} // namespace tenon::runtime::internal
