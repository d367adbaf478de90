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

static constexpr std::string_view gemma3Outer[] = {"gemma3"};

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
    .nestedIn = gemma3Outer,
    .defaults =
        R"({"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26, )"
        R"("num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, )"
        R"("max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "query_pre_attn_scalar": 256, )"
        R"("sliding_window": 4096, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0})",
};

} // namespace tenon::frontends
