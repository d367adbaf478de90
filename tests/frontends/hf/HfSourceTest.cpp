#include <filesystem>
#include <fstream>

#include "tests/frontends/hf/HfModel.h"

namespace tenon::frontends {
namespace {

using nlohmann::json;
using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;

TEST_F(HfSourceTest, HasCanonicalKeysAndTensors) {
  HfModel().write(folder);
  auto opened = HfSource::open(folder.path("model.safetensors"));
  ASSERT_THAT(opened, IsOk());
  const ModelSource& source = **opened;
  EXPECT_EQ(source.text("architecture").value(), "llama");
  EXPECT_EQ(source.count("attention.head_count_kv", 100).value(), 1);
  EXPECT_FLOAT_EQ(source.numberAbove(0, "attention.layer_norm_rms_epsilon").value(), 1e-5f);
  auto tensor = source.requireTensor("blk.0.ffn_down.weight", {});
  ASSERT_THAT(tensor, IsOk());
  EXPECT_THAT((*tensor)->shape, ElementsAre(8, 16));
  EXPECT_FALSE(source.hasTensor("blk.0.self_attn.rotary_emb.inv_freq"));
  EXPECT_EQ(source.tensors().size(), 12u);
  EXPECT_EQ(source.files().size(), 1u);
  EXPECT_THAT(import(HfModel()), IsOk());
}

TEST_F(HfSourceTest, TiesTheOutputAsTheConfigurationSays) {
  HfModel model;
  model.config["tie_word_embeddings"] = true;
  model.write(folder);
  EXPECT_FALSE(HfSource::open(folder.path("")).value()->hasTensor("output.weight"));
  EXPECT_THAT(errorOf([](HfModel& m) { m.tensors.erase("lm_head.weight"); }),
              HasSubstr("key 'tie_word_embeddings' expects true where there is no tensor "
                        "'lm_head.weight', but got false"));
  EXPECT_THAT(errorOf("tie_word_embeddings", 1), HasSubstr("expects true or false, but got 1"));
}

TEST_F(HfSourceTest, Llama3FactorsAreThoseOfTheModelsOwnCode) {
  HfModel model;
  model.config["num_attention_heads"] = 1;
  model.config["num_key_value_heads"] = 1;
  model.tensors["model.layers.0.self_attn.k_proj.weight"] = {8, 8};
  model.tensors["model.layers.0.self_attn.v_proj.weight"] = {8, 8};
  model.config["rope_scaling"] = {{"rope_type", "llama3"},
                                  {"factor", 8.0},
                                  {"low_freq_factor", 1.0},
                                  {"high_freq_factor", 4.0},
                                  {"original_max_position_embeddings", 512}};
  ASSERT_THAT(import(model), IsOk());
  auto source = HfSource::open(folder.path("")).value();
  const SourceTensor* tensor = source->requireTensor("rope_freqs.weight", {}).value();
  std::vector<double> divisors(4);
  tensor->encoding->decode(source->data(*tensor), divisors);
  // Wavelengths 2π · 10^pair in an original context of 512: the third lies between 512 / 4 and
  // 512 / 1, the last beyond. smooth = (512 / 628.3 − 1) / 3 is below 0 for the third.
  EXPECT_THAT(divisors, ElementsAre(1, 1, 8, 8));
  model.config["rope_scaling"]["original_max_position_embeddings"] = 1024;
  ASSERT_THAT(import(model), IsOk());
  source = HfSource::open(folder.path("")).value();
  tensor = source->requireTensor("rope_freqs.weight", {}).value();
  tensor->encoding->decode(source->data(*tensor), divisors);
  // smooth = (1024 / 628.3 − 1) / 3 = 0.20991; 1 / ((1 − smooth) / 8 + smooth) = 3.2394.
  EXPECT_NEAR(divisors[2], 3.2394, 1e-3);
}

TEST_F(HfSourceTest, RefusesAnotherBloom) {
  auto bloom = [&](const char* widthKey, const json& width, bool residualBehindNorm) {
    return errorOf([&](HfModel& model) {
      model.config = {{"model_type", "bloom"},
                      {widthKey, width},
                      {"n_layer", 1},
                      {"n_head", 2},
                      {"layer_norm_epsilon", 1e-5},
                      {"vocab_size", 5},
                      {"apply_residual_connection_post_layernorm", residualBehindNorm}};
    });
  };
  for (const char* widthKey : {"n_embed", "hidden_size"}) {
    EXPECT_THAT(
        bloom(widthKey, 8, true),
        HasSubstr("'apply_residual_connection_post_layernorm' expects false, but got true"));
    EXPECT_THAT(bloom(widthKey, "8", false), HasSubstr("expects an integer from 1 to"));
  }
}

TEST_F(HfSourceTest, RefusesConfigurationsThatItCannotHonour) {
  EXPECT_THAT(errorOf("model_type", "mamba"), HasSubstr("expects one of 'bert', "));
  EXPECT_THAT(errorOf("hidden_act", "gelu"), HasSubstr("expects 'silu', but got 'gelu'"));
  EXPECT_THAT(errorOf("clip_qkv", 6), HasSubstr("'clip_qkv' expects to be absent"));
  EXPECT_THAT(errorOf("embedding_multiplier", 12.0), HasSubstr("--ignore-key=embedding_mult"));
  EXPECT_THAT(errorOf("sliding_window", 7), HasSubstr("to be absent or null, but got 7"));
  EXPECT_THAT(errorOf("layer_types", {"sliding_attention"}),
              HasSubstr("'layer_types[0]' expects 'full_attention', but got 'sliding_attention'"));
  EXPECT_THAT(errorOf("layer_types", 3), HasSubstr("a list, but got 3"));
  EXPECT_THAT(errorOf("partial_rotary_factor", 1.5), HasSubstr("above 0 and at most 1"));
  EXPECT_THAT(errorOf("quantization_config", json::object()),
              HasSubstr("'fp8' or 'mxfp4', but got ''"));
}

TEST_F(HfSourceTest, RefusesRopeThatItDoesNotKnow) {
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}),
              HasSubstr("'rope_scaling.rope_type' expects 'default', 'linear', 'llama3'"));
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "linear"}, {"factor", -1}}),
              HasSubstr("'rope_scaling.factor' expects a finite number above 0, but got -1"));
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "linear"}, {"factor", "x"}}),
              HasSubstr("a number, but got 'x'"));
  // Only Ministral 3 has it.
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "yarn"}, {"llama_4_scaling_beta", 0.1}}),
              HasSubstr("'rope_scaling.llama_4_scaling_beta' expects to be absent"));
  // Only Qwen's models with images have it.
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "mrope"}, {"mrope_section", {1, 1}}}),
              HasSubstr("'rope_scaling.rope_type' expects 'default', 'linear', 'llama3'"));
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "default"}, {"mrope_section", {1, 1}}}),
              HasSubstr("'rope_scaling.mrope_section' expects to be absent for type 'default'"));
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "linear"}, {"mscale", 1}}),
              HasSubstr("'rope_scaling.mscale' expects to be absent for type 'linear'"));
  EXPECT_THAT(errorOf("rope_scaling", 4), HasSubstr("an object, but got 4"));
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "longrope"}, {"short_factor", {1.0}}}),
              HasSubstr("'rope_scaling.short_factor' expects a list of 2 numbers"));
  EXPECT_THAT(errorOf("rope_scaling", {{"type", "llama3"}, {"high_freq_factor", 0.5}}),
              HasSubstr("'rope_scaling.high_freq_factor' expects more than 1"));
}

