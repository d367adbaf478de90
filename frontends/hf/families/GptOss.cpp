#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr auto gptOssNames = joinNames(
    {
        {"self_attn.sinks", "attn_sinks.weight"},
        {"post_attention_layernorm", "post_attention_norm"},
        {"input_layernorm", "attn_norm"},
        {"mlp.router", "ffn_gate_inp"},
        {"mlp.experts.gate_up_proj", "ffn_gate_up_exps.weight"},
        {"mlp.experts.gate_up_proj_bias", "ffn_gate_up_exps.bias"},
        {"mlp.experts.gate_up_proj_blocks", "ffn_gate_up_exps.blocks"},
        {"mlp.experts.gate_up_proj_scales", "ffn_gate_up_exps.scales"},
        {"mlp.experts.down_proj", "ffn_down_exps.weight"},
        {"mlp.experts.down_proj_bias", "ffn_down_exps.bias"},
        {"mlp.experts.down_proj_blocks", "ffn_down_exps.blocks"},
        {"mlp.experts.down_proj_scales", "ffn_down_exps.scales"},
    },
    endNames, attentionNames);

static absl::Status readGptOss(HfKeys& keys) {
  keys.map("expert_count", "num_local_experts");
  keys.map("expert_used_count", "num_experts_per_tok");
  TENON_RETURN_IF_ERROR(keys.expect("swiglu_limit", 7.0));
  // Other names of keys that are there, too.
  for (const char* repeated : {"experts_per_token", "initial_context_length", "num_experts"})
    keys.use(repeated);
  return readDecoder(keys, WindowedBlocks::Even, "hidden_act", "silu");
}

/// Matrices of experts that are not quantised lie the other way round.
static TensorChange changeGptOss(std::string_view canonical) {
  return canonical.ends_with("_exps.weight") ? TensorChange::Transpose : TensorChange::None;
}

extern const HfFamily gptOssFamily;
constexpr HfFamily gptOssFamily = {
    .modelType = "gpt_oss",
    .architecture = "gpt-oss",
    .prefix = "model.",
    .blocks = "layers.",
    .names = gptOssNames,
    .readKeys = readGptOss,
    .tiesOutput = false,
    .changeOf = changeGptOss,
    .alternating = AlternatingRows{"ffn_gate_up_exps", "ffn_gate_exps", "ffn_up_exps"},
};

} // namespace tenon::frontends
