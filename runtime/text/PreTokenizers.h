#ifndef TENON_RUNTIME_TEXT_PRETOKENIZERS_H
#define TENON_RUNTIME_TEXT_PRETOKENIZERS_H

#include <span>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// How a byte-level BPE cuts the text before it merges.
struct PreTokenizerEntry {
  /// GGUF's `tokenizer.ggml.pre`.
  std::string_view name;
  /// Regular expressions in PCRE2's syntax, where `\s` is Unicode's White_Space. Each cuts every
  /// piece that the one before left; a match and what lies between matches are pieces.
  std::vector<std::string_view> patterns;
};

/// All pre-tokenisers that Tenon knows. To add one, add an entry.
std::span<const PreTokenizerEntry> preTokenizers();

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_PRETOKENIZERS_H
