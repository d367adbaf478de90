#include "frontends/hf/internal/RopeKeys.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/Status.h"

namespace tenon::frontends {
namespace {

using nlohmann::json;

class RopeKeys {
public:
  RopeKeys(HfKeys& keys, int64_t headSize) : keys(keys), file(keys.config()), headSize(headSize) {}

  /// `baseKey` and `shareKey` are the top-level names that the family uses.
  absl::Status read(std::string_view baseKey, std::string_view shareKey) {
    for (std::string_view key : {"rope_parameters", "rope_scaling"})
      if (const json* found = keys.use(key); found && !object) {
        if (!found->is_object())
          return file.error(key, "an object", *found);
        place = absl::StrCat(std::string(key), ".");
        object = found;
      }
    TENON_RETURN_IF_ERROR(readKindsOfLayers());
    TENON_RETURN_IF_ERROR(readBase(baseKey));
    TENON_RETURN_IF_ERROR(readShare(shareKey));
    if (!object)
      return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(std::string type, member("type") ? text("type") : text("rope_type"));
    member("rope_type"); // where both are given
    TENON_RETURN_IF_ERROR(readType(type));
    for (const auto& [key, value] : object->items())
      if (!value.is_null() && !std::ranges::count(known, key) && !keys.passesRope(key))
        return file.error(place + key, absl::StrFormat("to be absent for type '%s'", type), value);
    return absl::OkStatus();
  }

private:
  /// Where windowed layers rotate otherwise, `rope_parameters` has an object for each kind of layer.
  absl::Status readKindsOfLayers() {
    const json* full = object ? JsonFile::find(*object, "full_attention") : nullptr;
    if (!full)
      return absl::OkStatus();
    const json* windowed = JsonFile::find(*object, "sliding_attention");
    if (!full->is_object() || !windowed || !windowed->is_object() || object->size() != 2)
      return file.error(place, "an object each for 'full_attention' and 'sliding_attention'",
                        *object);
    for (const auto& [key, value] : windowed->items()) {
      const bool isBase = key == "rope_theta";
      if (!isBase && !value.is_null() && !(key == "rope_type" && value == "default"))
        return file.error(absl::StrCat(place, "sliding_attention.", key),
                          "to be absent, or 'default' as 'rope_type'", value);
      if (isBase)
        keys.set("rope.freq_base_swa", place + "sliding_attention.rope_theta", value);
    }
    object = full;
    place += "full_attention.";
    return absl::OkStatus();
  }
  const json* member(std::string_view key) {
    known.emplace_back(key);
    return object ? JsonFile::find(*object, key) : nullptr;
  }
  absl::StatusOr<std::string> text(std::string_view key) {
    known.emplace_back(key);
    return file.text(*object, place, key, "default");
  }
  /// A finite number above 0.
  absl::StatusOr<double> positive(std::string_view key, double otherwise) {
    known.emplace_back(key);
    TENON_ASSIGN_OR_RETURN(double value, file.number(*object, place, key, otherwise));
    if (!(value > 0) || !std::isfinite(value))
      return file.error(place + std::string(key), "a finite number above 0", absl::StrCat(value));
    return value;
  }
  absl::Status readBase(std::string_view baseKey) {
    keys.map("rope.freq_base", baseKey);
    if (const json* base = member("rope_theta"))
      keys.set("rope.freq_base", place + "rope_theta", *base);
    return absl::OkStatus();
  }
  absl::Status readShare(std::string_view shareKey) {
    std::string stored(shareKey);
    const json* share = keys.use(shareKey);
    if (const json* own = member("partial_rotary_factor")) {
      share = own;
      stored = place + "partial_rotary_factor";
    }
    double part = 1;
    if (share) {
      if (!share->is_number() || !(share->get<double>() > 0) || share->get<double>() > 1)
        return file.error(stored, "a number above 0 and at most 1", *share);
      part = share->get<double>();
    }
    constexpr int64_t most = 1 << 16; // as for all sizes of heads
    rotarySize = static_cast<int64_t>(static_cast<double>(headSize) * part);
    if (rotarySize > most)
      return file.error(stored, absl::StrFormat("at most %d rotated elements of a head", most),
                        absl::StrCat(rotarySize));
    keys.set("rope.dimension_count", stored, rotarySize);
    return absl::OkStatus();
  }
  absl::Status readType(const std::string& type) {
    if (type == "default" || keys.passesRope(type))
      return absl::OkStatus();
    if (type == "linear") {
      TENON_ASSIGN_OR_RETURN(double factor, positive("factor", 1));
      keys.set("rope.scaling.type", place + "rope_type", "linear");
      keys.set("rope.scaling.factor", place + "factor", factor);
      return absl::OkStatus();
    }
    if (type == "llama3")
      return readLlama3();
    if (type == "yarn")
      return readYarn();
    if (type == "longrope" || type == "su")
      return readLongRope();
    return file.error(place + "rope_type", "'default', 'linear', 'llama3', 'longrope' or 'yarn'",
                      json(type));
  }
  /// The positions that the model was first trained for.
  absl::StatusOr<double> originalContext() {
    const json* context = keys.use("max_position_embeddings");
    double all = context && context->is_number() ? context->get<double>() : 1;
    if (const json* top = keys.use("original_max_position_embeddings"); top && top->is_number())
      all = top->get<double>();
    return positive("original_max_position_embeddings", all);
  }
  absl::StatusOr<double> base() {
    auto found = keys.entries().find("rope.freq_base");
    double value = 10000;
    if (found != keys.entries().end())
      value = found->second.value.is_number() ? found->second.value.get<double>() : 0;
    if (!(value > 1) || !std::isfinite(value))
      return file.error(found->second.stored, "a finite number above 1", found->second.value);
    return value;
  }