TEST_F(HfSourceTest, RefusesSizesThatAreNone) {
  EXPECT_THAT(errorOf("hidden_size", 0), HasSubstr("an integer from 1 to 268435456, but got 0"));
  EXPECT_THAT(errorOf("hidden_size", -8), HasSubstr("but got -8"));
  EXPECT_THAT(errorOf("head_dim", 1 << 20),
              HasSubstr("expects at most 65536 rotated elements of a head, but got 1048576"));
  EXPECT_THAT(errorOf("num_hidden_layers", 2.5), HasSubstr("an integer of at least 0"));
  EXPECT_THAT(errorOf("num_hidden_layers", 1e30), HasSubstr("an integer of at least 0"));
  EXPECT_THAT(errorOf("num_hidden_layers", 4000000000u), HasSubstr("an integer of at most"));
  EXPECT_THAT(errorOf("rms_norm_eps", "small"), HasSubstr("a number, but got 'small'"));
  EXPECT_THAT(errorOf([](HfModel& m) { m.config.erase("num_hidden_layers"); }),
              HasSubstr("expects a key for 'block_count', but the file has none"));
}

TEST_F(HfSourceTest, NamesTensorsAsTheFileDoes) {
  EXPECT_THAT(
      errorOf([](HfModel& m) { m.tensors.erase("model.layers.0.mlp.up_proj.weight"); }),
      HasSubstr("expects tensor 'model.layers.0.mlp.up_proj.weight', but the folder has none"));
  EXPECT_THAT(
      errorOf([](HfModel& m) { m.tensors["model.layers.0.mlp.up_proj.weight"] = {16, 9}; }),
      HasSubstr("model.safetensors: tensor 'model.layers.0.mlp.up_proj.weight' expects shape [16, "
                "8], but got [16, 9]"));
  EXPECT_THAT(errorOf([](HfModel& m) { m.tensors["model.extra.weight"] = {2}; }),
              HasSubstr("but got 'model.extra.weight', which it has no use for"));
  EXPECT_THAT(errorOf([](HfModel& m) { m.type = "I64"; }),
              HasSubstr("expects one of the types F32, F16, BF16 and I32"));
  EXPECT_THAT(errorOf([](HfModel& m) { m.tensors["embed_tokens.weight"] = {5, 8}; }),
              HasSubstr("expects each tensor once, but got 'model.embed_tokens.weight' twice"));
}

