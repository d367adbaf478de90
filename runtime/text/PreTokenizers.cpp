#include "runtime/text/PreTokenizers.h"

namespace tenon::runtime {
namespace {

/// GPT-2's own pattern (github.com/openai/gpt-2, src/encoder.py). Hugging Face's `ByteLevel` with
/// `use_regex` cuts by it.
constexpr std::string_view gpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Those of the tokenizer.json of meta-llama/Meta-Llama-3-8B and Qwen/Qwen2-7B, which differ in
/// how many digits stay together. (Qwen2's also normalises the text to NFC first; as in llama.cpp
/// that is left to the caller.)
constexpr std::string_view llama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Hugging Face's `Punctuation`, contiguous: Unicode's and all of ASCII's.
constexpr std::string_view punctuationPattern = R"([\p{P}\$\+<=>\^~\|`]+)";

} // namespace

std::span<const PreTokenizerEntry> preTokenizers() {
  // The order of steps is that of the model's tokenizer.json, except in `default`, which is
  // llama.cpp's (src/llama-vocab.cpp). In tiiuae/falcon-7b a step that parts digits from other
  // characters stands before the last one: it changes no ids, because no merge joins the two.
  static const std::vector<PreTokenizerEntry> table = {
      {"gpt-2", {gpt2Pattern}},
      {"default", {R"([\p{P}\$\+<=>\^~\|]+)", gpt2Pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {"falcon", {punctuationPattern, gpt2Pattern, "[0-9][0-9][0-9]"}},
      {"starcoder", {R"(\p{N})", gpt2Pattern}},
      {"deepseek-coder",
       {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+", R"(\p{N})"}},
      {"llama-bpe", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"qwen2", {qwen2Pattern}},
  };
  return table;
}

const PreTokenizerEntry* findPreTokenizer(std::string_view name) {
  for (const PreTokenizerEntry& entry : preTokenizers())
    if (entry.name == name)
      return &entry;
  return nullptr;
}

} // namespace tenon::runtime
