#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr TensorName names[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
    {"post_attention_layernorm", "post_attention_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
};

extern const HfFamily olmo2Family;
constexpr HfFamily olmo2Family = {
    .modelType = "olmo2",
    .architecture = "olmo2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = names,
    .readKeys = readLlama,
    .tiesOutput = false,
};

} // namespace tenon::frontends
