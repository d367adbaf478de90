#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static absl::Status readCohere(HfKeys& keys) {
  keys.map("logit_scale", "logit_scale");
  TENON_RETURN_IF_ERROR(keys.expect("use_qk_norm", false));
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