/// A gpt-oss of one block with 2 experts, of floats or of blocks.
HfModel gptOss(bool hasBlocks) {
  HfModel model;
  model.config["model_type"] = "gpt_oss";
  model.config.update({{"num_local_experts", 2},
                       {"num_experts_per_tok", 1},
                       {"hidden_size", 32},
                       {"intermediate_size", 32},
                       {"sliding_window", 8},
                       {"experts_per_token", 1},
                       {"swiglu_limit", 7.0}});
  model.tensors = {{"model.embed_tokens.weight", {5, 32}},
                   {"model.norm.weight", {32}},
                   {"lm_head.weight", {5, 32}},
                   {"model.layers.0.input_layernorm.weight", {32}},
                   {"model.layers.0.post_attention_layernorm.weight", {32}},
                   {"model.layers.0.self_attn.q_proj.weight", {32, 32}},
                   {"model.layers.0.self_attn.q_proj.bias", {32}},
                   {"model.layers.0.self_attn.k_proj.weight", {16, 32}},
                   {"model.layers.0.self_attn.k_proj.bias", {16}},
                   {"model.layers.0.self_attn.v_proj.weight", {16, 32}},
                   {"model.layers.0.self_attn.v_proj.bias", {16}},
                   {"model.layers.0.self_attn.o_proj.weight", {32, 32}},
                   {"model.layers.0.self_attn.o_proj.bias", {32}},
                   {"model.layers.0.self_attn.sinks", {2}},
                   {"model.layers.0.mlp.router.weight", {2, 32}},
                   {"model.layers.0.mlp.router.bias", {2}}};
  for (auto [name, outputs] : {std::pair{"gate_up_proj", 64}, {"down_proj", 32}}) {
    std::string begin = std::string("model.layers.0.mlp.experts.") + name;
    model.tensors[begin + "_bias"] = {2, outputs};
    if (!hasBlocks) {
      model.tensors[begin] = {2, 32, outputs};
      continue;
    }
    model.tensors[begin + "_blocks"] = {2, outputs, 1, 16};
    model.tensors[begin + "_scales"] = {2, outputs, 1};
  }
  if (hasBlocks)
    model.config["quantization_config"] = {{"quant_method", "mxfp4"}};
  return model;
}

