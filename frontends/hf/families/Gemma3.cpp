#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

/// The base of windowed blocks, and the rotation of the others: `rope_parameters` has an object for each
/// kind of layer; files of before transformers 5 have `rope_local_base_freq`.
static absl::Status readGemma3(HfKeys& keys) {
  keys.map("rope.freq_base_swa", "rope_local_base_freq");
  keys.map("final_logit_softcapping", "final_logit_softcapping");
  TENON_RETURN_IF_ERROR(keys.expect("attn_logit_softcapping", nullptr));
  TENON_RETURN_IF_ERROR(keys.expect("use_bidirectional_attention", false));
  for (const char* pattern : {"sliding_window_pattern", "_sliding_window_pattern"})
    TENON_RETURN_IF_ERROR(keys.expect(pattern, 6));
  TENON_RETURN_IF_ERROR(
      readDecoder(keys, WindowedBlocks::FiveOfSix, "hidden_activation", "gelu_pytorch_tanh"));
  return readGemmaScale(keys);
}

extern const HfFamily gemma3Family;
constexpr HfFamily gemma3Family = {
    .modelType = "gemma3_text",
    .architecture = "gemma3",
    .prefix = "model.",
    .blocks = "layers.",
    .names = gemma2Names,
    .readKeys = readGemma3,
    .tiesOutput = true,
    .changeOf = addOneToNorms,
};

} // namespace tenon::frontends
