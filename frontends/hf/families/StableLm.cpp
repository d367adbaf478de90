#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

/// Each head has a norm of its own.
static constexpr auto stableLmNames = joinNames(
    {
        {"self_attn.q_layernorm.norms.#", "attn_q_norm"},
        {"self_attn.k_layernorm.norms.#", "attn_k_norm"},
    },
    endNames, normNames, attentionNames, gatedMlpNames);

static absl::Status readStableLm(HfKeys& keys) {
  keys.set("use_parallel_residual", "use_parallel_residual", false);
  keys.map("use_parallel_residual", "use_parallel_residual");
  keys.use("use_qkv_bias"); // the tensors show it
  keys.map("attention.norms_heads", "qk_layernorm");
  return readDecoder(keys, WindowedBlocks::None, "hidden_act", "silu",
                     "attention.layer_norm_epsilon", "layer_norm_eps");
}

extern const HfFamily stableLmFamily;
constexpr HfFamily stableLmFamily = {
    .modelType = "stablelm",
    .architecture = "stablelm",
    .prefix = "model.",
    .blocks = "layers.",
    .names = stableLmNames,
    .readKeys = readStableLm,
    .tiesOutput = false,
};

} // namespace tenon::frontends
