#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr TensorName gpt2Names[] = {
    {"wte", "token_embd"},
    {"wpe", "position_embd"},
    {"ln_f", "output_norm"},
    {"lm_head", "output"},
    {"ln_1", "attn_norm"},
    {"ln_2", "ffn_norm"},
    {"attn", ""}, // `attn.bias`: the causal mask
    {"attn.c_attn", "attn_qkv"},
    {"attn.c_proj", "attn_output"},
    {"mlp.c_fc", "ffn_up"},
    {"mlp.c_proj", "ffn_down"},
};

static absl::Status readGpt2(HfKeys& keys) {
  keys.map("context_length", "n_positions");
  keys.map("embedding_length", "n_embd");
  keys.map("block_count", "n_layer");
  keys.map("feed_forward_length", "n_inner");
  keys.map("attention.head_count", "n_head");
  keys.map("attention.layer_norm_epsilon", "layer_norm_epsilon");
  keys.map("vocab_size", "vocab_size");
  if (!keys.entries().contains("feed_forward_length")) {
    TENON_ASSIGN_OR_RETURN(int64_t hidden, keys.size("n_embd"));
    keys.set("feed_forward_length", "n_inner", 4 * hidden);
  }
  TENON_RETURN_IF_ERROR(keys.expect("activation_function", "gelu_new"));
  TENON_RETURN_IF_ERROR(keys.expect("scale_attn_weights", true));
  TENON_RETURN_IF_ERROR(keys.expect("scale_attn_by_inverse_layer_idx", false));
  return keys.expect("add_cross_attention", false);
}

/// Linear layers of GPT-2 are `Conv1D`s, whose matrices lie the other way round.
static TensorChange changeGpt2(std::string_view canonical) {
  bool isMatrix = canonical.starts_with("blk.") && canonical.ends_with(".weight") &&
                  canonical.find("norm.") == canonical.npos;
  return isMatrix ? TensorChange::Transpose : TensorChange::None;
}

extern const HfFamily gpt2Family;
constexpr HfFamily gpt2Family = {
    .modelType = "gpt2",
    .architecture = "gpt2",
    .prefix = "transformer.",
    .blocks = "h.",
    .names = gpt2Names,
    .readKeys = readGpt2,
    .tiesOutput = true,
    .changeOf = changeGpt2,
};

} // namespace tenon::frontends
