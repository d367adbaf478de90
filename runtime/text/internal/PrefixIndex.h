#ifndef TENON_RUNTIME_TEXT_INTERNAL_PREFIXINDEX_H
#define TENON_RUNTIME_TEXT_INTERNAL_PREFIXINDEX_H

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::runtime::internal {

/// Finds the tokens that a text begins with: their texts in order, in which a text goes down byte by
/// byte. 24 bytes a token, a binary search a byte.
class PrefixIndex {
public:
  struct Entry {
    std::string_view text;
    int32_t id;
  };

  PrefixIndex() = default;
  /// Of equal texts the lowest id counts; empty ones are left out. The texts are not copied.
  explicit PrefixIndex(std::vector<Entry> tokens);

  /// Calls `match(length, id)` for each token that `text` begins with, shortest first.
  template <class Match> void forEachPrefix(std::string_view text, Match match) const {
    auto begin = entries.begin();
    auto end = entries.end();
    for (size_t depth = 0; depth < text.size() && begin != end; ++depth) {
      const auto byteAt = [&](const Entry& entry) { return uint8_t(entry.text[depth]); };
      const auto range = std::ranges::equal_range(begin, end, uint8_t(text[depth]), {}, byteAt);
      begin = range.begin();
      end = range.end();
      if (begin != end && begin->text.size() == depth + 1) {
        match(depth + 1, begin->id);
        ++begin;
      }
    }
  }

private:
  std::vector<Entry> entries; ///< by text
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_PREFIXINDEX_H
