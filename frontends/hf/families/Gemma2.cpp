#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static absl::Status readGemma2(HfKeys& keys) {
  keys.map("attn_logit_softcapping", "attn_logit_softcapping");
  keys.map("final_logit_softcapping", "final_logit_softcapping");
  TENON_RETURN_IF_ERROR(
      keys.expect("hidden_act", "gelu_pytorch_tanh")); // `hidden_activation` goes first
  TENON_RETURN_IF_ERROR(keys.expect("use_bidirectional_attention", false));
  TENON_RETURN_IF_ERROR(
      readDecoder(keys, WindowedBlocks::Even, "hidden_activation", "gelu_pytorch_tanh"));
  return readGemmaScale(keys);
}

extern const HfFamily gemma2Family;
constexpr HfFamily gemma2Family = {
    .modelType = "gemma2",
    .architecture = "gemma2",
    .prefix = "model.",
    .blocks = "layers.",
    .names = gemma2Names,
    .readKeys = readGemma2,
    .tiesOutput = true,
    .changeOf = addOneToNorms,
};

} // namespace tenon::frontends
