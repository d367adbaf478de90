// Mixtures of experts whose experts have tensors of their own, of 16 bits and quantised.
#include "tests/frontends/hf/HfModel.h"

namespace tenon::frontends {
namespace {

using nlohmann::json;
using ::tenon::tests::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HfExpertsTest : public HfSourceTest {};

/// The Llama with 3 experts in place of its feed-forward layer.
HfModel mixtureOfExperts() {
  HfModel model;
  model.config["model_type"] = "qwen3_moe";
  model.config.update(
      {{"num_experts", 3}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 4}});
  std::string block = "model.layers.0.";
  for (const char* name : {"gate", "up", "down"})
    model.tensors.erase(block + "mlp." + name + "_proj.weight");
  model.tensors[block + "self_attn.q_norm.weight"] = {4};
  model.tensors[block + "self_attn.k_norm.weight"] = {4};
  model.tensors[block + "mlp.gate.weight"] = {3, 8};
  for (int expert = 0; expert < 3; ++expert) {
    std::string begin = block + "mlp.experts." + std::to_string(expert) + ".";
    model.tensors[begin + "gate_proj.weight"] = {4, 8};
    model.tensors[begin + "up_proj.weight"] = {4, 8};
    model.tensors[begin + "down_proj.weight"] = {8, 4};
  }
  return model;
}

TEST_F(HfExpertsTest, JoinsExperts) {
  ASSERT_THAT(import(mixtureOfExperts()), IsOk());
  auto source = HfSource::open(folder.path("")).value();
  auto tensor = source->requireTensor("blk.0.ffn_down_exps.weight", {});
  ASSERT_THAT(tensor, IsOk());
  EXPECT_THAT((*tensor)->shape, ElementsAre(3, 8, 4));
  EXPECT_EQ(source->data(**tensor).size(), 3u * 8 * 4 * 2);
}

TEST_F(HfExpertsTest, RefusesExpertsThatDoNotFit) {
  auto errorWith = [&](const std::function<void(HfModel&)>& change) {
    return errorOf([&](HfModel& model) {
      model = mixtureOfExperts();
      change(model);
    });
  };
  std::string up = "model.layers.0.mlp.experts.1.up_proj.weight";
  EXPECT_THAT(
      errorWith([&](HfModel& m) { m.tensors.erase(up); }),
      HasSubstr("tensors 'model.layers.0.mlp.experts.#.up_proj.weight' expect expert 1, but "
                "got 2 next"));
  EXPECT_THAT(errorWith([&](HfModel& m) { m.tensors[up] = {5, 8}; }),
              HasSubstr("expect shape [4, 8] in f16, but got [5, 8] in f16 for expert 1"));
  EXPECT_THAT(
      errorWith([&](HfModel& m) { m.tensors["layers.0.mlp.experts.1.up_proj.weight"] = {4, 8}; }),
      HasSubstr("expects each tensor once, but got "));
  EXPECT_THAT(errorWith([&](HfModel& m) { m.type = "I64"; }),
              HasSubstr("expect one of the types F32, F16 and BF16, but got another for expert 0"));
  EXPECT_THAT(errorWith([&](HfModel& m) { m.config["num_experts"] = 4; }),
              HasSubstr("expects shape [4, "));
  EXPECT_THAT(errorWith([&](HfModel& m) { m.config["mlp_only_layers"] = {0}; }),
              HasSubstr("'mlp_only_layers' expects "));
  EXPECT_THAT(errorWith([&](HfModel& m) { m.config["decoder_sparse_step"] = 2; }),
              HasSubstr("'decoder_sparse_step' expects 1, but got 2"));
  // No number of an expert: a tensor of no use.
  for (const char* number : {"01", "-1", "1000000", ""})
    EXPECT_THAT(
        errorWith([&](HfModel& m) {
          m.tensors["model.layers.0.mlp.experts." + std::string(number) + ".up_proj.weight"] = {4,
                                                                                                8};
        }),
        HasSubstr("which it has no use for"));
}

/// The mixture of experts 32 wide with its experts in the parts `make` gives for outputs and inputs.
HfModel quantisedExperts(const json& settings,
                         std::map<std::string, std::vector<int64_t>> (*make)(int64_t rows,
                                                                             int64_t columns)) {
  HfModel model = mixtureOfExperts();
  model.config.update({{"hidden_size", 32},
                       {"head_dim", 4},
                       {"moe_intermediate_size", 64},
                       {"quantization_config", settings}});
  for (auto& [name, shape] : model.tensors)
    for (int64_t& length : shape)
      length = length == 8 && name.find("_proj") == name.npos ? 32 : length;
  std::string block = "model.layers.0.";
  for (auto [name, rows] : {std::pair{"q", 8}, {"k", 4}, {"v", 4}})
    model.tensors[block + "self_attn." + name + "_proj.weight"] = {rows, 32};
  model.tensors[block + "self_attn.o_proj.weight"] = {32, 8};
  for (int expert = 0; expert < 3; ++expert)
    for (const char* name : {"gate", "up", "down"}) {
      std::string layer = block + "mlp.experts." + std::to_string(expert) + "." + name + "_proj.";
      model.tensors.erase(layer + "weight");
      bool isDown = std::string_view(name) == "down";
      for (const auto& [suffix, shape] : make(isDown ? 32 : 64, isDown ? 64 : 32))
        model.tensors[layer + suffix] = shape;
    }
  return model;
}

HfModel gptqExperts() {
  return quantisedExperts({{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 32}},
                          [](int64_t rows, int64_t columns) {
                            return std::map<std::string, std::vector<int64_t>>{
                                {"qweight", {columns / 8, rows}},
                                {"qzeros", {columns / 32, rows / 8}},
                                {"scales", {columns / 32, rows}}};
                          });
}

HfModel packedExperts() {
  HfModel model = quantisedExperts(
      json::parse(R"({"quant_method": "compressed-tensors", "format": "pack-quantized",
          "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4,
          "strategy": "group", "group_size": 32}}}})"),
      [](int64_t rows, int64_t columns) {
        return std::map<std::string, std::vector<int64_t>>{{"weight_packed", {rows, columns / 8}},
                                                           {"weight_scale", {rows, columns / 32}}};
      });
  for (const auto& [name, shape] : model.tensors)
    if (name.ends_with("_packed"))
      model.types[name] = "I32";
  return model;
}