  /// Meta's scaling of Llama 3.1 (`_compute_llama3_parameters` of transformers) as GGUF has it: a
  /// divisor for each pair.
  absl::Status readLlama3() {
    TENON_ASSIGN_OR_RETURN(double factor, positive("factor", 8));
    TENON_ASSIGN_OR_RETURN(double low, positive("low_freq_factor", 1));
    TENON_ASSIGN_OR_RETURN(double high, positive("high_freq_factor", 4));
    TENON_ASSIGN_OR_RETURN(double original, originalContext());
    TENON_ASSIGN_OR_RETURN(double theta, base());
    if (high <= low)
      return file.error(place + "high_freq_factor", absl::StrFormat("more than %g", low),
                        absl::StrCat(high));
    std::vector<float> divisors;
    for (int64_t pair = 0; pair < rotarySize / 2; ++pair) {
      double exponent = 2.0 * static_cast<double>(pair) / static_cast<double>(rotarySize);
      double wavelength = 2 * std::numbers::pi * std::pow(theta, exponent);
      double smooth = std::clamp((original / wavelength - low) / (high - low), 0.0, 1.0);
      divisors.push_back(static_cast<float>(1 / ((1 - smooth) / factor + smooth)));
    }
    keys.addTensor("rope_freqs.weight", std::move(divisors));
    return absl::OkStatus();
  }

  /// Without a stated factor of attention the canonical form has the same, 1 + 0.1 · ln factor.
  absl::Status readYarn() {
    TENON_ASSIGN_OR_RETURN(double factor, positive("factor", 1));
    TENON_ASSIGN_OR_RETURN(double original, originalContext());
    TENON_ASSIGN_OR_RETURN(double fast, positive("beta_fast", 32));
    TENON_ASSIGN_OR_RETURN(double slow, positive("beta_slow", 1));
    member("truncate");
    TENON_ASSIGN_OR_RETURN(bool truncates, file.flag(*object, place, "truncate", true));
    const double attention = 1 + 0.1 * std::log(factor);
    // DeepSeek's form of the magnitude, where both are stated.
    double usual = attention;
    if (member("mscale") && member("mscale_all_dim")) {
      TENON_ASSIGN_OR_RETURN(double own, positive("mscale", 1));
      TENON_ASSIGN_OR_RETURN(double all, positive("mscale_all_dim", 1));
      usual = (1 + 0.1 * own * std::log(factor)) / (1 + 0.1 * all * std::log(factor));
    }
    if (keys.entries().contains("attention.temperature_scale"))
      known.emplace_back("llama_4_scaling_beta");  // which the family has read
    known.emplace_back("max_position_embeddings"); // as beside it
    TENON_ASSIGN_OR_RETURN(double stated, positive("attention_factor", usual));
    keys.set("rope.scaling.type", place + "rope_type", "yarn");
    keys.set("rope.scaling.factor", place + "factor", factor);
    keys.set("rope.scaling.original_context_length", place + "original_max_position_embeddings",
             static_cast<uint64_t>(std::min(original, 0x1p40)));
    keys.set("rope.scaling.yarn_beta_fast", place + "beta_fast", fast);
    keys.set("rope.scaling.yarn_beta_slow", place + "beta_slow", slow);
    keys.set("rope.scaling.yarn_truncate", place + "truncate", truncates);
    keys.set("rope.scaling.attn_factor", place + "attention_factor", stated / attention);
    return absl::OkStatus();
  }

  absl::Status readFactors(std::string_view key, std::string_view canonical) {
    const json* list = member(key);
    std::vector<float> divisors;
    bool isList = list && list->is_array() &&
                  static_cast<int64_t>(list->size()) == rotarySize / 2 &&
                  std::ranges::all_of(*list, [](const json& value) { return value.is_number(); });
    if (!isList)
      return file.error(place + std::string(key),
                        absl::StrFormat("a list of %d numbers", rotarySize / 2),
                        list ? describeJson(*list) : "none");
    for (const json& value : *list)
      divisors.push_back(value.get<float>());
    keys.addTensor(canonical, std::move(divisors));
    return absl::OkStatus();
  }

  absl::Status readLongRope() {
    TENON_RETURN_IF_ERROR(readFactors("short_factor", "rope_factors_short.weight"));
    TENON_RETURN_IF_ERROR(readFactors("long_factor", "rope_factors_long.weight"));
    TENON_ASSIGN_OR_RETURN(int64_t context, keys.size("max_position_embeddings"));
    TENON_ASSIGN_OR_RETURN(double original, originalContext());
    TENON_ASSIGN_OR_RETURN(double scale,
                           positive("factor", static_cast<double>(context) / original));
    double attention = scale > 1 ? std::sqrt(1 + std::log(scale) / std::log(original)) : 1;
    TENON_ASSIGN_OR_RETURN(attention, positive("attention_factor", attention));
    keys.set("rope.scaling.type", place + "rope_type", "longrope");
    keys.set("rope.scaling.original_context_length", place + "original_max_position_embeddings",
             static_cast<uint64_t>(std::min(original, 0x1p40)));
    keys.set("rope.scaling.attn_factor", place + "attention_factor", attention);
    return absl::OkStatus();
  }

  HfKeys& keys;
  const JsonFile& file;
  int64_t headSize;
  int64_t rotarySize = 0;
  const json* object = nullptr;
  std::string place;
  std::vector<std::string> known;
};

} // namespace

absl::Status readRope(HfKeys& keys, int64_t headSize, std::string_view baseKey,
                      std::string_view shareKey) {
  return RopeKeys(keys, headSize).read(baseKey, shareKey);
}

} // namespace tenon::frontends
