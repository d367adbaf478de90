#ifndef TENON_FRONTENDS_HF_QUANTIZATION_H
#define TENON_FRONTENDS_HF_QUANTIZATION_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "frontends/hf/JsonFile.h"
#include "ir/containers/PackedWeight.h"

namespace tenon::frontends {

/// A tensor of a quantised linear layer: what stands after the layer's name and a dot.
struct PartName {
  std::string_view suffix;
  containers::Part part;
};

/// How a checkpoint says that its linear layers are quantised: `quantization_config` of
/// config.json, or quantize_config.json or quant_config.json beside it, of GPTQ (AutoGPTQ,
/// GPTQModel with `dynamic`), AWQ (AutoAWQ), compressed-tensors, Hugging Face's FP8 or gpt-oss's
/// MXFP4. What it says in a way that can be read as two is refused, with the file and the key.
class Quantization {
public:
  /// Nothing where the folder's files say nothing of it.
  static absl::StatusOr<std::optional<Quantization>> read(const std::string& folder,
                                                          const JsonFile& config);

  /// The tensors of a quantised layer; the first are its codes.
  std::span<const PartName> parts() const;
  /// Suffixes of tensors beside them that are not needed.
  std::span<const std::string_view> ignored() const;
  /// The format of the weight of `module`, a layer's name in the file (`model.layers.0.mlp.up_proj`)
  /// whose codes are there.
  absl::StatusOr<containers::WeightFormat> formatOf(const std::string& module) const;
  /// Rows and columns of a weight whose codes have `shape`; `stated` are those of a tensor
  /// `weight_shape`, if there is one. Of gpt-oss's experts the rows lie after one another.
  absl::StatusOr<std::vector<int64_t>> shapeOf(const std::string& module,
                                               const containers::WeightFormat& format,
                                               std::span<const int64_t> shape,
                                               std::span<const int64_t> stated) const;

private:
  enum class Method { Gptq, Awq, CompressedTensors, Float8, Mxfp4 };
  /// What applies to the layers that a pattern matches.
  struct Rule {
    std::string pattern; ///< a regular expression, or with `isName` a name
    bool isName = false;
    bool keeps = false; ///< keeps the layer in 16 bits
    containers::WeightFormat format;
  };

  explicit Quantization(JsonFile file) : file(std::move(file)) {}

  /// `otherwise`: the method where the settings name none.
  absl::Status readMethod(std::string_view otherwise);
  absl::Status readGptq();
  absl::Status readDynamic(const nlohmann::json& dynamic);
  absl::Status readAwq();
  absl::Status readCompressedTensors();
  absl::StatusOr<containers::WeightFormat> readGroup(const std::string& place,
                                                     const nlohmann::json& group);
  absl::Status readFloat8();
  /// The integer `key` of `object`, in [least, most]; `otherwise` where there is none.
  absl::StatusOr<int64_t> integer(const nlohmann::json& object, const std::string& place,
                                  std::string_view key, int64_t least, int64_t most,
                                  int64_t otherwise) const;

  JsonFile file;
  std::string place;     ///< of `settings` in messages
  nlohmann::json object; ///< the settings
  Method method = Method::Gptq;
  containers::WeightFormat common; ///< of layers that no rule matches
  bool needsRule = false;          ///< whether a layer must match one
  std::vector<Rule> rules;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_QUANTIZATION_H
