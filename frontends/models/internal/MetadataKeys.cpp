#include "frontends/models/internal/MetadataKeys.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/MessageText.h"

namespace tenon::frontends {

/// What the common import reads (Hyperparameters.cpp, RopeFrequencies.cpp), and keys that say
/// nothing about the computation.
static constexpr std::string_view honouredKeys[] = {
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.layer_norm_epsilon",
    "attention.layer_norm_rms_epsilon",
    "attention.scale",
    "attention.sliding_window",
    "attention.value_length",
    "attn_logit_softcapping",
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "final_logit_softcapping",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scale_linear",
    "rope.scaling.attn_factor",
    "rope.scaling.factor",
    "rope.scaling.finetuned", // how the model was trained
    "rope.scaling.original_context_length",
    "rope.scaling.type",
    "rope.scaling.yarn_attn_factor",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
    "rope.scaling.yarn_ext_factor",
    "rope.scaling.yarn_truncate",
    "tensor_data_layout", // where the weights came from
    "vocab_size",
};

/// What the common import reads for a family with mixtures of experts.
static constexpr std::string_view expertKeys[] = {
    "expert_count",      "expert_feed_forward_length", "expert_shared_feed_forward_length",
    "expert_used_count", "expert_weights_norm",
};

/// A key that changes nothing where it has this value.
struct NeutralKey {
  std::string_view name;
  double value;
};

/// Values as llama.cpp's loader means them (src/llama-model.cpp): 0 turns a clamp, a bias or a
/// scale of the logits off.
static constexpr NeutralKey neutralKeys[] = {
    {"attention.causal", 1},
    {"attention.clamp_kqv", 0},
    {"attention.max_alibi_bias", 0},
    {"embedding_scale", 1},
    {"expert_count", 0},
    {"expert_gating_func", 1}, // softmax
    {"expert_group_count", 0},
    {"expert_group_used_count", 0},
    {"expert_shared_count", 0},
    {"expert_used_count", 0},
    {"expert_weights_scale", 0},
    {"expert_weights_scale", 1},
    {"leading_dense_block_count", 0},
    {"logit_scale", 0},
    {"logit_scale", 1},
    {"nextn_predict_layers", 0},
    {"pooling_type", 0},
    {"residual_scale", 1},
    {"use_parallel_residual", 0},
};

/// What the common import reads for an encoder.
static constexpr std::string_view encoderKeys[] = {"attention.causal", "pooling_type"};

static bool changesNothing(const SourceKey& key, const Architecture& architecture) {
  auto isKey = [&](std::string_view name) { return name == key.canonical; };
  return std::ranges::any_of(honouredKeys, isKey) ||
         std::ranges::any_of(architecture.keys, isKey) ||
         (architecture.experts != Experts::None && std::ranges::any_of(expertKeys, isKey)) ||
         (architecture.isEncoder && std::ranges::any_of(encoderKeys, isKey)) ||
         (architecture.mayHaveDraftHead && isKey("nextn_predict_layers")) ||
         std::ranges::any_of(neutralKeys, [&](const NeutralKey& neutral) {
           return neutral.name == key.canonical && key.number == neutral.value;
         });
}

absl::Status checkKeys(const ModelSource& source, const Architecture& architecture,
                       std::span<const std::string> ignored) {
  std::set<std::string_view> unused(ignored.begin(), ignored.end());
  for (const SourceKey& key : source.keys()) {
    if (changesNothing(key, architecture))
      continue;
    size_t erased = unused.erase(key.stored) + unused.erase(key.canonical);
    if (erased == 0 && !std::ranges::count(ignored, key.stored) &&
        !std::ranges::count(ignored, key.canonical))
      return source.keyError(
          key.canonical,
          absl::StrFormat("to be absent: architecture '%s' does not honour it here, and it may "
                          "change what the model computes (--ignore-key=%s goes on without it)",
                          architecture.name, key.stored),
          key.value);
  }
  if (unused.empty())
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: expects the ignored keys to be metadata keys that architecture '%s' "
                      "does not honour, but "
                      "got %s",
                      source.path(), architecture.name, quoteName(*unused.begin())));
}

} // namespace tenon::frontends
