#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr auto bloomNames = joinNames(
    {
        {"word_embeddings", "token_embd"},
        {"word_embeddings_layernorm", "token_embd_norm"},
        {"ln_f", "output_norm"},
        {"lm_head", "output"},
        {"self_attention.query_key_value", "attn_qkv"},
        {"self_attention.dense", "attn_output"},
    },
    normNames, denseMlpNames);

/// Newer files have `hidden_size` for `n_embed`, and none states a context that limits the model.
static absl::Status readBloom(HfKeys& keys) {
  std::string_view hiddenKey = keys.use("n_embed") ? "n_embed" : "hidden_size";
  TENON_ASSIGN_OR_RETURN(int64_t hidden, keys.size(hiddenKey));
  keys.map("embedding_length", hiddenKey);
  keys.set("feed_forward_length", hiddenKey, 4 * hidden);
  keys.set("context_length", "seq_length", 2048);
  keys.map("context_length", "seq_length");
  keys.map("block_count", "n_layer");
  keys.map("attention.head_count", "n_head");
  keys.map("attention.layer_norm_epsilon", "layer_norm_epsilon");
  keys.map("vocab_size", "vocab_size");
  for (const char* unused :
       {"slow_but_exact", "masked_softmax_fusion", "attention_softmax_in_fp32",
        "bias_dropout_fusion", "n_inner", "offset_alibi", "skip_bias_add", "skip_bias_add_qkv"})
    keys.use(unused);
  return keys.expect("apply_residual_connection_post_layernorm", false);
}

extern const HfFamily bloomFamily;
constexpr HfFamily bloomFamily = {
    .modelType = "bloom",
    .architecture = "bloom",
    .prefix = "transformer.",
    .blocks = "h.",
    .names = bloomNames,
    .readKeys = readBloom,
    .tiesOutput = true,
    .changeOf = groupFusedHeads,
};

} // namespace tenon::frontends
