#ifndef TENON_RUNTIME_TEXT_INTERNAL_CHARSMAP_H
#define TENON_RUNTIME_TEXT_INTERNAL_CHARSMAP_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace tenon::runtime::internal {

/// SentencePiece's `precompiled_charsmap` (its normalizer.cc): texts in place of texts. The bytes are
///
///   u32           bytes of the trie
///   u32 …         units of the trie, a double array of Darts-clone (darts.h, class DoubleArrayUnit),
///                 whose values are offsets of replacements
///   bytes         the replacements, each ended by a zero
///
/// Whatever the bytes, a look-up reads none beyond them. Immutable: any number of threads may use one.
class Charsmap {
public:
  /// InvalidArgument unless `bytes` have a trie and replacements.
  static absl::StatusOr<Charsmap> create(std::string bytes);

  /// `text`, valid UTF-8, with the longest text of the map replaced at each place, from left to right,
  /// as SentencePiece does. InvalidArgument where the result is longer than a tokeniser takes.
  absl::StatusOr<std::string> rewrite(std::string_view text) const;

  /// The same as Hugging Face's `tokenizers` do it (its normalizers/precompiled.rs): the shortest text
  /// of the map that a grapheme cluster of less than 6 bytes begins with replaces the cluster; other
  /// clusters are replaced so by characters.
  absl::StatusOr<std::string> rewriteClusters(std::string_view text) const;

private:
  Charsmap(std::string bytes, size_t units) : bytes(std::move(bytes)), units(units) {}

  struct Match {
    size_t length; ///< of the text that the map holds
    std::string_view replacement;
  };
  /// The shortest or the longest text of the map that `text` begins with.
  std::optional<Match> find(std::string_view text, bool takesLongest) const;
  std::optional<uint32_t> unit(size_t index) const;
  std::string_view replacement(uint32_t offset) const;

  std::string bytes;
  size_t units;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_CHARSMAP_H
