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
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id", // the tokeniser's
    "cache_implementation",
    "chunk_size_feed_forward",
    "classifier_dropout",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "embd_pdrop",
    "embedding_dropout",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "hidden_dropout",
    "id2label",
    "initializer_range",
    "is_composition",
    "is_decoder",
    "label2id",
    "length_penalty",
    "max_length",
    "max_window_layers",
    "min_length",
    "mlp_bias",
    "n_ctx",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "output_scores",
    "pad_token_id",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "remove_invalid_values",
    "reorder_and_upcast_attn",
    "repetition_penalty",
    "resid_pdrop",
    "residual_dropout",
    "return_dict",
    "return_dict_in_generate",
    "router_aux_loss_coef", // of training
    "router_jitter_noise",  // of training
    "sep_token_id",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "use_bfloat16",
    "use_cache",
};

/// Members that say nothing where they are false or empty.
static constexpr std::string_view keysOfOthers[] = {"add_cross_attention", "is_encoder_decoder",
                                                    "pruned_heads", "tie_encoder_decoder"};

static bool isHarmless(std::string_view key, const json& value) {
  if (std::ranges::count(harmlessKeys, key))
    return true;
  bool isNone = value == false || (value.is_structured() && value.empty());
  return isNone && std::ranges::count(keysOfOthers, key) != 0;
}

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
    if (!value.is_null() && !used.contains(key) && !isHarmless(key, value))
      keys.push_back(key);
  return keys;
}

} // namespace tenon::frontends
