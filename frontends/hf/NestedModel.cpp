#include "frontends/hf/NestedModel.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

using nlohmann::json;

namespace {

constexpr std::string_view textKey = "text_config";
/// Members of config.json beside `text_config` that say nothing about texts: those of the images, and what
/// the text model has of its own.
constexpr std::string_view imageKeys[] = {
    "architectures",
    "boi_token_index",
    "downsample_ratio",
    "eoi_token_index",
    "ignore_index",
    "image_grid_pinpoints",
    "image_seq_length",
    "image_token_id",
    "image_token_index",
    "mm_tokens_per_image",
    "model_type",
    "multimodal_projector_bias",
    "projector_hidden_act",
    "spatial_merge_size",
    "use_image_newline_parameter",
    "video_token_id",
    "vision_config",
    "vision_end_token_id",
    "vision_feature_layer",
    "vision_feature_select_strategy",
    "vision_start_token_id",
    "vision_token_id",
};
constexpr std::string_view imagePrefixes[] = {"vision_tower.", "multi_modal_projector.",
                                              "image_newline", "visual."};

/// A model type whose first files have the text model's keys beside those of the images, and the family
/// of that.
constexpr std::string_view flatType = "qwen2_5_vl", flatText = "qwen2_5_vl_text";

/// `'a', 'b'`.
std::string listNames(const std::set<std::string_view>& names) {
  std::string list;
  for (std::string_view name : names)
    absl::StrAppend(&list, list.empty() ? "'" : ", '", std::string(name), "'");
  return list;
}

bool nests(const HfFamily& family, std::string_view type) {
  return std::ranges::count(family.nestedIn, type) != 0;
}

absl::StatusOr<TextModel> findNestedModel(const JsonFile& config, std::string_view type) {
  const json* text = config.find(textKey);
  if (!text && type == flatType)
    return TextModel{config.without(imageKeys), *findHfFamily(flatText), /*isNested=*/true};
  if (!text || !text->is_object())
    return config.error(textKey, "an object", text ? describeJson(*text) : "none");
  TENON_ASSIGN_OR_RETURN(std::string own, config.text(*text, "text_config.", "model_type", ""));
  const HfFamily* family = findHfFamily(own);
  if (!family || !nests(*family, type)) {
    std::set<std::string_view> known;
    for (const HfFamily* each : allHfFamilies())
      if (nests(*each, type))
        known.insert(each->modelType);
    return config.error(
        "text_config.model_type",
        absl::StrFormat("one of %s in a model of type %s", listNames(known), quoteName(type)),
        quoteName(own));
  }
  return TextModel{
      config.nested(textKey, imageKeys, "tie_word_embeddings", json::parse(family->defaults)),
      *family, /*isNested=*/true};
}

} // namespace

absl::StatusOr<TextModel> findTextModel(JsonFile config) {
  TENON_ASSIGN_OR_RETURN(std::string type, config.text(config.root(), "", "model_type", ""));
  std::set<std::string_view> known;
  for (const HfFamily* family : allHfFamilies()) {
    if (family->modelType == type)
      return TextModel{std::move(config), *family};
    if (nests(*family, type))
      return findNestedModel(config, type);
    known.insert(family->modelType);
    known.insert(family->nestedIn.begin(), family->nestedIn.end());
  }
  return config.error("model_type", "one of " + listNames(known), quoteName(type));
}

bool isOfImages(std::string_view storedName) {
  constexpr std::string_view model = "model.";
  if (storedName.starts_with(model))
    storedName.remove_prefix(model.size());
  return std::ranges::any_of(
      imagePrefixes, [&](std::string_view prefix) { return storedName.starts_with(prefix); });
}

bool findPrefixes(HfFamily& family, std::string_view storedName) {
  constexpr std::string_view before = "language_model.", within = "model.language_model.";
  if (storedName.starts_with(before)) {
    family.prefix = "language_model.model.";
    family.outputPrefix = before;
    return true;
  }
  if (!storedName.starts_with(within))
    return false;
  family.prefix = within;
  return true;
}

} // namespace tenon::frontends
