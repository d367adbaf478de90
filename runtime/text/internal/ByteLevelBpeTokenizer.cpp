#include "runtime/text/internal/ByteLevelBpeTokenizer.h"

#include <utility>

#include "runtime/text/internal/ByteTable.h"
#include "support/Status.h"

namespace tenon::runtime::internal {
absl::StatusOr<std::unique_ptr<Tokenizer>> ByteLevelBpeTokenizer::create(TokenizerSpec spec) {
  TENON_ASSIGN_OR_RETURN(PreTokenizer preTokenizer, PreTokenizer::create(spec));
  std::unique_ptr<ByteLevelBpeTokenizer> tokenizer(
      new ByteLevelBpeTokenizer(std::move(spec), std::move(preTokenizer)));
  TENON_RETURN_IF_ERROR(tokenizer->indexTokens());
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

absl::Status ByteLevelBpeTokenizer::indexTokens() {
  const std::vector<std::string>& tokens = spec().tokens;
  TextIndex idByText;
  idByText.reserve(tokens.size());
  for (size_t id = 0; id < tokens.size(); ++id)
    idByText[tokens[id]] = int32_t(id);
  for (size_t byte = 0; byte < idByByte.size(); ++byte) {
    const auto found = idByText.find(characterOfByte(uint8_t(byte)));
    idByByte[byte] = found != idByText.end() && standsForBytes(found->second) ? found->second : -1;
  }

  for (size_t id = 0; preTokenizer.ignoresMerges() && id < tokens.size(); ++id)
    if (standsForBytes(int32_t(id)))
      idByPiece[tokens[id]] = int32_t(id);

  TENON_ASSIGN_OR_RETURN(merges, MergeTable::create(spec(), idByText));
  return absl::OkStatus();
}

bool ByteLevelBpeTokenizer::standsForBytes(int32_t id) const {
  return kind(size_t(id)) == TokenKind::Normal || kind(size_t(id)) == TokenKind::Byte;
}

int32_t ByteLevelBpeTokenizer::idOfPiece(std::string_view piece) const {
  if (!preTokenizer.ignoresMerges())
    return -1;
  std::string characters;
  for (char byte : piece)
    characters += characterOfByte(uint8_t(byte));
  const auto found = idByPiece.find(characters);
  return found == idByPiece.end() ? -1 : found->second;
}

void ByteLevelBpeTokenizer::encodePiece(std::string_view piece, std::vector<Symbol>& symbols,
                                        std::vector<Candidate<int32_t>>& queue,
                                        std::vector<int32_t>& ids) const {
  if (const int32_t id = idOfPiece(piece); id >= 0) {
    ids.push_back(id);
    return;
  }
  symbols.clear();
  for (size_t at = 0; at < piece.size(); ++at)
    if (const int32_t id = idByByte[uint8_t(piece[at])]; id >= 0)
      appendSymbol(symbols, uint32_t(at), 1, id);
  mergeSymbols(symbols, queue,
               [&](const Symbol& left, const Symbol& right) { return merges.find(left, right); });
  for (const Symbol& symbol : symbols)
    if (symbol.length > 0)
      ids.push_back(symbol.id);
}

absl::Status ByteLevelBpeTokenizer::encodeText(std::string_view text,
                                               std::vector<int32_t>& ids) const {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> pieces, preTokenizer.split(text));
  std::vector<Symbol> symbols;
  std::vector<Candidate<int32_t>> queue;
  for (std::string_view piece : pieces)
    encodePiece(piece, symbols, queue, ids);
  return absl::OkStatus();
}

std::string ByteLevelBpeTokenizer::decodeToken(size_t id) const {
  return bytesOfCharacters(spec().tokens[id]);
}

} // namespace tenon::runtime::internal