HfModel float8Experts() {
  HfModel model = quantisedExperts({{"quant_method", "fp8"}}, [](int64_t rows, int64_t columns) {
    return std::map<std::string, std::vector<int64_t>>{
        {"weight", {rows, columns}}, {"weight_scale", {1}}, {"input_scale", {1}}};
  });
  for (const auto& [name, shape] : model.tensors)
    if (name.find(".experts.") != name.npos && name.ends_with(".weight"))
      model.types[name] = "F8_E4M3";
  return model;
}

TEST_F(HfExpertsTest, JoinsQuantisedExperts) {
  for (auto [model, encoding] :
       {std::pair{gptqExperts(), "int4_g32_f16_zero"}, {float8Experts(), "e4m3_g32_f32"}}) {
    ASSERT_THAT(import(model), IsOk());
    auto source = HfSource::open(folder.path("")).value();
    auto tensor = source->requireTensor("blk.0.ffn_gate_exps.weight", {});
    ASSERT_THAT(tensor, IsOk());
    EXPECT_THAT((*tensor)->shape, ElementsAre(3, 64, 32));
    EXPECT_EQ((*tensor)->encoding->name, encoding);
    EXPECT_EQ(static_cast<int64_t>(source->data(**tensor).size()),
              (*tensor)->encoding->bytesFor(3 * 64 * 32));
  }
}

/// What is wrong with a model, and what its message says.
struct Damage {
  HfModel (*make)();
  std::function<void(HfModel&)> change;
  const char* message;
};

