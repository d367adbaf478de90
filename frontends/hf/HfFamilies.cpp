// The families of Hugging Face's transformers that Tenon knows: names and defaults as in the files
// configuration_<family>.py and modeling_<family>.py, canonical forms as in llama.cpp's converter.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/hf/HfFamily.h"
#include "frontends/hf/internal/RopeKeys.h"
#include "support/Status.h"

namespace tenon::frontends {
namespace {

using nlohmann::json;

constexpr TensorName llamaNames[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate_up_proj", "ffn_up"},
};
constexpr TensorName gemma2Names[] = {
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "post_attention_norm"},
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
};
constexpr TensorName gptNeoxNames[] = {
    {"embed_in", "token_embd"},
    {"final_layer_norm", "output_norm"},
    {"embed_out", "output"},
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
    {"attention", ""}, // `attention.bias`: the causal mask
    {"attention.query_key_value", "attn_qkv"},
    {"attention.dense", "attn_output"},
    {"mlp.dense_h_to_4h", "ffn_up"},
    {"mlp.dense_4h_to_h", "ffn_down"},
};
constexpr TensorName gpt2Names[] = {
    {"wte", "token_embd"},
    {"wpe", "position_embd"},
    {"ln_f", "output_norm"},
    {"lm_head", "output"},
    {"ln_1", "attn_norm"},
    {"ln_2", "ffn_norm"},
    {"attn", ""}, // `attn.bias`: the causal mask
    {"attn.c_attn", "attn_qkv"},
    {"attn.c_proj", "attn_output"},
    {"mlp.c_fc", "ffn_up"},
    {"mlp.c_proj", "ffn_down"},
};

absl::StatusOr<int64_t> readHeadSize(HfKeys& keys) {
  if (keys.use("head_dim"))
    return keys.size("head_dim");
  TENON_ASSIGN_OR_RETURN(int64_t hidden, keys.size("hidden_size"));
  TENON_ASSIGN_OR_RETURN(int64_t heads, keys.size("num_attention_heads"));
  return hidden / heads;
}

/// Which blocks look back `sliding_window` positions only.
enum class Windowed { None, All, Even };

/// `layer_types`, where it is stated, must say what the architecture does.
absl::Status checkLayerTypes(HfKeys& keys, Windowed windowed) {
  const json* types = keys.use("layer_types");
  if (!types)
    return absl::OkStatus();
  if (!types->is_array())
    return keys.config().error("layer_types", "a list", *types);
  bool hasWindow = keys.entries().contains("attention.sliding_window");
  for (size_t layer = 0; layer < types->size(); ++layer) {
    bool isWindowed =
        hasWindow && (windowed == Windowed::All || (windowed == Windowed::Even && layer % 2 == 0));
    std::string_view expected = isWindowed ? "sliding_attention" : "full_attention";
    if ((*types)[layer] != expected)
      return keys.config().error(absl::StrFormat("layer_types[%d]", layer),
                                 absl::StrFormat("'%s'", expected), (*types)[layer]);
  }
  return absl::OkStatus();
}

/// The sizes that most families name alike.
void mapSizes(HfKeys& keys) {
  keys.map("context_length", "max_position_embeddings");
  keys.map("embedding_length", "hidden_size");
  keys.map("block_count", "num_hidden_layers");
  keys.map("feed_forward_length", "intermediate_size");
  keys.map("attention.head_count", "num_attention_heads");
  keys.map("vocab_size", "vocab_size");
}

/// What the families with RMS norms and gated feed-forward layers share.
absl::Status readDecoder(HfKeys& keys, Windowed windowed, std::string_view activationKey,
                         const json& activation) {
  mapSizes(keys);
  keys.map("attention.head_count_kv", "num_key_value_heads");
  keys.map("attention.layer_norm_rms_epsilon", "rms_norm_eps");
  keys.map("attention.key_length", "head_dim");
  keys.map("attention.value_length", "head_dim");
  const json* usesWindow = keys.use("use_sliding_window");
  const json* window = keys.use("sliding_window");
  if (window && usesWindow && *usesWindow == false)
    window = nullptr;
  if (window && windowed == Windowed::None)
    return keys.config().error("sliding_window", "to be absent or null", *window);
  if (window)
    keys.set("attention.sliding_window", "sliding_window", *window);
  TENON_RETURN_IF_ERROR(keys.expect(activationKey, activation));
  TENON_RETURN_IF_ERROR(checkLayerTypes(keys, windowed));
  TENON_ASSIGN_OR_RETURN(int64_t headSize, readHeadSize(keys));
  return readRope(keys, headSize, "rope_theta", "partial_rotary_factor");
}

absl::Status readLlama(HfKeys& keys) {
  return readDecoder(keys, Windowed::None, "hidden_act", "silu");
}

absl::Status readWindowedLlama(HfKeys& keys) {
  return readDecoder(keys, Windowed::All, "hidden_act", "silu");
}

absl::Status readGemma2(HfKeys& keys) {
  keys.map("attn_logit_softcapping", "attn_logit_softcapping");
  keys.map("final_logit_softcapping", "final_logit_softcapping");
  TENON_RETURN_IF_ERROR(
      keys.expect("hidden_act", "gelu_pytorch_tanh")); // `hidden_activation` goes first
  TENON_RETURN_IF_ERROR(keys.expect("use_bidirectional_attention", false));
  TENON_RETURN_IF_ERROR(
      readDecoder(keys, Windowed::Even, "hidden_activation", "gelu_pytorch_tanh"));
  TENON_ASSIGN_OR_RETURN(
      double scalar, keys.config().number(keys.config().root(), "", "query_pre_attn_scalar", 256));
  keys.use("query_pre_attn_scalar");
  if (!(scalar > 0))
    return keys.config().error("query_pre_attn_scalar", "a number above 0", absl::StrCat(scalar));
  keys.set("attention.scale", "query_pre_attn_scalar", 1 / std::sqrt(scalar));
  return absl::OkStatus();
}

TensorChange changeGemma2(std::string_view canonical) {
  return canonical.find("norm.") != canonical.npos ? TensorChange::AddOne : TensorChange::None;
}

absl::Status readGptNeox(HfKeys& keys) {
  mapSizes(keys);
  keys.map("attention.layer_norm_epsilon", "layer_norm_eps");
  keys.set("use_parallel_residual", "use_parallel_residual", true);
  keys.map("use_parallel_residual", "use_parallel_residual");
  TENON_RETURN_IF_ERROR(keys.expect("hidden_act", "gelu"));
  TENON_ASSIGN_OR_RETURN(int64_t headSize, readHeadSize(keys));
  // Files of before transformers 5 may leave the default of a quarter out.
  if (!keys.use("rotary_pct") && !keys.use("rope_parameters"))
    return keys.config().error("rotary_pct", "a number above 0 and at most 1", std::string("none"));
  return readRope(keys, headSize, "rotary_emb_base", "rotary_pct");
}

TensorChange changeGptNeox(std::string_view canonical) {
  return canonical.find("attn_qkv.") != canonical.npos ? TensorChange::GroupHeads
                                                       : TensorChange::None;
}

absl::Status readGpt2(HfKeys& keys) {
  keys.map("context_length", "n_positions");
  keys.map("embedding_length", "n_embd");
  keys.map("block_count", "n_layer");
  keys.map("feed_forward_length", "n_inner");
  keys.map("attention.head_count", "n_head");
  keys.map("attention.layer_norm_epsilon", "layer_norm_epsilon");
  keys.map("vocab_size", "vocab_size");
  if (!keys.entries().contains("feed_forward_length")) {
    TENON_ASSIGN_OR_RETURN(int64_t hidden, keys.size("n_embd"));
    keys.set("feed_forward_length", "n_inner", 4 * hidden);
  }
  TENON_RETURN_IF_ERROR(keys.expect("activation_function", "gelu_new"));
  TENON_RETURN_IF_ERROR(keys.expect("scale_attn_weights", true));
  TENON_RETURN_IF_ERROR(keys.expect("scale_attn_by_inverse_layer_idx", false));
  return keys.expect("add_cross_attention", false);
}

/// Linear layers of GPT-2 are `Conv1D`s, whose matrices lie the other way round.
TensorChange changeGpt2(std::string_view canonical) {
  bool isMatrix = canonical.starts_with("blk.") && canonical.ends_with(".weight") &&
                  canonical.find("norm.") == canonical.npos;
  return isMatrix ? TensorChange::Transpose : TensorChange::None;
}

constexpr HfFamily families[] = {
    {"gemma2", "gemma2", "model.", "layers.", gemma2Names, readGemma2, true, changeGemma2},
    {"gpt2", "gpt2", "transformer.", "h.", gpt2Names, readGpt2, true, changeGpt2},
    {"gpt_neox", "gptneox", "gpt_neox.", "layers.", gptNeoxNames, readGptNeox, false,
     changeGptNeox},
    {"llama", "llama", "model.", "layers.", llamaNames, readLlama, false},
    {"mistral", "llama", "model.", "layers.", llamaNames, readWindowedLlama, false},
    {"phi3", "phi3", "model.", "layers.", llamaNames, readWindowedLlama, false},
    {"qwen2", "qwen2", "model.", "layers.", llamaNames, readLlama, false},
    {"qwen3", "qwen3", "model.", "layers.", llamaNames, readLlama, false},
};

} // namespace

std::span<const HfFamily> allHfFamilies() { return families; }

} // namespace tenon::frontends
