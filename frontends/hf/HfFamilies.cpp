// The families of Hugging Face's transformers that Tenon knows: names and defaults as in the files
// configuration_<family>.py and modeling_<family>.py, canonical forms as in llama.cpp's converter.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/hf/HfFamily.h"
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

/// A positive integer of config.json that other keys follow from.
absl::StatusOr<int64_t> readSize(HfKeys& keys, std::string_view key) {
  constexpr int64_t most = int64_t(1) << 28; // as for all sizes of models
  const json* value = keys.use(key);
  if (!value || !value->is_number_unsigned() || value->get<uint64_t>() < 1 ||
      value->get<uint64_t>() > most)
    return keys.config().error(key, absl::StrFormat("an integer from 1 to %d", most),
                               value ? describeJson(*value) : "none");
  return static_cast<int64_t>(value->get<uint64_t>());
}

absl::StatusOr<int64_t> readHeadSize(HfKeys& keys) {
  if (keys.use("head_dim"))
    return readSize(keys, "head_dim");
  TENON_ASSIGN_OR_RETURN(int64_t hidden, readSize(keys, "hidden_size"));
  TENON_ASSIGN_OR_RETURN(int64_t heads, readSize(keys, "num_attention_heads"));
  return hidden / heads;
}

/// The object of rope parameters: `rope_parameters` of transformers 5, `rope_scaling` of earlier
/// ones, beside which the base stands in a key of its own.
class RopeKeys {
public:
  RopeKeys(HfKeys& keys, int64_t headSize) : keys(keys), file(keys.config()), headSize(headSize) {}

  /// `baseKey` and `shareKey` are the top-level names that the family uses.
  absl::Status read(std::string_view baseKey, std::string_view shareKey) {
    for (std::string_view key : {"rope_parameters", "rope_scaling"})
      if (const json* found = keys.use(key); found && !object) {
        if (!found->is_object())
          return file.error(key, "an object", *found);
        place = absl::StrCat(std::string(key), ".");
        object = found;
      }
    TENON_RETURN_IF_ERROR(readBase(baseKey));
    TENON_RETURN_IF_ERROR(readShare(shareKey));
    if (!object)
      return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(std::string type, member("type") ? text("type") : text("rope_type"));
    member("rope_type"); // where both are given
    TENON_RETURN_IF_ERROR(readType(type));
    for (const auto& [key, value] : object->items())
      if (!value.is_null() && !std::ranges::count(known, key))
        return file.error(place + key, absl::StrFormat("to be absent for type '%s'", type), value);
    return absl::OkStatus();
  }

private:
  const json* member(std::string_view key) {
    known.emplace_back(key);
    return object ? JsonFile::find(*object, key) : nullptr;
  }
  absl::StatusOr<std::string> text(std::string_view key) {
    known.emplace_back(key);
    return file.text(*object, place, key, "default");
  }
  /// A finite number above 0.
  absl::StatusOr<double> positive(std::string_view key, double otherwise) {
    known.emplace_back(key);
    TENON_ASSIGN_OR_RETURN(double value, file.number(*object, place, key, otherwise));
    if (!(value > 0) || !std::isfinite(value))
      return file.error(place + std::string(key), "a finite number above 0", absl::StrCat(value));
    return value;
  }
  absl::Status readBase(std::string_view baseKey) {
    keys.map("rope.freq_base", baseKey);
    if (const json* base = member("rope_theta"))
      keys.set("rope.freq_base", place + "rope_theta", *base);
    return absl::OkStatus();
  }
  absl::Status readShare(std::string_view shareKey) {
    std::string stored(shareKey);
    const json* share = keys.use(shareKey);
    if (const json* own = member("partial_rotary_factor")) {
      share = own;
      stored = place + "partial_rotary_factor";
    }
    double part = 1;
    if (share) {
      if (!share->is_number() || !(share->get<double>() > 0) || share->get<double>() > 1)
        return file.error(stored, "a number above 0 and at most 1", *share);
      part = share->get<double>();
    }
    constexpr int64_t most = 1 << 16; // as for all sizes of heads
    rotarySize = static_cast<int64_t>(static_cast<double>(headSize) * part);
    if (rotarySize > most)
      return file.error(stored, absl::StrFormat("at most %d rotated elements of a head", most),
                        absl::StrCat(rotarySize));
    keys.set("rope.dimension_count", stored, rotarySize);
    return absl::OkStatus();
  }
  absl::Status readType(const std::string& type) {
    if (type == "default")
      return absl::OkStatus();
    if (type == "linear") {
      TENON_ASSIGN_OR_RETURN(double factor, positive("factor", 1));
      keys.set("rope.scaling.type", place + "rope_type", "linear");
      keys.set("rope.scaling.factor", place + "factor", factor);
      return absl::OkStatus();
    }
    if (type == "llama3")
      return readLlama3();
    if (type == "yarn")
      return readYarn();
    if (type == "longrope" || type == "su")
      return readLongRope();
    return file.error(place + "rope_type", "'default', 'linear', 'llama3', 'longrope' or 'yarn'",
                      json(type));
  }
  /// The positions that the model was first trained for.
  absl::StatusOr<double> originalContext() {
    const json* context = keys.use("max_position_embeddings");
    double all = context && context->is_number() ? context->get<double>() : 1;
    if (const json* top = keys.use("original_max_position_embeddings"); top && top->is_number())
      all = top->get<double>();
    return positive("original_max_position_embeddings", all);
  }
  absl::StatusOr<double> base() {
    auto found = keys.entries().find("rope.freq_base");
    double value = 10000;
    if (found != keys.entries().end())
      value = found->second.value.is_number() ? found->second.value.get<double>() : 0;
    if (!(value > 1) || !std::isfinite(value))
      return file.error(found->second.stored, "a finite number above 1", found->second.value);
    return value;
  }