TEST_F(HfSourceTest, SplitsRowsThatAlternate) {
  for (bool hasBlocks : {false, true}) {
    ASSERT_THAT(import(gptOss(hasBlocks)), IsOk());
    auto source = HfSource::open(folder.path("")).value();
    for (const char* name : {"gate", "up", "down"}) {
      std::string begin = std::string("blk.0.ffn_") + name + "_exps.";
      const SourceTensor* weight = source->requireTensor(begin + "weight", {}).value();
      EXPECT_THAT(weight->shape, ElementsAre(2, 32, 32));
      EXPECT_EQ(weight->encoding->name, hasBlocks ? "mxfp4" : "f16");
      EXPECT_THAT(source->requireTensor(begin + "bias", {}).value()->shape, ElementsAre(2, 32));
    }
    EXPECT_FALSE(source->hasTensor("blk.0.ffn_gate_up_exps.weight"));
    EXPECT_THAT(source->requireTensor("blk.0.attn_sinks.weight", {}).value()->shape,
                ElementsAre(2));
  }
}

TEST_F(HfSourceTest, RefusesAnotherGptOss) {
  auto errorWith = [&](bool hasBlocks, const std::function<void(HfModel&)>& change) {
    return errorOf([&](HfModel& model) {
      model = gptOss(hasBlocks);
      change(model);
    });
  };
  const std::string experts = "model.layers.0.mlp.experts.";
  EXPECT_THAT(errorWith(false, [](HfModel& m) { m.config["swiglu_limit"] = 6.0; }),
              HasSubstr("'swiglu_limit' expects 7.0, but got 6.0"));
  EXPECT_THAT(errorWith(false, [](HfModel& m) { m.config["layer_types"] = {"full_attention"}; }),
              HasSubstr("'layer_types[0]' expects 'sliding_attention'"));
  EXPECT_THAT(errorWith(false,
                        [](HfModel& m) {
                          m.config["rope_scaling"] = {{"rope_type", "yarn"}, {"truncate", 3}};
                        }),
              HasSubstr("'rope_scaling.truncate' expects true or false, but got 3"));
  for (bool hasBlocks : {false, true}) {
    EXPECT_THAT(errorWith(hasBlocks,
                          [&](HfModel& m) { m.tensors[experts + "gate_up_proj_bias"] = {2, 63}; }),
                HasSubstr("tensor '" + experts +
                          "gate_up_proj_bias' expects experts of an even "
                          "number of rows, but got shape [2, 63]"));
    EXPECT_THAT(
        errorWith(hasBlocks, [](HfModel& m) { m.tensors.erase("model.layers.0.self_attn.sinks"); }),
        HasSubstr("expects tensor 'model.layers.0.self_attn.sinks', but the folder has none"));
  }
  EXPECT_THAT(errorWith(false, [&](HfModel& m) { m.tensors[experts + "down_proj"] = {8}; }),
              HasSubstr("'" + experts + "down_proj' expects two axes, or those of experts"));
  EXPECT_THAT(errorWith(true, [&](HfModel& m) { m.tensors.erase(experts + "down_proj_scales"); }),
              HasSubstr("weight of 64 x 32 expects a tensor of scales, but got none"));
  EXPECT_THAT(
      errorWith(true, [&](HfModel& m) { m.tensors[experts + "down_proj_scales"] = {1, 64, 1}; }),
      HasSubstr("expects shape [64, 1] for a weight of 64 x 32, but got [1, 64, 1]"));
  EXPECT_THAT(
      errorWith(true, [&](HfModel& m) { m.tensors[experts + "down_proj_blocks"] = {2, 16}; }),
      HasSubstr("expects columns in whole groups of 32, but got 16"));
}

