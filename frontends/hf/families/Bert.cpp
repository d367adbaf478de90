#include "frontends/hf/internal/DecoderKeys.h"
#include "frontends/hf/internal/EncoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

/// Old checkpoints call what scales and shifts a norm `gamma` and `beta`; heads of the training and
/// of classes are left out.
static constexpr TensorName bertNames[] = {
    {"embeddings.word_embeddings", "token_embd"},
    {"embeddings.position_embeddings", "position_embd"},
    {"embeddings.token_type_embeddings", "token_types"},
    {"embeddings.LayerNorm", "token_embd_norm"},
    {"embeddings.LayerNorm.gamma", "token_embd_norm.weight"},
    {"embeddings.LayerNorm.beta", "token_embd_norm.bias"},
    {"embeddings", ""}, // `position_ids`
    {"attention.self.query", "attn_q"},
    {"attention.self.key", "attn_k"},
    {"attention.self.value", "attn_v"},
    {"attention.output.dense", "attn_output"},
    {"attention.output.LayerNorm.gamma", "attn_output_norm.weight"},
    {"attention.output.LayerNorm.beta", "attn_output_norm.bias"},
    {"attention.output.LayerNorm", "attn_output_norm"},
    {"intermediate.dense", "ffn_up"},
    {"output.dense", "ffn_down"},
    {"output.LayerNorm.gamma", "layer_output_norm.weight"},
    {"output.LayerNorm.beta", "layer_output_norm.bias"},
    {"output.LayerNorm", "layer_output_norm"},
    {"pooler.dense", ""},
    {"cls.predictions", ""},
    {"cls.predictions.decoder", ""},
    {"cls.predictions.transform.dense", ""},
    {"cls.predictions.transform.LayerNorm", ""},
    {"cls.seq_relationship", ""},
};

static absl::Status readBert(HfKeys& keys) {
  mapSizes(keys);
  keys.map("attention.layer_norm_epsilon", "layer_norm_eps");
  for (const char* unused :
       {"attention_probs_dropout_prob", "hidden_dropout_prob", "type_vocab_size", "directionality"})
    keys.use(unused);
  TENON_RETURN_IF_ERROR(keys.expect("hidden_act", "gelu"));
  TENON_RETURN_IF_ERROR(keys.expect("position_embedding_type", "absolute"));
  TENON_RETURN_IF_ERROR(keys.expect("is_decoder", false));
  TENON_RETURN_IF_ERROR(keys.expect("add_cross_attention", false));
  return readPooling(keys);
}

extern const HfFamily bertFamily;
constexpr HfFamily bertFamily = {
    .modelType = "bert",
    .architecture = "bert",
    .prefix = "bert.",
    .blocks = "encoder.layer.",
    .names = bertNames,
    .readKeys = readBert,
    .tiesOutput = true,
};

} // namespace tenon::frontends