  /// Meta's scaling of Llama 3.1 (`_compute_llama3_parameters` of transformers) as GGUF has it: a
  /// divisor for each pair.
  absl::Status readLlama3() {
    TENON_ASSIGN_OR_RETURN(double factor, positive("factor", 8));
    TENON_ASSIGN_OR_RETURN(double low, positive("low_freq_factor", 1));
    TENON_ASSIGN_OR_RETURN(double high, positive("high_freq_factor", 4));
    TENON_ASSIGN_OR_RETURN(double original, originalContext());
    TENON_ASSIGN_OR_RETURN(double theta, base());
    if (high <= low)
      return file.error(place + "high_freq_factor", absl::StrFormat("more than %g", low),
                        absl::StrCat(high));
    std::vector<float> divisors;
    for (int64_t pair = 0; pair < rotarySize / 2; ++pair) {
      double exponent = 2.0 * static_cast<double>(pair) / static_cast<double>(rotarySize);
      double wavelength = 2 * std::numbers::pi * std::pow(theta, exponent);
      double smooth = std::clamp((original / wavelength - low) / (high - low), 0.0, 1.0);
      divisors.push_back(static_cast<float>(1 / ((1 - smooth) / factor + smooth)));
    }
    keys.addTensor("rope_freqs.weight", std::move(divisors));
    return absl::OkStatus();
  }

  /// Without a stated factor of attention the canonical form has the same, 1 + 0.1 · ln factor.
  absl::Status readYarn() {
    TENON_ASSIGN_OR_RETURN(double factor, positive("factor", 1));
    TENON_ASSIGN_OR_RETURN(double original, originalContext());
    TENON_ASSIGN_OR_RETURN(double fast, positive("beta_fast", 32));
    TENON_ASSIGN_OR_RETURN(double slow, positive("beta_slow", 1));
    double attention = 1 + 0.1 * std::log(factor);
    TENON_ASSIGN_OR_RETURN(double stated, positive("attention_factor", attention));
    keys.set("rope.scaling.type", place + "rope_type", "yarn");
    keys.set("rope.scaling.factor", place + "factor", factor);
    keys.set("rope.scaling.original_context_length", place + "original_max_position_embeddings",
             static_cast<uint64_t>(std::min(original, 0x1p40)));
    keys.set("rope.scaling.yarn_beta_fast", place + "beta_fast", fast);
    keys.set("rope.scaling.yarn_beta_slow", place + "beta_slow", slow);
    keys.set("rope.scaling.attn_factor", place + "attention_factor", stated / attention);
    return absl::OkStatus();
  }

