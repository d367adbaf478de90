#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr auto names = joinNames(
    {
        {"embed_tokens", "token_embd"},
        {"final_layernorm", "output_norm"},
        {"lm_head", "output"},
        {"input_layernorm", "attn_norm"},
        {"self_attn.dense", "attn_output"},
        {"mlp.fc1", "ffn_up"},
        {"mlp.fc2", "ffn_down"},
    },
    projectionNames);

static absl::Status readPhi(HfKeys& keys) {
  TENON_RETURN_IF_ERROR(keys.expect("qk_layernorm", false));
  return readDecoder(keys, WindowedBlocks::None, "hidden_act", "gelu_new",
                     "attention.layer_norm_epsilon", "layer_norm_eps");
}

extern const HfFamily phiFamily;
constexpr HfFamily phiFamily = {
    .modelType = "phi",
    .architecture = "phi2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = names,
    .readKeys = readPhi,
    .tiesOutput = false,
};

} // namespace tenon::frontends
