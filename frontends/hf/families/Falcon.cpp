#include "frontends/hf/internal/DecoderKeys.h"
#include "frontends/hf/internal/RopeKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr auto falconNames = joinNames(
    {
        {"word_embeddings", "token_embd"},
        {"ln_f", "output_norm"},
        {"lm_head", "output"},
        {"input_layernorm", "attn_norm"},
        {"ln_mlp", "attn_norm"},
        {"ln_attn", "attn_norm_2"},
        {"self_attention.query_key_value", "attn_qkv"},
        {"self_attention.dense", "attn_output"},
    },
    denseMlpNames);

/// Keys and values have heads of their own for each group of queries in the newer models, one for
/// all or one each in the older ones.
static absl::Status readKvHeads(HfKeys& keys, bool isNewer) {
  const JsonFile& file = keys.config();
  keys.use("multi_query");
  keys.use("num_kv_heads");
  TENON_ASSIGN_OR_RETURN(bool hasOne, file.flag(file.root(), "", "multi_query", true));
  if (isNewer)
    keys.map("attention.head_count_kv", "num_kv_heads");
  else if (hasOne)
    keys.set("attention.head_count_kv", "multi_query", 1);
  return absl::OkStatus();
}

static absl::Status readFalcon(HfKeys& keys) {
  const JsonFile& file = keys.config();
  TENON_ASSIGN_OR_RETURN(int64_t hidden, keys.size("hidden_size"));
  keys.set("feed_forward_length", "ffn_hidden_size", 4 * hidden);
  keys.map("feed_forward_length", "ffn_hidden_size");
  keys.set("context_length", "max_position_embeddings", 2048);
  keys.map("context_length", "max_position_embeddings");
  keys.map("embedding_length", "hidden_size");
  keys.map("block_count", "num_hidden_layers");
  keys.map("attention.head_count", "num_attention_heads");
  keys.map("attention.layer_norm_epsilon", "layer_norm_epsilon");
  keys.map("vocab_size", "vocab_size");
  for (const char* shown : {"bias", "num_ln_in_parallel_attn"}) // the tensors show it
    keys.use(shown);
  TENON_RETURN_IF_ERROR(keys.expect("activation", "gelu"));
  TENON_RETURN_IF_ERROR(keys.expect("alibi", false));
  keys.use("new_decoder_architecture");
  TENON_ASSIGN_OR_RETURN(bool isNewer,
                         file.flag(file.root(), "", "new_decoder_architecture", false));
  keys.use("parallel_attn");
  if (!isNewer)
    TENON_RETURN_IF_ERROR(keys.expect("parallel_attn", true));
  TENON_RETURN_IF_ERROR(readKvHeads(keys, isNewer));
  TENON_ASSIGN_OR_RETURN(int64_t headSize, readHeadSize(keys));
  return readRope(keys, headSize, "rope_theta", "partial_rotary_factor");
}

extern const HfFamily falconFamily;
constexpr HfFamily falconFamily = {
    .modelType = "falcon",
    .architecture = "falcon",
    .prefix = "transformer.",
    .blocks = "h.",
    .names = falconNames,
    .readKeys = readFalcon,
    .tiesOutput = true,
    .changeOf = groupFusedHeads,
};

} // namespace tenon::frontends