TEST_F(HfSourceTest, RefusesAnotherFalcon) {
  HfModel falcon;
  falcon.config = {{"model_type", "falcon"},     {"hidden_size", 8},
                   {"num_hidden_layers", 1},     {"num_attention_heads", 4},
                   {"layer_norm_epsilon", 1e-5}, {"new_decoder_architecture", true},
                   {"num_kv_heads", 2},          {"vocab_size", 5}};
  falcon.tensors = {{"transformer.word_embeddings.weight", {5, 8}},
                    {"transformer.h.0.self_attention.query_key_value.weight", {16, 8}},
                    {"transformer.h.0.self_attention.dense.weight", {8, 8}},
                    {"transformer.h.0.mlp.dense_h_to_4h.weight", {32, 8}},
                    {"transformer.h.0.mlp.dense_4h_to_h.weight", {8, 32}}};
  for (const char* norm : {"ln_f", "h.0.ln_attn", "h.0.ln_mlp"})
    for (const char* end : {".weight", ".bias"})
      falcon.tensors[std::string("transformer.") + norm + end] = {8};
  ASSERT_THAT(import(falcon), IsOk());
  auto errorWith = [&](const char* key, const json& value) {
    return errorOf([&](HfModel& model) {
      model = falcon;
      model.config[key] = value;
    });
  };
  EXPECT_THAT(errorWith("alibi", true), HasSubstr("expects false, but got true"));
  EXPECT_THAT(errorWith("num_kv_heads", 3),
              HasSubstr("'num_kv_heads' expects a divisor of the 4 heads, but got 3"));
  EXPECT_THAT(errorWith("num_kv_heads", 4),
              HasSubstr("a multiple of 12 rows, Q, K and V of 4 heads"));
  falcon.config["new_decoder_architecture"] = false;
  EXPECT_THAT(errorWith("parallel_attn", false), HasSubstr("expects true, but got false"));
}

TEST_F(HfSourceTest, NormsOfHeadsAreAsStated) {
  HfModel cohere;
  cohere.config["model_type"] = "cohere";
  cohere.config.erase("rms_norm_eps");
  cohere.config["layer_norm_eps"] = 1e-5;
  cohere.config["tie_word_embeddings"] = true;
  cohere.tensors.erase("model.layers.0.post_attention_layernorm.weight");
  cohere.config["use_qk_norm"] = false;
  ASSERT_THAT(import(cohere), IsOk());
  auto error = [&] { return errorOf([&](HfModel& model) { model = cohere; }); };
  cohere.config["use_qk_norm"] = true;
  EXPECT_THAT(error(),
              HasSubstr("'use_qk_norm' expects false where there are no norms of heads, but "
                        "got true"));
  cohere.tensors["model.layers.0.self_attn.q_norm.weight"] = {2, 4};
  cohere.tensors["model.layers.0.self_attn.k_norm.weight"] = {1, 4};
  ASSERT_THAT(import(cohere), IsOk());
  cohere.config["use_qk_norm"] = false;
  EXPECT_THAT(error(), HasSubstr("expects true where there are norms of heads, but got false"));
}

TEST_F(HfSourceTest, Glm4StatesWhatIsRotated) {
  EXPECT_THAT(errorOf([](HfModel& model) {
                model.config["model_type"] = "glm4";
                model.config.erase("rope_theta");
              }),
              HasSubstr("'partial_rotary_factor' expects a number above 0 and at most 1"));
}

/// A BERT of one block, as sentence-transformers writes one.
HfModel bert() {
  HfModel model;
  model.config = {{"model_type", "bert"},
                  {"hidden_size", 8},
                  {"intermediate_size", 16},
                  {"num_hidden_layers", 1},
                  {"num_attention_heads", 2},
                  {"max_position_embeddings", 40},
                  {"layer_norm_eps", 1e-12},
                  {"hidden_act", "gelu"},
                  {"vocab_size", 5},
                  {"type_vocab_size", 2},
                  {"hidden_dropout_prob", 0.1},
                  {"attention_probs_dropout_prob", 0.1},
                  {"position_embedding_type", "absolute"}};
  std::string layer = "encoder.layer.0.";
  model.tensors = {{"embeddings.word_embeddings.weight", {5, 8}},
                   {"embeddings.position_embeddings.weight", {40, 8}},
                   {"embeddings.token_type_embeddings.weight", {2, 8}},
                   {"embeddings.LayerNorm.gamma", {8}},
                   {"embeddings.LayerNorm.beta", {8}},
                   {"embeddings.position_ids", {1, 40}},
                   {layer + "attention.output.LayerNorm.weight", {8}},
                   {layer + "attention.output.LayerNorm.bias", {8}},
                   {layer + "output.LayerNorm.weight", {8}},
                   {layer + "output.LayerNorm.bias", {8}},
                   {"pooler.dense.weight", {8, 8}},
                   {"cls.predictions.bias", {5}}};
  auto add = [&](const std::string& name, int64_t outputs, int64_t inputs) {
    model.tensors[layer + name + ".weight"] = {outputs, inputs};
    model.tensors[layer + name + ".bias"] = {outputs};
  };
  for (const char* name : {"self.query", "self.key", "self.value", "output.dense"})
    add(std::string("attention.") + name, 8, 8);
  add("intermediate.dense", 16, 8);
  add("output.dense", 8, 16);
  return model;
}

