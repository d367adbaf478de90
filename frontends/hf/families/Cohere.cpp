#include "frontends/hf/internal/DecoderKeys.h"

namespace tenon::frontends {

static absl::Status readCohere(HfKeys& keys) {
  keys.map("logit_scale", "logit_scale");
  keys.map("attention.norms_heads", "use_qk_norm");
  return readDecoder(keys, WindowedBlocks::None, "hidden_act", "silu",
                     "attention.layer_norm_epsilon", "layer_norm_eps");
}

extern const HfFamily cohereFamily;
constexpr HfFamily cohereFamily = {
    .modelType = "cohere",
    .architecture = "command-r",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readCohere,
    .tiesOutput = true,
    .rotatesHalves = false,
};

} // namespace tenon::frontends
