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

  /// Writes it and gives its path, which ends in `model.gguf`.
  std::string write(const tests::TempFolder& folder) const;
};

} // namespace tenon::frontends

#endif // TENON_TESTS_FRONTENDS_GGUF_MODELFILE_H
