#ifndef TENON_RUNTIME_TEXT_PRETOKENIZERS_H
#define TENON_RUNTIME_TEXT_PRETOKENIZERS_H

#include <span>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// How a byte-level BPE cuts the text before it merges, and what else goes by that name.
struct PreTokenizerEntry {
  /// GGUF's `tokenizer.ggml.pre`.
  std::string_view name;
  /// Regular expressions in PCRE2's syntax, where `\s` is Unicode's White_Space. Each cuts every
  /// piece that the one before left; a match and what lies between matches are pieces.
  std::vector<std::string_view> patterns;
  /// A piece that is a token as it stands becomes that token, even if merges do not lead to it
  /// (`ignore_merges` in tokenizer.json).
  bool ignoreMerges = false;
  /// Whether BOS stands before the text where a GGUF file does not say (llama.cpp's defaults).
  bool addBos = false;
};

/// All pre-tokenisers that Tenon knows. To add one, add an entry.
std::span<const PreTokenizerEntry> preTokenizers();

/// The entry `name`, or null.
const PreTokenizerEntry* findPreTokenizer(std::string_view name);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_PRETOKENIZERS_H
