#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr TensorName names[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"mlp.c_fc", "ffn_up"},
    {"mlp.c_proj", "ffn_down"},
};

static absl::Status readStarcoder2(HfKeys& keys) {
  keys.use("use_bias"); // the tensors show it
  return readDecoder(keys, WindowedBlocks::All, "hidden_act", "gelu_pytorch_tanh",
                     "attention.layer_norm_epsilon", "norm_epsilon");
}

extern const HfFamily starcoder2Family;
constexpr HfFamily starcoder2Family = {
    .modelType = "starcoder2",
    .architecture = "starcoder2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = names,
    .readKeys = readStarcoder2,
    .tiesOutput = true,
};

} // namespace tenon::frontends
