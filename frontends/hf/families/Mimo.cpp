#include "frontends/hf/internal/DecoderKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

/// The names of configuration_mimo.py and modeling_mimo.py beside the model's weights.
static constexpr auto mimoNames = joinNames(
    {
        {"mtp_layers.0.token_layernorm", "mtp_token_norm"},
        {"mtp_layers.0.hidden_layernorm", "mtp_hidden_norm"},
        {"mtp_layers.0.input_proj", "mtp_input"},
        {"mtp_layers.0.final_layernorm", "mtp_output_norm"},
        {"mtp_layers.0.input_layernorm", "mtp_attn_norm"},
        {"mtp_layers.0.post_attention_layernorm", "mtp_ffn_norm"},
        {"mtp_layers.0.self_attn.q_proj", "mtp_attn_q"},
        {"mtp_layers.0.self_attn.k_proj", "mtp_attn_k"},
        {"mtp_layers.0.self_attn.v_proj", "mtp_attn_v"},
        {"mtp_layers.0.self_attn.o_proj", "mtp_attn_output"},
        {"mtp_layers.0.mlp.gate_proj", "mtp_ffn_gate"},
        {"mtp_layers.0.mlp.up_proj", "mtp_ffn_up"},
        {"mtp_layers.0.mlp.down_proj", "mtp_ffn_down"},
    },
    llamaNames);

static absl::Status readMimo(HfKeys& keys) {
  keys.map("nextn_predict_layers", "num_nextn_predict_layers");
  TENON_RETURN_IF_ERROR(keys.expect("attention_bias", true));
  return readLlama(keys);
}

extern const HfFamily mimoFamily;
constexpr HfFamily mimoFamily = {
    .modelType = "mimo",
    .architecture = "mimo",
    .prefix = "model.",
    .blocks = "layers.",
    .names = mimoNames,
    .readKeys = readMimo,
    .tiesOutput = false,
    .defaults =
        R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32, )"
        R"("num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 32768, )"
        R"("rms_norm_eps": 1e-6, "use_sliding_window": false, "num_nextn_predict_layers": 0})",
};

} // namespace tenon::frontends
