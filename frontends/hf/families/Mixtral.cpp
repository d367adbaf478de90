#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static constexpr TensorName mixtralNames[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"block_sparse_moe.gate", "ffn_gate_inp"},
    {"block_sparse_moe.experts.#.w1", "ffn_gate_exps"},
    {"block_sparse_moe.experts.#.w3", "ffn_up_exps"},
    {"block_sparse_moe.experts.#.w2", "ffn_down_exps"},
};

static absl::Status readMixtral(HfKeys& keys) {
  keys.map("expert_count", "num_local_experts");
  keys.map("expert_used_count", "num_experts_per_tok");
  return readDecoder(keys, WindowedBlocks::All, "hidden_act", "silu");
}

extern const HfFamily mixtralFamily;
constexpr HfFamily mixtralFamily = {
    .modelType = "mixtral",
    .architecture = "llama",
    .prefix = "model.",
    .blocks = "layers.",
    .names = mixtralNames,
    .readKeys = readMixtral,
    .tiesOutput = false,
};

} // namespace tenon::frontends