class HfEncoderTest : public HfSourceTest {
protected:
  /// The kind of pooling beside these files; or what is wrong with them.
  absl::StatusOr<int64_t> poolingOf(const std::string& modules, const std::string& pooling,
                                    const char* name = "1_Pooling") {
    bert().write(folder);
    std::filesystem::create_directory(folder.path(name));
    std::filesystem::remove(folder.path("modules.json"));
    if (!modules.empty())
      folder.write("modules.json", modules);
    folder.write(std::string(name) + "/config.json", pooling);
    auto source = HfSource::open(folder.path(""));
    if (!source.ok())
      return source.status();
    return (*source)->count("pooling_type", 10);
  }
  const std::string usual = R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
      {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
      {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])";
};

TEST_F(HfEncoderTest, ReadsPooling) {
  ASSERT_THAT(import(bert()), IsOk());
  EXPECT_EQ(HfSource::open(folder.path("")).value()->count("pooling_type", 10).value(), 1);
  const std::string first = R"({"pooling_mode_cls_token": true, "pooling_mode_max_tokens": false})";
  EXPECT_EQ(poolingOf("", first).value(), 2);
  EXPECT_EQ(poolingOf(usual, first).value(), 2);
  EXPECT_EQ(poolingOf(usual, R"({"pooling_mode_mean_tokens": true})").value(), 1);
  // No pooling is named: that of the folder is none.
  EXPECT_EQ(poolingOf("[]", first).value(), 1);
  EXPECT_EQ(poolingOf(R"([{"path": "own", "type": "x.Pooling"}])", first, "own").value(), 2);
}

TEST_F(HfEncoderTest, RefusesOtherPooling) {
  const std::string mean = R"({"pooling_mode_mean_tokens": true})";
  EXPECT_THAT(poolingOf(usual, R"({"pooling_mode_max_tokens": true})"),
              FailsWith(invalid, HasSubstr("1_Pooling/config.json: key 'pooling_mode_max_tokens' "
                                           "expects one mode, of the mean or of the first token")));
  EXPECT_THAT(
      poolingOf(usual, R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true})"),
      FailsWith(invalid, HasSubstr("expects one mode")));
  EXPECT_THAT(poolingOf(usual, "{}"), FailsWith(invalid, HasSubstr("one mode that is true")));
  EXPECT_THAT(
      poolingOf(R"([{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])", mean),
      FailsWith(invalid, HasSubstr("modules.json: key 'modules[0].type' expects a Transformer, one "
                                   "Pooling or a Normalize")));
  EXPECT_THAT(poolingOf(R"([{"path": "../..", "type": "x.Pooling"}])", mean),
              FailsWith(invalid, HasSubstr("'modules[0].path' expects a folder beside it")));
  EXPECT_THAT(poolingOf("{}", mean), FailsWith(invalid, HasSubstr("'modules' expects a list")));
  EXPECT_THAT(poolingOf(std::string(size_t{1} << 26, ' '), mean),
              FailsWith(invalid, HasSubstr("expects a list of modules, but got a file of")));
}

TEST_F(HfEncoderTest, RefusesAnotherBert) {
  auto errorWith = [&](const char* key, const json& value) {
    return errorOf([&](HfModel& model) {
      model = bert();
      model.config[key] = value;
    });
  };
  EXPECT_THAT(errorWith("hidden_act", "relu"), HasSubstr("expects 'gelu', but got 'relu'"));
  EXPECT_THAT(errorWith("position_embedding_type", "relative_key"), HasSubstr("'absolute'"));
  EXPECT_THAT(errorWith("is_decoder", true), HasSubstr("expects false, but got true"));
}

