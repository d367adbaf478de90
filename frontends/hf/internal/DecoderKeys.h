#ifndef TENON_FRONTENDS_HF_INTERNAL_DECODERKEYS_H
#define TENON_FRONTENDS_HF_INTERNAL_DECODERKEYS_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "frontends/hf/HfFamily.h"
#include "frontends/hf/HfKeys.h"
#include "frontends/models/WindowedBlocks.h"

/// What families share. Names and defaults as in the files configuration_<family>.py and
/// modeling_<family>.py of Hugging Face's transformers, canonical forms as in llama.cpp's converter.
namespace tenon::frontends {

/// The names of tables that families share, one after the other, then `own`.
template <size_t count, size_t... counts>
constexpr auto joinNames(const TensorName (&own)[count],
                         const std::array<TensorName, counts>&... tables) {
  std::array<TensorName, (counts + ... + count)> names;
  auto end = names.begin();
  ((end = std::ranges::copy(tables, end).out), ...);
  std::ranges::copy(own, end);
  return names;
}

/// Embedding, last norm and output layer.
inline constexpr auto endNames = joinNames({
    {"embed_tokens", "token_embd"},
    {"norm", "output_norm"},
    {"lm_head", "output"},
});

/// The norms in front of the halves of a block.
inline constexpr auto normNames = joinNames({
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
});

inline constexpr auto projectionNames = joinNames({
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
});

inline constexpr auto attentionNames =
    joinNames({{"self_attn.o_proj", "attn_output"}}, projectionNames);

inline constexpr auto headNormNames = joinNames({
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
});

inline constexpr auto gatedMlpNames = joinNames({
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
});

/// The feed-forward layers of GPT-NeoX and BLOOM.
inline constexpr auto denseMlpNames = joinNames({
    {"mlp.dense_h_to_4h", "ffn_up"},
    {"mlp.dense_4h_to_h", "ffn_down"},
});

/// Tensors of Llama, and of what followed it.
inline constexpr auto llamaNames = joinNames(
    {
        {"self_attn.qkv_proj", "attn_qkv"},
        {"mlp.gate_up_proj", "ffn_up"},
    },
    endNames, normNames, attentionNames, headNormNames, gatedMlpNames);

/// Tensors of Llama's blocks beside a mixture of experts, as Qwen and Allen AI name them.
inline constexpr auto qwenMoeNames = joinNames(
    {
        {"mlp.gate", "ffn_gate_inp"},
        {"mlp.experts.#.gate_proj", "ffn_gate_exps"},
        {"mlp.experts.#.up_proj", "ffn_up_exps"},
        {"mlp.experts.#.down_proj", "ffn_down_exps"},
        {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
        {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
        {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
        {"mlp.shared_expert.down_proj", "ffn_down_shexp"},
    },
    endNames, normNames, attentionNames, headNormNames);

/// Tensors of OLMo 2, whose norms stand after the halves of a block.
inline constexpr auto olmo2Names = joinNames(
    {
        {"post_attention_layernorm", "post_attention_norm"},
        {"post_feedforward_layernorm", "post_ffw_norm"},
    },
    endNames, attentionNames, headNormNames, gatedMlpNames);

/// Tensors of Gemma 2 and 3, whose blocks have four norms.
inline constexpr auto gemma2Names = joinNames(
    {
        {"input_layernorm", "attn_norm"},
        {"pre_feedforward_layernorm", "ffn_norm"},
    },
    olmo2Names);

/// `head_dim`, or the even share of the hidden size.
absl::StatusOr<int64_t> readHeadSize(HfKeys& keys);

/// The sizes that most families name alike.
void mapSizes(HfKeys& keys);

/// Sizes, heads, window, activation and rotation of a decoder; `normKey` and `canonicalNormKey` name the
/// epsilon of its norms. Refuses a window where `windowed` has none, and `layer_types` that are not those
/// of `windowed`.
absl::Status readDecoder(HfKeys& keys, WindowedBlocks windowed, std::string_view activationKey,
                         const nlohmann::json& activation,
                         std::string_view canonicalNormKey = "attention.layer_norm_rms_epsilon",
                         std::string_view normKey = "rms_norm_eps");

/// Of Llama and what followed it without a window.
absl::Status readLlama(HfKeys& keys);
/// The same with a window in all blocks, where config.json states one.
absl::Status readWindowedLlama(HfKeys& keys);

/// Of Qwen's text models beside images: the sections of their rotation tell the axes of images apart, of
/// texts all have the same position.
absl::Status readQwenVl(HfKeys& keys);

/// What Qwen's and Allen AI's mixtures of experts share, which all blocks have.
absl::Status readQwenMoe(HfKeys& keys);

/// Q, K and V of each head to all of each, in GPT-NeoX and BLOOM.
TensorChange groupFusedHeads(std::string_view canonical);
/// 1 + x for norms, as GGUF stores those of the Gemma family.
TensorChange addOneToNorms(std::string_view canonical);
/// `attention.scale` from Gemma's `query_pre_attn_scalar`.
absl::Status readGemmaScale(HfKeys& keys);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_INTERNAL_DECODERKEYS_H
