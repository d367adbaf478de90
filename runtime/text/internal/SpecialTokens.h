#ifndef TENON_RUNTIME_TEXT_INTERNAL_SPECIALTOKENS_H
#define TENON_RUNTIME_TEXT_INTERNAL_SPECIALTOKENS_H

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tenon::runtime::internal {

/// Finds the tokens that are read from the text before the model sees it: a trie over their bytes.
/// Of several that fit, the leftmost counts, and of those the longest (as in Hugging Face's
/// `AddedVocabulary`).
class SpecialTokens {
public:
  /// Adds a token; an empty text is left out, a text that was added before gets the new id.
  void add(std::string_view text, int32_t id);

  struct Match {
    size_t begin;
    size_t length; ///< 0: none found, and `begin` is the end of the text
    int32_t id;
  };
  /// The first match in `text` at or after byte `from`.
  Match find(std::string_view text, size_t from) const;

private:
  /// Trie edges: (node << 8 | byte) to node. Node 0 is the root.
  absl::flat_hash_map<uint64_t, uint32_t> edges;
  /// The token that ends at a node, or −1.
  std::vector<int32_t> ends = {-1};
  /// Whether any token starts with a byte.
  std::array<bool, 256> starts = {};
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_SPECIALTOKENS_H
