#include "runtime/text/internal/ByteLevelBpeTokenizer.h"

#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/text/internal/ByteTable.h"
#include "support/Status.h"

namespace tenon::runtime::internal {
namespace {

uint64_t pairKey(int32_t left, int32_t right) {
  return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
}

absl::StatusOr<int32_t> mergeToken(const TextIndex& idByText, size_t rank, std::string_view text) {
  const auto found = idByText.find(text);
  if (found == idByText.end())
    return absl::InvalidArgumentError(absl::StrFormat(
        "tokenizer: expects the parts and the result of merge %d to be tokens, but '%s' is none",
        rank, text));
  return found->second;
}

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> ByteLevelBpeTokenizer::create(TokenizerSpec spec) {
  if (spec.merges.size() > size_t(std::numeric_limits<int32_t>::max()))
    return absl::InvalidArgumentError(absl::StrFormat(
        "tokenizer: expects at most 2147483647 merges, but got %d", spec.merges.size()));
  TENON_ASSIGN_OR_RETURN(PreTokenizer preTokenizer, PreTokenizer::create(spec.preTokenizer));
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

  const std::vector<std::string>& merges = spec().merges;
  mergeByPair.reserve(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view merge = merges[rank];
    const size_t space = merge.find(' ', 1); // the left part may itself start with a space
    if (space == std::string_view::npos || space + 1 == merge.size())
      return absl::InvalidArgumentError(absl::StrFormat(
          "tokenizer: expects merge %d to be 'left right', but got '%s'", rank, merge));
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(space + 1);
    TENON_ASSIGN_OR_RETURN(const int32_t leftId, mergeToken(idByText, rank, left));
    TENON_ASSIGN_OR_RETURN(const int32_t rightId, mergeToken(idByText, rank, right));
    TENON_ASSIGN_OR_RETURN(const int32_t mergedId,
                           mergeToken(idByText, rank, std::string(left) + std::string(right)));
    mergeByPair.try_emplace(pairKey(leftId, rightId), Merge<int32_t>{int32_t(rank), mergedId});
  }
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
  const auto findMerge = [&](const Symbol& left,
                             const Symbol& right) -> std::optional<Merge<int32_t>> {
    const auto found = mergeByPair.find(pairKey(left.id, right.id));
    if (found == mergeByPair.end())
      return std::nullopt;
    return found->second;
  };
  symbols.clear();
  for (size_t at = 0; at < piece.size(); ++at)
    if (const int32_t id = idByByte[uint8_t(piece[at])]; id >= 0)
      appendSymbol(symbols, uint32_t(at), 1, id);
  mergeSymbols(symbols, queue, findMerge);
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
