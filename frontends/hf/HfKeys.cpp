#include "frontends/hf/HfKeys.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::frontends {

using nlohmann::json;

/// Members of config.json that say nothing about what a trained decoder computes.
static constexpr std::string_view harmlessKeys[] = {
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_commit_hash",
    "_name_or_path",
    "architectures",
    "attention_bias", // the tensors show it
    "attention_dropout",
    "attn_pdrop",
    "auto_map",
    "bos_token_id", // the tokeniser's
    "cache_implementation",
    "chunk_size_feed_forward",
    "embedding_dropout",
    "classifier_dropout",
    "dtype",
    "embd_pdrop",
    "eos_token_id",
    "gradient_checkpointing",
    "hidden_dropout",
    "id2label",
    "initializer_range",
    "is_decoder",
    "label2id",
    "max_window_layers",
    "mlp_bias",
    "n_ctx",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "pad_token_id",
    "pretraining_tp",
    "problem_type",
    "reorder_and_upcast_attn",
    "resid_pdrop",
    "residual_dropout",
    "return_dict",
    "router_aux_loss_coef", // of training
    "router_jitter_noise",  // of training
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "task_specific_params",
    "tokenizer_class",
    "torch_dtype",
    "transformers_version",
    "unk_token_id",
    "use_cache",
};

const json* HfKeys::use(std::string_view key) {
  used.emplace(key);
  return file.find(key);
}

absl::StatusOr<int64_t> HfKeys::size(std::string_view key) {
  constexpr int64_t most = int64_t(1) << 28; // as for all sizes of models
  const json* value = use(key);
  if (!value || !value->is_number_unsigned() || value->get<uint64_t>() < 1 ||
      value->get<uint64_t>() > most)
    return file.error(key, absl::StrFormat("an integer from 1 to %d", most),
                      value ? describeJson(*value) : "none");
  return static_cast<int64_t>(value->get<uint64_t>());
}

void HfKeys::map(std::string_view canonical, std::string_view stored) {
  if (const json* value = use(stored))
    set(canonical, stored, *value);
}

void HfKeys::set(std::string_view canonical, std::string_view stored, json value) {
  table.insert_or_assign(std::string(canonical), Entry{std::string(stored), std::move(value)});
}

absl::Status HfKeys::expect(std::string_view key, const json& expected) {
  const json* found = use(key);
  if (!found || *found == expected)
    return absl::OkStatus();
  return file.error(key, describeJson(expected), *found);
}

std::vector<std::string> HfKeys::unknown() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : file.root().items())
    if (!value.is_null() && !used.contains(key) && !std::ranges::count(harmlessKeys, key))
      keys.push_back(key);
  return keys;
}

} // namespace tenon::frontends