TEST_F(HfExpertsTest, RefusesQuantisedExpertsThatDoNotFit) {
  const std::string layers = "model.layers.0.mlp.experts.";
  const std::string one = layers + "1.up_proj.", last = layers + "2.up_proj.";
  const Damage damages[] = {
      {gptqExperts, [&](HfModel& m) { m.tensors.erase(one + "qweight"); },
       "experts.#.up_proj.qweight' expect expert 1, but got 2 next"},
      {gptqExperts, [&](HfModel& m) { m.tensors.erase(one + "scales"); },
       "experts.#.up_proj.scales' expect expert 1, but got 2 next"},
      {gptqExperts, [&](HfModel& m) { m.tensors.erase(last + "scales"); },
       "weight of 64 x 32 expects a tensor of scales, but got none"},
      {gptqExperts, [&](HfModel& m) { m.tensors.erase(last + "qweight"); },
       "experts.#.up_proj.qzeros' expect 2 experts, but got 3"},
      {gptqExperts, [&](HfModel& m) { m.tensors[layers + "3.up_proj.scales"] = {1, 64}; },
       "experts.#.up_proj.scales' expect 3 experts, but got 4"},
      {gptqExperts, [&](HfModel& m) { m.tensors[one + "qweight"] = {4, 64, 1}; },
       "layer 'model.layers.0.mlp.experts.1.up_proj' expects codes of two axes"},
      {gptqExperts, [&](HfModel& m) { m.tensors[one + "qweight"] = {4, 72}; },
       "experts.1.up_proj.qzeros' expects shape [1, 9] for a weight of 72 x 32, but got [1, 8]"},
      {gptqExperts,
       [&](HfModel& m) {
         m.tensors[one + "qweight"] = {4, 72};
         m.tensors[one + "qzeros"] = {1, 9};
         m.tensors[one + "scales"] = {1, 72};
       },
       "expect weights of shape [64, 32], but got [72, 32] for expert 1"},
      {gptqExperts, [&](HfModel& m) { m.types[one + "qweight"] = "F64"; },
       "experts.1.up_proj.qweight' expects a type that containers have, but got 'F64'"},
      {gptqExperts, [&](HfModel& m) { m.types[one + "qzeros"] = "F32"; },
       "experts.1.up_proj.qzeros' expects"},
      {gptqExperts, [&](HfModel& m) { m.types[one + "scales"] = "BF16"; },
       "expects to become a weight in int4_g32_f16_zero, but got int4_g32_bf16_zero"},
      {gptqExperts, [&](HfModel& m) { m.tensors[one + "weight"] = {64, 32}; },
       "experts.#.up_proj.weight' expect expert 0, but got 1 next"},
      {gptqExperts,
       [](HfModel& m) {
         m.config["num_experts"] = 4;
         m.tensors["model.layers.0.mlp.gate.weight"] = {4, 32};
       },
       "experts.#.gate_proj.weight' expects shape [4, 64, 32], but got [3, 64, 32]"},
      {gptqExperts, [&](HfModel& m) { m.tensors[one + "bias"] = {64}; },
       "experts.#.up_proj.bias' expect expert 0, but got 1 next"},
      {packedExperts, [](HfModel&) {},
       "experts.0.down_proj' expects codes of two axes and a tensor 'weight_shape' of two numbers"},
      {float8Experts, [&](HfModel& m) { m.types.erase(one + "weight"); },
       "experts.1.up_proj.weight' expects elements of F8_E4M3, but got F16"},
      {float8Experts, [&](HfModel& m) { m.tensors[one + "weight_scale"] = {3}; },
       "experts.1.up_proj.weight_scale' expects"},
      {float8Experts, [&](HfModel& m) { m.tensors.erase(last + "weight_scale"); },
       "expects a tensor of scales, but got none"},
  };
  for (const Damage& damage : damages)
    EXPECT_THAT(errorOf([&](HfModel& model) {
                  model = damage.make();
                  damage.change(model);
                }),
                HasSubstr(damage.message));
}

} // namespace
} // namespace tenon::frontends
