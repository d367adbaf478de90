// Text models within models of texts and images.
#include "tests/frontends/hf/HfModel.h"

namespace tenon::frontends {
namespace {

using nlohmann::json;
using ::tenon::tests::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

class HfNestedTest : public HfSourceTest {};

/// The Llama as the text model of a Llava, beside an encoder of images. `isOld`: with the names that
/// transformers saves; else those of its own modules.
HfModel llava(bool isOld = true) {
  HfModel text, model;
  model.config = {{"model_type", "llava"},
                  {"text_config", text.config},
                  {"vision_config", {{"hidden_size", 4}}},
                  {"image_token_index", 3}};
  model.tensors.clear();
  for (const auto& [name, shape] : text.tensors) {
    std::string own = "language_model." + name;
    if (!isOld)
      own = name.starts_with("model.") ? "model." + own.replace(15, 6, "") : name;
    model.tensors[own] = shape;
  }
  for (const char* name : {"vision_tower.embeddings.weight", "multi_modal_projector.linear_1.bias"})
    model.tensors[(isOld ? "" : "model.") + std::string(name)] = {4};
  return model;
}

TEST_F(HfNestedTest, ReadsNestedTextModels) {
  for (bool isOld : {true, false}) {
    testing::internal::CaptureStderr();
    EXPECT_THAT(import(llava(isOld)), IsOk());
    std::string said = testing::internal::GetCapturedStderr();
    auto source = HfSource::open(folder.path("")).value();
    EXPECT_EQ(source->text("architecture").value(), "llama");
    EXPECT_EQ(source->tensors().size(), 12u);
    if (isOld) // once a process for a folder
      EXPECT_THAT(said,
                  HasSubstr("2 tensors of images are passed over; the text model alone is read"));
  }
}

TEST_F(HfNestedTest, NestedModelsMayLeaveDefaultsOut) {
  HfModel model = llava();
  model.config["text_config"] = {{"model_type", "llama"}, {"num_key_value_heads", 1}};
  model.write(folder);
  auto source = HfSource::open(folder.path("")).value();
  EXPECT_EQ(source->count("embedding_length", 1 << 20).value(), 4096);
  EXPECT_EQ(source->count("block_count", 100).value(), 32);
  EXPECT_FLOAT_EQ(source->numberAbove(0, "attention.layer_norm_rms_epsilon").value(), 1e-6f);
  // Null is stated.
  model.config = {{"model_type", "mistral3"},
                  {"text_config", {{"model_type", "mistral"}, {"sliding_window", nullptr}}}};
  model.write(folder);
  EXPECT_FALSE(HfSource::open(folder.path("")).value()->has("attention.sliding_window"));
  model.config["text_config"].erase("sliding_window");
  model.write(folder);
  source = HfSource::open(folder.path("")).value();
  EXPECT_EQ(source->count("attention.sliding_window", 1 << 20).value(), 4096);
}

/// Of older versions of transformers nested configurations state all that any model has.
TEST_F(HfNestedTest, NestedModelsMayStateWhatIsOfOthers) {
  HfModel model = llava();
  model.config["text_config"].update({{"add_cross_attention", false},
                                      {"is_encoder_decoder", false},
                                      {"pruned_heads", json::object()},
                                      {"is_composition", true},
                                      {"temperature", 1.0},
                                      {"top_k", 50}});
  EXPECT_THAT(import(model), IsOk());
}

TEST_F(HfNestedTest, NestedModelsTieTheOutputWhereTheFileHasNone) {
  HfModel model = llava();
  model.config["tie_word_embeddings"] = true;
  model.write(folder);
  EXPECT_TRUE(HfSource::open(folder.path("")).value()->hasTensor("output.weight"));
  model.tensors.erase("language_model.lm_head.weight");
  model.write(folder);
  EXPECT_FALSE(HfSource::open(folder.path("")).value()->hasTensor("output.weight"));
}

TEST_F(HfNestedTest, RefusesNestedModelsThatItCannotRead) {
  auto errorWith = [&](const std::function<void(HfModel&)>& change) {
    return errorOf([&](HfModel& model) {
      model = llava();
      change(model);
    });
  };
  EXPECT_THAT(errorWith([](HfModel& m) { m.config.erase("text_config"); }),
              HasSubstr("config.json: key 'text_config' expects an object, but got none"));
  EXPECT_THAT(errorWith([](HfModel& m) { m.config["text_config"] = {1}; }),
              HasSubstr("key 'text_config' expects an object, but got a list of 1 values"));
  EXPECT_THAT(
      errorWith([](HfModel& m) { m.config["text_config"].erase("model_type"); }),
      HasSubstr("key 'text_config.model_type' expects one of 'llama', 'mistral', 'qwen2' in a "
                "model of type 'llava', but got ''"));
  EXPECT_THAT(errorWith([](HfModel& m) { m.config["text_config"]["model_type"] = "gemma3_text"; }),
              HasSubstr("of type 'llava', but got 'gemma3_text'"));
  EXPECT_THAT(errorWith([](HfModel& m) { m.config["text_config"]["model_type"] = 3; }),
              HasSubstr("key 'text_config.model_type' expects a string, but got 3"));
  EXPECT_THAT(errorWith([](HfModel& m) { m.config["model_type"] = "idefics3"; }),
              AllOf(HasSubstr("'llava', "), HasSubstr("but got 'idefics3'")));
  EXPECT_THAT(errorWith([](HfModel& m) { m.config["text_config"]["hidden_size"] = 0; }),
              HasSubstr("key 'text_config.hidden_size' expects an integer from 1 to"));
  EXPECT_THAT(errorWith([](HfModel& m) { m.config["tie_word_embeddings"] = 1; }),
              HasSubstr("key 'tie_word_embeddings' expects true or false, but got 1"));
  EXPECT_THAT(errorWith([](HfModel& m) { m.config["quantization_config"] = {1}; }),
              HasSubstr("key 'quantization_config' expects an object"));
  for (const char* key : {"embedding_multiplier", "is_encoder_decoder", "pruned_heads"}) {
    EXPECT_THAT(errorWith([&](HfModel& m) { m.config[key] = 12.0; }),
                HasSubstr(std::string("--ignore-key=") + key));
    EXPECT_THAT(errorWith([&](HfModel& m) { m.config["text_config"][key] = {{"0", {1}}}; }),
                HasSubstr(std::string("--ignore-key=") + key));
  }
  EXPECT_THAT(
      errorWith(
          [](HfModel& m) { m.tensors.erase("language_model.model.layers.0.mlp.up_proj.weight"); }),
      HasSubstr("expects tensor 'language_model.model.layers.0.mlp.up_proj.weight', but the "
                "folder has none"));
  EXPECT_THAT(errorWith([](HfModel& m) { m.tensors.erase("language_model.lm_head.weight"); }),
              HasSubstr("true where there is no tensor 'language_model.lm_head.weight'"));
  EXPECT_THAT(
      errorWith([](HfModel& m) { m.tensors["language_model.model.norm.weight"] = {9}; }),
      HasSubstr("tensor 'language_model.model.norm.weight' expects shape [8], but got [9]"));
  EXPECT_THAT(errorWith([](HfModel& m) { m.tensors["audio_tower.weight"] = {2}; }),
              HasSubstr("but got 'audio_tower.weight', which it has no use for"));
  EXPECT_THAT(
      errorWith([](HfModel& m) { m.type = "I64"; }),
      HasSubstr("tensor 'language_model.model.embed_tokens.weight' expects one of the types"));
  // Both forms of names.
  EXPECT_THAT(errorWith([](HfModel& m) { m.tensors["model.language_model.norm.weight"] = {8}; }),
              HasSubstr("but got 'model.language_model.norm.weight', which it has no use for"));
  // Without images there is nothing to pass over.
  EXPECT_THAT(errorOf([](HfModel& m) { m.tensors["vision_tower.weight"] = {2}; }),
              HasSubstr("but got 'vision_tower.weight', which it has no use for"));
  EXPECT_THAT(errorOf("model_type", "ministral3"),
              HasSubstr("'rope_parameters' expects an object, but got none"));
}

} // namespace
} // namespace tenon::frontends
