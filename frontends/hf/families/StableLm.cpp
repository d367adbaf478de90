#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static absl::Status readStableLm(HfKeys& keys) {
  keys.set("use_parallel_residual", "use_parallel_residual", false);
  keys.map("use_parallel_residual", "use_parallel_residual");
  keys.use("use_qkv_bias"); // the tensors show it
  TENON_RETURN_IF_ERROR(keys.expect("qk_layernorm", false));
  return readDecoder(keys, WindowedBlocks::None, "hidden_act", "silu",
                     "attention.layer_norm_epsilon", "layer_norm_eps");
}

extern const HfFamily stableLmFamily;
constexpr HfFamily stableLmFamily = {
    .modelType = "stablelm",
    .architecture = "stablelm",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readStableLm,
    .tiesOutput = false,
};

} // namespace tenon::frontends
