#ifndef TENON_FRONTENDS_HF_HFFAMILY_H
#define TENON_FRONTENDS_HF_HFFAMILY_H

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "frontends/hf/HfKeys.h"

namespace tenon::frontends {

/// What is done with the elements of a tensor of a Hugging Face file so that it has the canonical
/// layout, GGUF's.
enum class TensorChange : uint8_t {
  None,
  AddOne,    ///< 1 + x, in f32
  Transpose, ///< [inputs, outputs] to [outputs, inputs]
  /// Rows [KV heads, (its queries, k, v), size] to all queries, all keys, all values.
  GroupHeads,
};

/// A name of a tensor without prefix and suffix, and the canonical one; empty for what the model's
/// own code recomputes. A `#` in the first stands for the number of an expert, whose tensor is a part
/// of the canonical one, [experts, ...]. Where the canonical name has a suffix, both are whole.
struct TensorName {
  std::string_view stored;
  std::string_view canonical;
};

/// A tensor [experts, rows, ...] whose rows alternate between two canonical ones, without suffix:
/// the first is `even`'s.
struct AlternatingRows {
  std::string_view stored;
  std::string_view even;
  std::string_view odd;
};

/// A model family of Hugging Face's transformers, a file of families/: how its config.json and its tensors stand for the
/// canonical keys and tensors of an architecture.
struct HfFamily {
  /// config.json's `model_type`.
  std::string_view modelType;
  std::string_view architecture;
  /// What names of tensors begin with, but for the output layer's, and what those of a block have
  /// after it: `model.` and `layers.` for `model.layers.3.`.
  std::string_view prefix;
  std::string_view blocks;
  std::span<const TensorName> names;
  /// Makes the canonical keys.
  absl::Status (*readKeys)(HfKeys& keys);
  /// Whether the output layer is the embedding where config.json does not say.
  bool tiesOutput;
  TensorChange (*changeOf)(std::string_view canonical) = [](std::string_view) {
    return TensorChange::None;
  };
  /// Whether elements of the first half of a head rotate with those of the second in the family's own
  /// code; else adjacent ones do.
  bool rotatesHalves = true;
  std::optional<AlternatingRows> alternating = {};
  /// Model types of which this family is the text model, beside an encoder of images (`NestedModel.h`).
  std::span<const std::string_view> nestedIn = {};
  /// Keys that such a config.json may leave out, as an object of JSON: the defaults of the family's own code.
  std::string_view defaults = "{}";
  /// What the names of the output layer's tensors begin with.
  std::string_view outputPrefix = "";
};

/// Every family, in the order of the files' names.
std::span<const HfFamily* const> allHfFamilies();
/// The family of that `model_type`, or null.
const HfFamily* findHfFamily(std::string_view modelType);

/// A tensor that canonical ones are made of.
struct CanonicalName {
  std::string name;
  std::optional<int64_t> expert; ///< whose part of that tensor it is; nothing: all of it
};

/// The canonical name of the tensor that the file calls `stored`; nothing where it is left out. A
/// name that the family does not have stays as it is.
std::optional<CanonicalName> canonicalTensorName(const HfFamily& family, std::string_view stored);
/// The file's name of a canonical tensor, for messages; the canonical one where there is none.
std::string storedTensorName(const HfFamily& family, std::string_view canonical);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_HFFAMILY_H
