#include "runtime/text/PreTokenizers.h"

namespace tenon::runtime {
namespace {

/// GPT-2's own pattern (github.com/openai/gpt-2, src/encoder.py).
constexpr std::string_view gpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

} // namespace

std::span<const PreTokenizerEntry> preTokenizers() {
  // The patterns are llama.cpp's (src/llama-vocab.cpp), where they differ from the model's own.
  static const std::vector<PreTokenizerEntry> table = {
      {"gpt-2", {gpt2Pattern}},
      {"default", {R"([\p{P}\$\+<=>\^~\|]+)", gpt2Pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
  };
  return table;
}

} // namespace tenon::runtime
