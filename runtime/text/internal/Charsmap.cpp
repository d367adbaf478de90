#include "runtime/text/internal/Charsmap.h"

#include <utf8proc.h>

#include "absl/strings/str_format.h"

#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime::internal {
namespace {

/// Clusters of more bytes are looked up by characters (`tokenizers`).
constexpr size_t longestCluster = 5;

uint32_t readU32(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value |= uint32_t(uint8_t(bytes[at + i])) << (8 * i);
  return value;
}

/// Fields of a unit of Darts-clone's double array.
bool hasLeaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t valueOf(uint32_t unit) { return unit & 0x7FFFFFFF; }
uint32_t labelOf(uint32_t unit) { return unit & 0x800000FF; }
uint32_t offsetOf(uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

absl::Status append(std::string_view part, std::string& text) {
  text += part;
  if (text.size() <= Tokenizer::maxTextBytes)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "tokenizer: expects a text of at most %d bytes after its map of characters, but got more",
      Tokenizer::maxTextBytes));
}

/// Bytes of the grapheme cluster that `text`, valid UTF-8, begins with (Unicode's annex 29).
size_t clusterLength(std::string_view text) {
  utf8proc_int32_t previous = 0;
  utf8proc_int32_t state = 0;
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &character);
    if (at > 0 && utf8proc_grapheme_break_stateful(previous, character, &state))
      return at;
    previous = character;
    at += size_t(length);
  }
  return text.size();
}

} // namespace

absl::StatusOr<Charsmap> Charsmap::create(std::string bytes) {
  const uint64_t trieBytes = bytes.size() >= 4 ? readU32(bytes, 0) : 0;
  if (trieBytes == 0 || trieBytes % 4 != 0 || trieBytes + 4 >= bytes.size())
    return absl::InvalidArgumentError(absl::StrFormat(
        "tokenizer: expects a map of characters with a trie and texts, but got %d bytes of which "
        "%d are to be the trie",
        bytes.size(), trieBytes));
  return Charsmap(std::move(bytes), trieBytes / 4);
}

std::optional<uint32_t> Charsmap::unit(size_t index) const {
  if (index >= units)
    return std::nullopt;
  return readU32(bytes, 4 + 4 * index);
}

std::string_view Charsmap::replacement(uint32_t offset) const {
  const std::string_view texts = std::string_view(bytes).substr(4 + 4 * units);
  if (offset >= texts.size())
    return {};
  const std::string_view rest = texts.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::optional<Charsmap::Match> Charsmap::find(std::string_view text, bool takesLongest) const {
  std::optional<Match> match;
  size_t node = offsetOf(*unit(0));
  for (size_t at = 0; at < text.size() && text[at] != '\0'; ++at) {
    node ^= uint8_t(text[at]);
    const std::optional<uint32_t> next = unit(node);
    if (!next || labelOf(*next) != uint8_t(text[at]))
      break;
    node ^= offsetOf(*next);
    if (!hasLeaf(*next))
      continue;
    const std::optional<uint32_t> leaf = unit(node);
    if (!leaf)
      break;
    match = Match{at + 1, replacement(valueOf(*leaf))};
    if (!takesLongest)
      break;
  }
  return match;
}

absl::StatusOr<std::string> Charsmap::rewrite(std::string_view text) const {
  std::string rewritten;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (const std::optional<Match> match = find(rest, /*takesLongest=*/true)) {
      TENON_RETURN_IF_ERROR(append(match->replacement, rewritten));
      at += match->length;
      continue;
    }
    const size_t length = readUtf8(rest).length;
    TENON_RETURN_IF_ERROR(append(rest.substr(0, length), rewritten));
    at += length;
  }
  return rewritten;
}

absl::StatusOr<std::string> Charsmap::rewriteClusters(std::string_view text) const {
  std::string rewritten;
  for (size_t at = 0; at < text.size();) {
    const std::string_view cluster = text.substr(at, clusterLength(text.substr(at)));
    at += cluster.size();
    if (cluster.size() <= longestCluster)
      if (const std::optional<Match> match = find(cluster, /*takesLongest=*/false)) {
        TENON_RETURN_IF_ERROR(append(match->replacement, rewritten));
        continue;
      }
    for (size_t in = 0; in < cluster.size();) {
      const std::string_view character = cluster.substr(in, readUtf8(cluster.substr(in)).length);
      const std::optional<Match> match = find(character, /*takesLongest=*/false);
      TENON_RETURN_IF_ERROR(append(match ? match->replacement : character, rewritten));
      in += character.size();
    }
  }
  return rewritten;
}

} // namespace tenon::runtime::internal
