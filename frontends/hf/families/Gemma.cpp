#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static absl::Status readGemma(HfKeys& keys) {
  TENON_RETURN_IF_ERROR(keys.expect("use_bidirectional_attention", false));
  // Files of before transformers 5 have `hidden_act`, which the model's own code passes over.
  keys.use("hidden_act");
  return readDecoder(keys, WindowedBlocks::None, "hidden_activation", "gelu_pytorch_tanh");
}

extern const HfFamily gemmaFamily;
constexpr HfFamily gemmaFamily = {
    .modelType = "gemma",
    .architecture = "gemma",
    .prefix = "model.",
    .blocks = "layers.",
    .names = llamaNames,
    .readKeys = readGemma,
    .tiesOutput = true,
    .changeOf = addOneToNorms,
};

} // namespace tenon::frontends
