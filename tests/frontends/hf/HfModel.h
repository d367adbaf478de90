#ifndef TENON_TESTS_FRONTENDS_HF_HFMODEL_H
#define TENON_TESTS_FRONTENDS_HF_HFMODEL_H

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/hf/HfSource.h"
#include "frontends/models/ImportModel.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::frontends {

/// A tiny Llama of one block as transformers writes it, or with a change.
struct HfModel {
  nlohmann::json config = nlohmann::json::parse(R"({
      "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8,
      "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
      "num_key_value_heads": 1, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
      "rope_theta": 10000.0, "hidden_act": "silu", "vocab_size": 5, "tie_word_embeddings": false,
      "torch_dtype": "float16"})");
  std::map<std::string, std::vector<int64_t>> tensors = {
      {"model.embed_tokens.weight", {5, 8}},
      {"model.norm.weight", {8}},
      {"lm_head.weight", {5, 8}},
      {"model.layers.0.input_layernorm.weight", {8}},
      {"model.layers.0.post_attention_layernorm.weight", {8}},
      {"model.layers.0.self_attn.q_proj.weight", {8, 8}},
      {"model.layers.0.self_attn.k_proj.weight", {4, 8}},
      {"model.layers.0.self_attn.v_proj.weight", {4, 8}},
      {"model.layers.0.self_attn.o_proj.weight", {8, 8}},
      {"model.layers.0.self_attn.rotary_emb.inv_freq", {2}},
      {"model.layers.0.mlp.gate_proj.weight", {16, 8}},
      {"model.layers.0.mlp.up_proj.weight", {16, 8}},
      {"model.layers.0.mlp.down_proj.weight", {8, 16}},
  };
  std::string type = "F16";
  std::map<std::string, std::string> types; ///< of tensors that have another

  /// The type of a tensor: I32 for GPTQ's codes and zeros, bytes for blocks.
  std::string typeOf(const std::string& name) const {
    if (auto own = types.find(name); own != types.end())
      return own->second;
    if (name.ends_with(".qweight") || name.ends_with(".qzeros"))
      return "I32";
    return name.ends_with("_blocks") || name.ends_with("_scales") ? "U8" : type;
  }

  void write(const tests::TempFolder& folder) const {
    nlohmann::json table;
    uint64_t at = 0;
    for (const auto& [name, shape] : tensors) {
      static const std::map<std::string, uint64_t> sizes = {
          {"U8", 1}, {"F8_E4M3", 1}, {"F16", 2}, {"BF16", 2}, {"F32", 4}, {"I32", 4}};
      std::string own = typeOf(name);
      uint64_t bytes = sizes.contains(own) ? sizes.at(own) : 8;
      for (int64_t length : shape)
        bytes *= static_cast<uint64_t>(length);
      table[name] = {{"dtype", own}, {"shape", shape}, {"data_offsets", {at, at + bytes}}};
      at += bytes;
    }
    std::string header = table.dump();
    uint64_t length = header.size();
    folder.write("config.json", config.dump());
    folder.write("model.safetensors", std::string(reinterpret_cast<const char*>(&length), 8) +
                                          header + std::string(at, '\0'));
  }
};

class HfSourceTest : public ::testing::Test {
protected:
  absl::Status import(const HfModel& model) {
    model.write(folder);
    auto source = HfSource::open(folder.path(""));
    if (!source.ok())
      return source.status();
    mlir::MLIRContext context;
    return importModel(context, **source).status();
  }
  /// The message that a changed config.json or set of tensors gives.
  std::string errorOf(const std::function<void(HfModel&)>& change) {
    HfModel model;
    change(model);
    absl::Status status = import(model);
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }
  std::string errorOf(const char* key, const nlohmann::json& value) {
    std::string message = errorOf([&](HfModel& model) { model.config[key] = value; });
    EXPECT_THAT(message, ::testing::HasSubstr("config.json: key '"));
    return message;
  }

  tests::TempFolder folder;
};

} // namespace tenon::frontends

#endif // TENON_TESTS_FRONTENDS_HF_HFMODEL_H
