#ifndef TENON_FRONTENDS_HF_NESTEDMODEL_H
#define TENON_FRONTENDS_HF_NESTEDMODEL_H

#include <string_view>

#include "absl/status/statusor.h"

#include "frontends/hf/HfFamily.h"
#include "frontends/hf/JsonFile.h"

/// Models of texts and images, whose config.json has the text model's keys under `text_config` and whose
/// files have its tensors under a prefix. The text model alone is read.
namespace tenon::frontends {

/// The text model of a folder.
struct TextModel {
  JsonFile config;
  HfFamily family;
  bool isNested = false;
};

/// The text model that `config` is, or that it nests. Refuses model types that no family has.
absl::StatusOr<TextModel> findTextModel(JsonFile config);

/// Whether a tensor belongs to the encoder of images or to what leads from it to the text model.
bool isOfImages(std::string_view storedName);

/// Gives a nested `family` the prefixes with which its files name tensors, those of `storedName`, which
/// are either `language_model.model.` and `language_model.` or `model.language_model.` and none. False
/// where the name does not say.
bool findPrefixes(HfFamily& family, std::string_view storedName);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_NESTEDMODEL_H
