#include "frontends/hf/internal/DecoderKeys.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/hf/internal/RopeKeys.h"
#include "support/Status.h"

namespace tenon::frontends {

using nlohmann::json;

absl::StatusOr<int64_t> readHeadSize(HfKeys& keys) {
  if (keys.use("head_dim"))
    return keys.size("head_dim");
  TENON_ASSIGN_OR_RETURN(int64_t hidden, keys.size("hidden_size"));
  TENON_ASSIGN_OR_RETURN(int64_t heads, keys.size("num_attention_heads"));
  return hidden / heads;
}

/// `layer_types`, where it is stated, must say what the architecture does.
static absl::Status checkLayerTypes(HfKeys& keys, WindowedBlocks windowed) {
  const json* types = keys.use("layer_types");
  if (!types)
    return absl::OkStatus();
  if (!types->is_array())
    return keys.config().error("layer_types", "a list", *types);
  bool hasWindow = keys.entries().contains("attention.sliding_window");
  for (size_t layer = 0; layer < types->size(); ++layer) {
    bool looksBack = hasWindow && isWindowed(windowed, static_cast<int64_t>(layer));
    std::string_view expected = looksBack ? "sliding_attention" : "full_attention";
    if ((*types)[layer] != expected)
      return keys.config().error(absl::StrFormat("layer_types[%d]", layer),
                                 absl::StrFormat("'%s'", expected), (*types)[layer]);
  }
  return absl::OkStatus();
}

void mapSizes(HfKeys& keys) {
  keys.map("context_length", "max_position_embeddings");
  keys.map("embedding_length", "hidden_size");
  keys.map("block_count", "num_hidden_layers");
  keys.map("feed_forward_length", "intermediate_size");
  keys.map("attention.head_count", "num_attention_heads");
  keys.map("vocab_size", "vocab_size");
}

absl::Status readDecoder(HfKeys& keys, WindowedBlocks windowed, std::string_view activationKey,
                         const json& activation, std::string_view canonicalNormKey,
                         std::string_view normKey) {
  mapSizes(keys);
  keys.map(canonicalNormKey, normKey);
  keys.map("attention.head_count_kv", "num_key_value_heads");
  keys.map("attention.key_length", "head_dim");
  keys.map("attention.value_length", "head_dim");
  const json* usesWindow = keys.use("use_sliding_window");
  const json* window = keys.use("sliding_window");
  if (window && usesWindow && *usesWindow == false)
    window = nullptr;
  if (window && windowed == WindowedBlocks::None)
    return keys.config().error("sliding_window", "to be absent or null", *window);
  if (window)
    keys.set("attention.sliding_window", "sliding_window", *window);
  TENON_RETURN_IF_ERROR(keys.expect(activationKey, activation));
  TENON_RETURN_IF_ERROR(checkLayerTypes(keys, windowed));
  TENON_ASSIGN_OR_RETURN(int64_t headSize, readHeadSize(keys));
  return readRope(keys, headSize, "rope_theta", "partial_rotary_factor");
}

absl::Status readLlama(HfKeys& keys) {
  return readDecoder(keys, WindowedBlocks::None, "hidden_act", "silu");
}

absl::Status readWindowedLlama(HfKeys& keys) {
  return readDecoder(keys, WindowedBlocks::All, "hidden_act", "silu");
}

absl::Status readQwenVl(HfKeys& keys) {
  for (const char* name : {"mrope_section", "mrope_interleaved", "mrope"})
    keys.passRope(name);
  return readLlama(keys);
}

absl::Status readQwenMoe(HfKeys& keys) {
  keys.map("expert_count", "num_experts");
  keys.map("expert_used_count", "num_experts_per_tok");
  keys.map("expert_feed_forward_length", "moe_intermediate_size");
  keys.set("expert_weights_norm", "norm_topk_prob", false);
  keys.map("expert_weights_norm", "norm_topk_prob");
  TENON_RETURN_IF_ERROR(keys.expect("decoder_sparse_step", 1));
  TENON_RETURN_IF_ERROR(keys.expect("mlp_only_layers", json::array()));
  return readDecoder(keys, WindowedBlocks::None, "hidden_act", "silu");
}

TensorChange groupFusedHeads(std::string_view canonical) {
  return canonical.find("attn_qkv.") != canonical.npos ? TensorChange::GroupHeads
                                                       : TensorChange::None;
}

TensorChange addOneToNorms(std::string_view canonical) {
  return canonical.find("norm.") != canonical.npos ? TensorChange::AddOne : TensorChange::None;
}

absl::Status readGemmaScale(HfKeys& keys) {
  TENON_ASSIGN_OR_RETURN(
      double scalar, keys.config().number(keys.config().root(), "", "query_pre_attn_scalar", 256));
  keys.use("query_pre_attn_scalar");
  if (!(scalar > 0))
    return keys.config().error("query_pre_attn_scalar", "a number above 0", absl::StrCat(scalar));
  keys.set("attention.scale", "query_pre_attn_scalar", 1 / std::sqrt(scalar));
  return absl::OkStatus();
}

} // namespace tenon::frontends
