#ifndef TENON_TESTS_FRONTENDS_GGUF_MODELFILE_H
#define TENON_TESTS_FRONTENDS_GGUF_MODELFILE_H

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "frontends/gguf/GgufWriter.h"
#include "ir/encoding/Encoding.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::frontends {

/// A tensor of a test's model; elements that `values` does not give are small and differ.
struct ModelTensor {
  std::vector<int64_t> shape;
  std::string encoding = "f32";
  std::vector<double> values = {};
};

/// A model file that a test takes from a good one and makes wrong in one place.
struct ModelFile {
  using KeyValue = std::variant<uint32_t, float, bool, std::string, std::vector<std::string>>;
  std::map<std::string, KeyValue> keys;
  std::map<std::string, ModelTensor> tensors;

  /// Two blocks, hidden 8, FFN 32, 4 heads on 2 KV heads of 2, vocabulary 5, context 16.
  static ModelFile llama();
  /// Two blocks, hidden 8, FFN 32, 2 heads of 4, rotary 2, vocabulary 5, context 16.
  static ModelFile gptNeox();
  /// The other families in Llama's sizes; GPT-2 in GPT-NeoX's. The output layers of GPT-2 and
  /// Gemma 2 are tied; Phi-3 has LongRoPE's factors, for an original context of 8.
  static ModelFile qwen2();
  static ModelFile qwen3();
  /// Qwen3 with 4 experts, of which each row chooses 2, with an FFN of 6.
  static ModelFile qwen3Moe();
  static ModelFile gpt2();
  static ModelFile bloom();
  static ModelFile mpt();
  static ModelFile phi3();
  static ModelFile gemma2();
  /// With a context of 12 positions within which queries do not grow.
  static ModelFile mistral3();
  /// An encoder, which gives the first token's vector.
  static ModelFile bert();

  /// What is in a file with metadata of these types only.
  static ModelFile read(const std::string& path);

  /// Writes it and gives its path.
  std::string write(const tests::TempFolder& folder, const std::string& name = "model.gguf") const;
  /// Part `part`, counted from 0, of `parts`: every `parts`-th tensor, the metadata in the first.
  ModelFile part(uint32_t part, uint32_t parts) const;
  /// Writes all parts, named as llama.cpp names them, and gives the path of the first.
  std::string writeSplit(const tests::TempFolder& folder, uint32_t parts) const;
};

} // namespace tenon::frontends

#endif // TENON_TESTS_FRONTENDS_GGUF_MODELFILE_H
