#include "runtime/text/internal/UnigramTokenizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/text/internal/SpaceSymbol.h"
#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime::internal {
namespace {

/// How much less likely an unknown character is than the least likely token (SentencePiece's
/// kUnkPenalty).
constexpr double unknownPenalty = 10;
/// The time of a text is in proportion to the longest token; those in use have up to 48 bytes.
constexpr size_t longestToken = 1024;

} // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> UnigramTokenizer::create(TokenizerSpec spec) {
  TENON_ASSIGN_OR_RETURN(PreTokenizer preTokenizer, PreTokenizer::create(spec));
  std::unique_ptr<UnigramTokenizer> tokenizer(
      new UnigramTokenizer(std::move(spec), std::move(preTokenizer)));
  TENON_RETURN_IF_ERROR(tokenizer->indexTokens());
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

absl::Status UnigramTokenizer::indexTokens() {
  const TokenizerSpec& from = spec();
  if (from.scores.size() != from.tokens.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("tokenizer: expects a score for each of %d tokens, but got %d",
                        from.tokens.size(), from.scores.size()));
  idByByte.fill(-1);
  std::vector<PrefixIndex::Entry> entries;
  float lowest = std::numeric_limits<float>::infinity();
  for (size_t id = 0; id < from.tokens.size(); ++id) {
    const std::string& text = from.tokens[id];
    if (kind(id) == TokenKind::Byte) {
      const std::optional<uint8_t> byte = parseByteToken(text);
      if (!byte)
        return absl::InvalidArgumentError(absl::StrFormat(
            "tokenizer: expects byte token %d to be written as <0x00> to <0xFF>, but got '%s'", id,
            text));
      idByByte[*byte] = int32_t(id);
    }
    if (kind(id) != TokenKind::Normal)
      continue;
    if (!std::isfinite(from.scores[id]) || text.size() > longestToken)
      return absl::InvalidArgumentError(absl::StrFormat(
          "tokenizer: expects tokens of at most %d bytes with finite scores, but token %d has %d "
          "bytes and a score of %g",
          longestToken, id, text.size(), from.scores[id]));
    lowest = std::min(lowest, from.scores[id]);
    entries.push_back({text, int32_t(id)});
  }
  unknownScore = (entries.empty() ? 0 : double(lowest)) - unknownPenalty;
  tokens = PrefixIndex(std::move(entries));
  return absl::OkStatus();
}

void UnigramTokenizer::findBest(std::string_view piece, std::vector<Step>& steps) const {
  steps.assign(piece.size() + 1, {});
  const auto offer = [&](size_t begin, size_t length, double score, int32_t id) {
    Step& step = steps[begin + length];
    const double sum = steps[begin].score + score;
    if (step.id == none || sum > step.score)
      step = {sum, uint32_t(begin), id};
  };
  for (size_t at = 0; at < piece.size();) {
    const Utf8Unit unit = readUtf8(piece.substr(at));
    const size_t length = unit.kind == Utf8Kind::Valid ? unit.length : 1;
    bool isKnown = false;
    tokens.forEachPrefix(piece.substr(at), [&](size_t bytes, int32_t id) {
      offer(at, bytes, spec().scores[size_t(id)], id);
      isKnown |= bytes == length;
    });
    if (!isKnown)
      offer(at, length, unknownScore, unknown);
    at += length;
  }
}

absl::Status UnigramTokenizer::appendUnknown(std::string_view text,
                                             std::vector<int32_t>& ids) const {
  if (std::ranges::all_of(text, [&](char c) { return idByByte[uint8_t(c)] >= 0; })) {
    for (char c : text)
      ids.push_back(idByByte[uint8_t(c)]);
    return absl::OkStatus();
  }
  if (spec().unknownId < 0)
    return absl::InvalidArgumentError(
        "tokenizer: expects a token for every character of the text, or one for the unknown");
  ids.push_back(spec().unknownId);
  return absl::OkStatus();
}

absl::Status UnigramTokenizer::encodeText(std::string_view text, std::vector<int32_t>& ids) const {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> pieces, preTokenizer.split(text));
  std::vector<Step> steps;
  std::vector<Step> path; // the last token first; `begin` of unknown ones, joined
  for (std::string_view piece : pieces) {
    findBest(piece, steps);
    path.clear();
    for (size_t end = piece.size(); end > 0; end = steps[end].begin) {
      if (!path.empty() && path.back().id == unknown && steps[end].id == unknown)
        path.back().begin = steps[end].begin;
      else
        path.push_back(steps[end]);
    }
    for (size_t i = path.size(); i-- > 0;) {
      const size_t end = i == 0 ? piece.size() : path[i - 1].begin;
      if (path[i].id != unknown)
        ids.push_back(path[i].id);
      else
        TENON_RETURN_IF_ERROR(appendUnknown(piece.substr(path[i].begin, end - path[i].begin), ids));
    }
  }
  return absl::OkStatus();
}

std::string UnigramTokenizer::decodeToken(size_t id) const {
  const std::string& text = spec().tokens[id];
  if (kind(id) == TokenKind::Byte)
    return std::string(1, char(*parseByteToken(text)));
  return readSpaces(text);
}

} // namespace tenon::runtime::internal