  absl::Status readFactors(std::string_view key, std::string_view canonical) {
    const json* list = member(key);
    std::vector<float> divisors;
    bool isList = list && list->is_array() &&
                  static_cast<int64_t>(list->size()) == rotarySize / 2 &&
                  std::ranges::all_of(*list, [](const json& value) { return value.is_number(); });
    if (!isList)
      return file.error(place + std::string(key),
                        absl::StrFormat("a list of %d numbers", rotarySize / 2),
                        list ? describeJson(*list) : "none");
    for (const json& value : *list)
      divisors.push_back(value.get<float>());
    keys.addTensor(canonical, std::move(divisors));
    return absl::OkStatus();
  }

  absl::Status readLongRope() {
    TENON_RETURN_IF_ERROR(readFactors("short_factor", "rope_factors_short.weight"));
    TENON_RETURN_IF_ERROR(readFactors("long_factor", "rope_factors_long.weight"));
    TENON_ASSIGN_OR_RETURN(int64_t context, readSize(keys, "max_position_embeddings"));
    TENON_ASSIGN_OR_RETURN(double original, originalContext());
    TENON_ASSIGN_OR_RETURN(double scale,
                           positive("factor", static_cast<double>(context) / original));
    double attention = scale > 1 ? std::sqrt(1 + std::log(scale) / std::log(original)) : 1;
    TENON_ASSIGN_OR_RETURN(attention, positive("attention_factor", attention));
    keys.set("rope.scaling.type", place + "rope_type", "longrope");
    keys.set("rope.scaling.original_context_length", place + "original_max_position_embeddings",
             static_cast<uint64_t>(std::min(original, 0x1p40)));
    keys.set("rope.scaling.attn_factor", place + "attention_factor", attention);
    return absl::OkStatus();
  }

  HfKeys& keys;
  const JsonFile& file;
  int64_t headSize;
  int64_t rotarySize = 0;
  const json* object = nullptr;
  std::string place;
  std::vector<std::string> known;
};

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

/// What the families with RMS norms and gated feed-forward layers share.
absl::Status readDecoder(HfKeys& keys, Windowed windowed, std::string_view activationKey,
                         const json& activation) {
  keys.map("context_length", "max_position_embeddings");
  keys.map("embedding_length", "hidden_size");
  keys.map("block_count", "num_hidden_layers");
  keys.map("feed_forward_length", "intermediate_size");
  keys.map("attention.head_count", "num_attention_heads");
  keys.map("attention.head_count_kv", "num_key_value_heads");
  keys.map("attention.layer_norm_rms_epsilon", "rms_norm_eps");
  keys.map("attention.key_length", "head_dim");
  keys.map("attention.value_length", "head_dim");
  keys.map("vocab_size", "vocab_size");
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
  return RopeKeys(keys, headSize).read("rope_theta", "partial_rotary_factor");
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
  keys.map("context_length", "max_position_embeddings");
  keys.map("embedding_length", "hidden_size");
  keys.map("block_count", "num_hidden_layers");
  keys.map("feed_forward_length", "intermediate_size");
  keys.map("attention.head_count", "num_attention_heads");
  keys.map("attention.layer_norm_epsilon", "layer_norm_eps");
  keys.map("vocab_size", "vocab_size");
  keys.set("use_parallel_residual", "use_parallel_residual", true);
  keys.map("use_parallel_residual", "use_parallel_residual");
  TENON_RETURN_IF_ERROR(keys.expect("hidden_act", "gelu"));
  TENON_ASSIGN_OR_RETURN(int64_t headSize, readHeadSize(keys));
  // Files of before transformers 5 may leave the default of a quarter out.
  if (!keys.use("rotary_pct") && !keys.use("rope_parameters"))
    return keys.config().error("rotary_pct", "a number above 0 and at most 1", std::string("none"));
  return RopeKeys(keys, headSize).read("rotary_emb_base", "rotary_pct");
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
    TENON_ASSIGN_OR_RETURN(int64_t hidden, readSize(keys, "n_embd"));
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
