#ifndef TENON_TESTS_COMMON_FAMILYGOLDEN_H
#define TENON_TESTS_COMMON_FAMILYGOLDEN_H

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/common/StatusMatchers.h"
#include "tools/run/Npz.h"

namespace tenon::tests {

/// A tiny random model of a family and what the family's own code gives for a prompt
/// (tests/goldens).
class FamilyGolden {
public:
  /// `prefix` chooses among several sets of results in one file.
  explicit FamilyGolden(const std::string& family, std::string prefix = "")
      : path(TENON_TEST_DATA "/goldens/" + family + ".gguf"), prefix(std::move(prefix)) {
    auto read = tools::readNpz(TENON_TEST_DATA "/goldens/" + family + ".npz");
    EXPECT_THAT(read, IsOk());
    if (read.ok())
      arrays = *std::move(read);
  }

  const std::string& modelPath() const { return path; }
  /// The prompt, or, as `greedy`, the 64 ids that follow it greedily.
  std::vector<int32_t> ids(const std::string& name = "ids") const {
    return elements<int32_t>(name, tools::NpyType::I32);
  }
  /// `logits` and each block's output, `blk.<n>.output`, in the order of an imported function's
  /// results.
  std::vector<std::string> outputs() const {
    std::vector<std::string> names = {"logits"};
    while (arrays.contains(prefix + blockOutput(names.size() - 1)))
      names.push_back(blockOutput(names.size() - 1));
    return names;
  }
  /// One of them at every token of the prompt: [tokens, vocabulary] or [tokens, hidden].
  std::vector<float> values(const std::string& output) const {
    return elements<float>(output, tools::NpyType::F32);
  }

private:
  static std::string blockOutput(size_t block) {
    return "blk." + std::to_string(block) + ".output";
  }
  template <typename T>
  std::vector<T> elements(const std::string& name, tools::NpyType type) const {
    auto found = arrays.find(prefix + name);
    if (found == arrays.end() || found->second.type != type) {
      ADD_FAILURE() << "no array of the expected type: " << prefix + name;
      return {};
    }
    std::vector<T> values(found->second.bytes.size() / sizeof(T));
    std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(T));
    return values;
  }

  std::string path;
  std::string prefix;
  tools::NpyArrays arrays;
};

/// The families that have such a model, as names of its files.
inline constexpr const char* goldenFamilies[] = {
    "bloom",       "cohere", "cohere_qk", "falcon",  "falcon_mq", "gemma",       "gemma2",
    "gemma3_text", "glm4",   "gpt2",      "gpt_oss", "granite",   "ministral3",  "mistral",
    "mixtral",     "mpt",    "olmo2",     "olmoe",   "phi",       "phi3",        "qwen2",
    "qwen2moe",    "qwen3",  "qwen3moe",  "smollm3", "stablelm",  "stablelm_qk", "starcoder2"};
/// Those of them that also have a Hugging Face folder.
inline constexpr const char* goldenFolders[] = {
    "bloom",       "cohere",   "cohere_qk", "falcon",   "falcon_mq",   "gemma",      "gemma2",
    "gemma3_text", "glm4",     "gpt2",      "gpt_oss",  "granite",     "ministral3", "mistral",
    "mixtral",     "olmo2",    "olmoe",     "phi",      "phi3",        "qwen2",      "qwen2moe",
    "qwen3",       "qwen3moe", "smollm3",   "stablelm", "stablelm_qk", "starcoder2"};

/// Models of texts and images whose text model has such results, beside a folder of their own
/// (tests/goldens/make_nested_goldens.py).
inline constexpr const char* nestedFolders[] = {"gemma3",        "internvl",   "internvl_qwen2",
                                                "llava",         "llava_next", "mistral3",
                                                "mistral3_tied", "qwen2_5_vl", "qwen3_vl"};
inline std::string nestedFolder(const std::string& name) {
  return TENON_TEST_DATA "/nested/" + name;
}

} // namespace tenon::tests

#endif // TENON_TESTS_COMMON_FAMILYGOLDEN_H
