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
/// Qwen2's with combining marks among the letters (Qwen 3.5), without contractions (UfakZeka), with
/// any number of digits (MiniCPM5), and ByteDance's Seed-Coder's, whose punctuation ends at a line.
constexpr std::string_view qwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view ufakzekaPattern =
    R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view minicpm5Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view seedCoderPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view bailingPattern =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
/// Llama 3's with white space in runs of powers of two (Jais 2).
constexpr std::string_view jais2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})";

/// Words by upper and lower case: OpenAI's o200k (tiktoken, openai_public.py), Mistral's tekken, which
/// has no contractions and parts all digits, and Tencent's Youtu.
constexpr std::string_view o200kPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view tekkenPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view youtuScripts = "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-"
                                          "龥぀-ゟ゠-ヿ]+";
constexpr std::string_view youtuPattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// DeepSeek-V3's steps.
constexpr std::string_view threeDigits = R"(\p{N}{1,3})";
constexpr std::string_view deepseek3Scripts = "[一-龥぀-ゟ゠-ヿ]+";
constexpr std::string_view deepseek3Pattern =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view sparkPattern =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+)";

/// BLOOM's words: all up to white space or punctuation of several scripts.
constexpr std::string_view bloomPattern = R"( ?[^(\s|.,!?…。，、।۔،)]+)";

/// Hugging Face's `Punctuation`, contiguous: Unicode's and all of ASCII's.
constexpr std::string_view punctuationPattern = R"([\p{P}\$\+<=>\^~\|`]+)";

} // namespace

std::span<const PreTokenizerEntry> preTokenizers() {
  // The order of steps is that of the model's tokenizer.json, except in `default`, which is
  // llama.cpp's (src/llama-vocab.cpp). In tiiuae/falcon-7b a step that parts digits from other
  // characters stands before the last one: it changes no ids, because no merge joins the two.
  static const std::vector<PreTokenizerEntry> table = {
      {"gpt-2", {gpt2Pattern}},
      {"phi-2", {gpt2Pattern}},
      {"jina-es", {gpt2Pattern}},
      {"jina-de", {gpt2Pattern}},
      {"jina-v2-es", {gpt2Pattern}},
      {"jina-v2-de", {gpt2Pattern}},
      {"gigachat", {gpt2Pattern}},
      {"a.x-4.0", {gpt2Pattern}},
      {"mellum", {gpt2Pattern}},
      {"modern-bert", {gpt2Pattern}},
      {"mpt", {gpt2Pattern}},
      {"olmo", {gpt2Pattern}},
      {"jais", {gpt2Pattern}},
      {"trillion", {gpt2Pattern}},
      {"granite-docling", {gpt2Pattern}},
      {"exaone4", {gpt2Pattern}},
      {"default", {R"([\p{P}\$\+<=>\^~\|]+)", gpt2Pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {"falcon", {punctuationPattern, gpt2Pattern, "[0-9][0-9][0-9]"}},
      {"starcoder", {R"(\p{N})", gpt2Pattern}},
      {"refact", {R"(\p{N})", gpt2Pattern}},
      {"command-r", {R"(\p{N})", gpt2Pattern}},
      {"smollm", {R"(\p{N})", gpt2Pattern}},
      {"codeshell", {R"(\p{N})", gpt2Pattern}},
      {"exaone", {R"(\p{N})", gpt2Pattern}},
      {"minerva-7b", {R"(\p{N})", gpt2Pattern}},
      {"mellum2", {R"(\p{N})", gpt2Pattern}},
      {"deepseek-coder",
       {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-퟿]+", R"(\p{N})"}},
      {"deepseek-v3", {threeDigits, deepseek3Scripts, deepseek3Pattern}},
      {"hunyuan-dense", {threeDigits, deepseek3Scripts, deepseek3Pattern}},
      {"joyai-llm", {threeDigits, deepseek3Scripts, deepseek3Pattern}},
      {"hy_v4", {threeDigits, deepseek3Scripts, deepseek3Pattern}},
      {"spark2_5", {threeDigits, deepseek3Scripts, sparkPattern, R"(\p{N})"}},
      {"llama-bpe", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"llama3", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"llama-v3", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"falcon3", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"falcon-h1", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"pixtral", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"midm-2.0", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"lfm2", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"jina-v5-nano", {llama3Pattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"dbrx", {llama3Pattern}},
      {"smaug-bpe", {llama3Pattern}},
      {"glm4", {llama3Pattern}},
      {"chatglm-bpe", {llama3Pattern}},
      {"jais-2", {jais2Pattern}},
      {"qwen2", {qwen2Pattern}},
      {"deepseek-r1-qwen", {qwen2Pattern}},
      {"kormo", {qwen2Pattern}},
      {"f2llmv2", {qwen2Pattern}},
      {"megrez", {qwen2Pattern}},
      {"stablelm2", {qwen2Pattern}},
      {"hunyuan", {qwen2Pattern}},
      {"solar-open", {qwen2Pattern}},
      {"grok-2", {qwen2Pattern}},
      {"qwen35", {qwen35Pattern}},
      {"ufakzeka", {ufakzekaPattern}},
      {"minicpm5", {threeDigits, minicpm5Pattern}, /*ignoreMerges=*/true},
      {"seed-coder", {seedCoderPattern}},
      {"bailingmoe", {bailingPattern}},
      {"bailingmoe2", {bailingPattern}},
      {"llada-moe", {bailingPattern}},
      {"laguna", {R"([^\n]+|[\n]+)", qwen2Pattern}},
      {"gpt-4o", {o200kPattern}},
      {"llama4", {o200kPattern}},
      {"kanana2", {o200kPattern}},
      {"talkie", {o200kPattern}},
      {"minimax-m2", {o200kPattern}},
      {"tekken", {tekkenPattern}, /*ignoreMerges=*/true, /*addBos=*/true},
      {"youtu", {youtuScripts, youtuPattern}, /*ignoreMerges=*/true},
      {"bloom", {bloomPattern}},
      {"poro-chat", {bloomPattern}},
      {"gpt3-finnish", {bloomPattern}},
      {"viking", {bloomPattern, R"(\p{N})"}},
      {"chameleon",
       {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", R"([\t\n]|    |  )", R"(\p{N})",
        R"([\p{P}!-/:-@\[-`{-~])", gpt2Pattern},
       /*ignoreMerges=*/false,
       /*addBos=*/true},
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
