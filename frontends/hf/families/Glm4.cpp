#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr auto glm4Names = joinNames(
    {
        {"input_layernorm", "attn_norm"},
        {"post_self_attn_layernorm", "post_attention_norm"},
        {"post_attention_layernorm", "ffn_norm"},
        {"post_mlp_layernorm", "post_ffw_norm"},
        {"mlp.gate_up_proj", "ffn_up"},
        {"mlp.down_proj", "ffn_down"},
    },
    endNames, attentionNames);

static absl::Status readGlm4(HfKeys& keys) {
  // Without either the model's own code takes a half.
  if (!keys.use("partial_rotary_factor") && !keys.use("rope_parameters"))
    return keys.config().error("partial_rotary_factor", "a number above 0 and at most 1",
                               std::string("none"));
  return readLlama(keys);
}

extern const HfFamily glm4Family;
constexpr HfFamily glm4Family = {
    .modelType = "glm4",
    .architecture = "glm4",
    .prefix = "model.",
    .blocks = "layers.",
    .names = glm4Names,
    .readKeys = readGlm4,
    .tiesOutput = false,
    .rotatesHalves = false,
};

} // namespace tenon::frontends
