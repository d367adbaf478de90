#include "frontends/hf/internal/DecoderKeys.h"
#include "frontends/hf/internal/EncoderKeys.h"
#include "frontends/hf/internal/RopeKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr TensorName nomicBertNames[] = {
    {"embeddings.word_embeddings", "token_embd"},
    {"embeddings.token_type_embeddings", "token_types"},
    {"emb_ln", "token_embd_norm"},
    {"attn.Wqkv", "attn_qkv"},
    {"attn.out_proj", "attn_output"},
    {"norm1", "attn_output_norm"},
    {"mlp.fc11", "ffn_up"},
    {"mlp.fc12", "ffn_gate"},
    {"mlp.fc2", "ffn_down"},
    {"norm2", "layer_output_norm"},
};

/// The names of keys in files of the model's first code, as those of GPT-2; what it could do beside
/// must be off.
static absl::Status readFirstKeys(HfKeys& keys) {
  keys.map("context_length", "n_positions");
  keys.map("embedding_length", "n_embd");
  keys.map("block_count", "n_layer");
  keys.map("feed_forward_length", "n_inner");
  keys.map("attention.head_count", "n_head");
  keys.map("vocab_size", "vocab_size");
  keys.map("attention.layer_norm_epsilon", "layer_norm_epsilon");
  keys.map("rope.freq_base", "rotary_emb_base");
  TENON_RETURN_IF_ERROR(keys.expect("activation_function", "swiglu"));
  TENON_RETURN_IF_ERROR(keys.expect("rotary_emb_fraction", 1.0));
  TENON_RETURN_IF_ERROR(keys.expect("scale_attn_weights", true));
  for (const char* off :
       {"causal", "parallel_block", "parallel_block_tied_norm", "prenorm", "rotary_emb_interleaved",
        "scale_attn_by_inverse_layer_idx", "use_rms_norm"})
    TENON_RETURN_IF_ERROR(keys.expect(off, false));
  for (const char* none : {"rotary_emb_scale_base", "rotary_scaling_factor"})
    TENON_RETURN_IF_ERROR(keys.expect(none, nullptr));
  // How it is computed or was trained; of biases the tensors tell.
  for (const char* unused :
       {"dense_seq_output", "fused_bias_fc", "fused_dropout_add_ln", "last_layer_subset",
        "max_trained_positions", "mlp_fc1_bias", "mlp_fc2_bias", "pad_vocab_size_multiple",
        "qkv_proj_bias", "type_vocab_size", "use_flash_attn", "use_xentropy"})
    keys.use(unused);
  return absl::OkStatus();
}

static absl::Status readNomicBert(HfKeys& keys) {
  TENON_RETURN_IF_ERROR(readPooling(keys));
  if (keys.use("n_embd"))
    return readFirstKeys(keys);
  mapSizes(keys);
  keys.map("attention.layer_norm_epsilon", "layer_norm_eps");
  keys.map("attention.key_length", "head_dim");
  keys.map("attention.value_length", "head_dim");
  for (const char* unused :
       {"attention_probs_dropout_prob", "hidden_dropout_prob", "type_vocab_size"})
    keys.use(unused);
  TENON_RETURN_IF_ERROR(keys.expect("hidden_act", "silu"));
  TENON_ASSIGN_OR_RETURN(int64_t headSize, readHeadSize(keys));
  keys.set("rope.freq_base", "rope_theta", 1000.0);
  return readRope(keys, headSize, "rope_theta", "partial_rotary_factor");
}

extern const HfFamily nomicBertFamily;
constexpr HfFamily nomicBertFamily = {
    .modelType = "nomic_bert",
    .architecture = "nomic-bert",
    .prefix = "",
    .blocks = "encoder.layers.",
    .names = nomicBertNames,
    .readKeys = readNomicBert,
    .tiesOutput = true,
};

} // namespace tenon::frontends