/// The names of keys in files of the model's first code.
TEST_F(HfEncoderTest, ReadsNomicBertOfItsFirstCode) {
  HfModel model;
  model.config = {{"model_type", "nomic_bert"},
                  {"n_embd", 8},
                  {"n_inner", 16},
                  {"n_layer", 1},
                  {"n_head", 2},
                  {"n_positions", 40},
                  {"layer_norm_epsilon", 1e-12},
                  {"vocab_size", 5},
                  {"rotary_emb_base", 1000},
                  {"rotary_emb_fraction", 1.0},
                  {"rotary_emb_scale_base", nullptr},
                  {"activation_function", "swiglu"},
                  {"prenorm", false},
                  {"causal", false},
                  {"use_xentropy", true}};
  std::string layer = "encoder.layers.0.";
  model.tensors = {{"embeddings.word_embeddings.weight", {5, 8}},
                   {"embeddings.token_type_embeddings.weight", {2, 8}},
                   {layer + "attn.Wqkv.weight", {24, 8}},
                   {layer + "attn.out_proj.weight", {8, 8}},
                   {layer + "mlp.fc11.weight", {16, 8}},
                   {layer + "mlp.fc12.weight", {16, 8}},
                   {layer + "mlp.fc2.weight", {8, 16}}};
  for (const std::string& norm : {std::string("emb_ln"), layer + "norm1", layer + "norm2"})
    model.tensors[norm + ".weight"] = model.tensors[norm + ".bias"] = {8};
  ASSERT_THAT(import(model), IsOk());
  auto errorWith = [&](const char* key, const json& value) {
    return errorOf([&](HfModel& changed) {
      changed = model;
      changed.config[key] = value;
    });
  };
  EXPECT_THAT(errorWith("prenorm", true), HasSubstr("expects false, but got true"));
  EXPECT_THAT(errorWith("rotary_emb_scale_base", 512), HasSubstr("expects null, but got 512"));
  EXPECT_THAT(errorWith("rotary_emb_fraction", 0.5), HasSubstr("expects 1.0, but got 0.5"));
  EXPECT_THAT(errorWith("activation_function", "gelu"), HasSubstr("expects 'swiglu'"));
}

class HfIndexTest : public HfSourceTest {
protected:
  absl::Status open(const json& index) {
    HfModel().write(folder);
    std::filesystem::rename(folder.path("model.safetensors"), folder.path("part.safetensors"));
    folder.write("model.safetensors.index.json", index.dump());
    return HfSource::open(folder.path("")).status();
  }
};

TEST_F(HfIndexTest, NamesFilesBesideIt) {
  json map = {{"model.norm.weight", "part.safetensors"}};
  EXPECT_THAT(open({{"weight_map", map}}), IsOk());
  for (const char* name : {"../part.safetensors", "/etc/part.safetensors", "part.bin"})
    EXPECT_THAT(open({{"weight_map", {{"model.norm.weight", name}}}}),
                FailsWith(invalid, AllOf(HasSubstr("index.json: key 'weight_map.model.norm.weight' "
                                                   "expects the name of a safetensors file"),
                                         HasSubstr(name))));
  EXPECT_THAT(open({{"weight_map", {{"model.norm.weight", 3}}}}),
              FailsWith(invalid, HasSubstr("the name of a file, but got 3")));
  EXPECT_THAT(open({{"weight_map", {{"model.no.weight", "part.safetensors"}}}}),
              FailsWith(invalid, HasSubstr("'weight_map.model.no.weight' expects a file with that "
                                           "tensor, but got 'part.safetensors'")));
  EXPECT_THAT(open({{"metadata", 1}}), FailsWith(invalid, HasSubstr("'weight_map' expects an")));
  EXPECT_THAT(open({{"weight_map", {{"model.norm.weight", "none.safetensors"}}}}),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("none.safetensors: cannot open")));
}

} // namespace
} // namespace tenon::frontends
