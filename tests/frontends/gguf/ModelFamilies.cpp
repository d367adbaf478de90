#include "tests/frontends/gguf/ModelFile.h"

namespace tenon::frontends {

/// `base` under another name, keys included.
static ModelFile rename(const ModelFile& base, const std::string& from, const std::string& to) {
  ModelFile model{.keys = {}, .tensors = base.tensors};
  for (const auto& [key, value] : base.keys)
    model.keys[key.starts_with(from + ".") ? to + key.substr(from.size()) : key] = value;
  model.keys["general.architecture"] = to;
  return model;
}

static constexpr const char* prefixes[] = {"blk.0.", "blk.1."};

ModelFile ModelFile::qwen2() {
  ModelFile model = rename(llama(), "llama", "qwen2");
  for (std::string block : prefixes) {
    model.tensors[block + "attn_q.bias"] = {{8}};
    model.tensors[block + "attn_k.bias"] = {{4}};
    model.tensors[block + "attn_v.bias"] = {{4}};
  }
  return model;
}

ModelFile ModelFile::qwen3() {
  ModelFile model = rename(llama(), "llama", "qwen3");
  for (std::string block : prefixes) {
    model.tensors[block + "attn_q_norm.weight"] = {{2}};
    model.tensors[block + "attn_k_norm.weight"] = {{2}};
  }
  return model;
}

ModelFile ModelFile::qwen3Moe() {
  ModelFile model = rename(qwen3(), "qwen3", "qwen3moe");
  model.keys["qwen3moe.expert_count"] = 4u;
  model.keys["qwen3moe.expert_used_count"] = 2u;
  model.keys["qwen3moe.expert_feed_forward_length"] = 6u;
  for (std::string block : prefixes) {
    for (const char* name : {"ffn_gate", "ffn_up", "ffn_down"})
      model.tensors.erase(block + name + ".weight");
    model.tensors[block + "ffn_gate_inp.weight"] = {{4, 8}};
    model.tensors[block + "ffn_gate_exps.weight"] = {{4, 6, 8}};
    model.tensors[block + "ffn_up_exps.weight"] = {{4, 6, 8}};
    model.tensors[block + "ffn_down_exps.weight"] = {{4, 8, 6}};
  }
  return model;
}

ModelFile ModelFile::gpt2() {
  ModelFile model = rename(gptNeox(), "gptneox", "gpt2");
  model.keys.erase("gpt2.use_parallel_residual");
  model.keys.erase("gpt2.rope.dimension_count");
  model.tensors.erase("output.weight");
  model.tensors["position_embd.weight"] = {{16, 8}};
  return model;
}

ModelFile ModelFile::bloom() {
  ModelFile model = rename(gpt2(), "gpt2", "bloom");
  model.tensors.erase("position_embd.weight");
  model.tensors["token_embd_norm.weight"] = {{8}};
  model.tensors["token_embd_norm.bias"] = {{8}};
  return model;
}

ModelFile ModelFile::mpt() {
  ModelFile model = rename(gpt2(), "gpt2", "mpt");
  model.tensors.erase("position_embd.weight");
  std::erase_if(model.tensors, [](const auto& tensor) { return tensor.first.ends_with(".bias"); });
  model.keys["mpt.attention.max_alibi_bias"] = 8.0f;
  model.keys["mpt.attention.clamp_kqv"] = 6.0f;
  return model;
}

ModelFile ModelFile::phi3() {
  ModelFile model = rename(llama(), "llama", "phi3");
  model.keys["phi3.attention.sliding_window"] = 6u;
  model.keys["phi3.rope.scaling.original_context_length"] = 8u;
  model.tensors["rope_factors_long.weight"] = {{1}, "f32", {2.0}};
  model.tensors["rope_factors_short.weight"] = {{1}, "f32", {1.5}};
  for (std::string block : prefixes) {
    for (const char* name : {"attn_q", "attn_k", "attn_v", "ffn_gate"})
      model.tensors.erase(block + name + ".weight");
    model.tensors[block + "attn_qkv.weight"] = {{16, 8}};
    model.tensors[block + "ffn_up.weight"] = {{64, 8}};
  }
  return model;
}

ModelFile ModelFile::gemma2() {
  ModelFile model = rename(llama(), "llama", "gemma2");
  model.tensors.erase("output.weight");
  model.keys["gemma2.attention.sliding_window"] = 6u;
  model.keys["gemma2.attn_logit_softcapping"] = 40.0f;
  model.keys["gemma2.final_logit_softcapping"] = 20.0f;
  for (std::string block : prefixes) {
    model.tensors[block + "post_attention_norm.weight"] = {{8}};
    model.tensors[block + "post_ffw_norm.weight"] = {{8}};
  }
  return model;
}

ModelFile ModelFile::mistral3() {
  ModelFile model = rename(llama(), "llama", "mistral3");
  model.keys["mistral3.rope.scaling.type"] = std::string("yarn");
  model.keys["mistral3.rope.scaling.factor"] = 4.0f;
  model.keys["mistral3.rope.scaling.original_context_length"] = 12u;
  model.keys["mistral3.rope.scaling.yarn_log_multiplier"] = 1.0f;
  model.keys["mistral3.attention.temperature_scale"] = 0.1f;
  return model;
}

ModelFile ModelFile::bert() {
  ModelFile model = rename(gpt2(), "gpt2", "bert");
  model.keys["bert.attention.causal"] = false;
  model.keys["bert.pooling_type"] = 2u;
  model.tensors["token_types.weight"] = {{2, 8}};
  for (const char* end : {".weight", ".bias"}) {
    model.tensors["token_embd_norm" + std::string(end)] = {{8}};
    model.tensors.erase("output_norm" + std::string(end));
    for (std::string block : prefixes) {
      for (const char* norm : {"attn_norm", "ffn_norm"})
        model.tensors.erase(block + norm + end);
      for (const char* norm : {"attn_output_norm", "layer_output_norm"})
        model.tensors[block + norm + end] = {{8}};
    }
  }
  return model;
}

} // namespace tenon::frontends
