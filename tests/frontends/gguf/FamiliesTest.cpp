// What the families add to the blocks of Llama and GPT-NeoX, as text; the golden tests compare what
// they compute.
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tests/frontends/gguf/ImportFixture.h"

namespace tenon::frontends {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Parts = std::vector<std::string>;

class FamiliesTest : public ImportFixture {};

TEST_F(FamiliesTest, Qwen2HasBiasesAndRotatesHalves) {
  EXPECT_THAT(importText(ModelFile::qwen2()),
              ContainsInOrder(Parts{"tenon.matmul %1, %blk.0.attn_q.weight",
                                    "tenon.add %2, %blk.0.attn_q.bias", "halves"}));
}

TEST_F(FamiliesTest, Qwen3NormsEachHeadBeforeItIsRotated) {
  EXPECT_THAT(importText(ModelFile::qwen3()),
              ContainsInOrder(Parts{"%5 = tenon.reshape %2 to [1, 4, 2]",
                                    "%8 = tenon.rms_norm %5, %blk.0.attn_q_norm.weight",
                                    "%9 = tenon.rms_norm %6, %blk.0.attn_k_norm.weight",
                                    "%10 = tenon.rope  halves %8", "%11 = tenon.rope  halves %9"}));
}

/// Weights are normalised as the family's own code does where the file does not say.
TEST_F(FamiliesTest, Qwen3MoeChoosesExperts) {
  ModelFile model = ModelFile::qwen3Moe();
  EXPECT_THAT(importText(model),
              ContainsInOrder(Parts{
                  "tenon.softmax", "tenon.top_k", "k 2", "tenon.reduce", "tenon.div",
                  "tenon.expert_matmul", "%blk.0.ffn_gate_exps.weight", "%blk.0.ffn_up_exps.weight",
                  "tenon.glu", "%blk.0.ffn_down_exps.weight", "tenon.weighted_sum"}));
  model.keys["qwen3moe.expert_weights_norm"] = false;
  EXPECT_THAT(importText(model), Not(HasSubstr("tenon.div")));
}

TEST_F(FamiliesTest, Gpt2AddsPositionsAndDoesNotRotate) {
  std::string module = importText(ModelFile::gpt2());
  EXPECT_THAT(module, ContainsInOrder(Parts{"%0 = tenon.embedding %token_embd.weight, %arg0",
                                            "%1 = tenon.embedding %position_embd.weight, %arg2",
                                            "%2 = tenon.add %0, %1", "tenon.gelu_tanh",
                                            "%token_embd.weight"}));
  EXPECT_THAT(module, Not(HasSubstr("tenon.rope")));
  EXPECT_THAT(module, Not(HasSubstr("tenon.constant")));
}

TEST_F(FamiliesTest, BloomNormsItsEmbeddingAndHasSlopes) {
  std::string module = importText(ModelFile::bloom());
  EXPECT_THAT(module, ContainsInOrder(Parts{"tenon.constant dense<[6.250000e-02, 3.906250e-03]>",
                                            "tenon.embedding %token_embd.weight, %arg0",
                                            "tenon.layer_norm", "slopes %", "tenon.gelu_tanh"}));
  EXPECT_THAT(module, Not(HasSubstr("tenon.rope")));
}

TEST_F(FamiliesTest, MptClampsAndHasSlopes) {
  ModelFile model = ModelFile::mpt();
  EXPECT_THAT(importText(model), ContainsInOrder(Parts{"tenon.layer_norm %", "tenon.clamp %",
                                                       "from -6.000000e+00 to 6.000000e+00",
                                                       "slopes %", "tenon.gelu %"}));
  model.keys["mpt.attention.clamp_kqv"] = 0.0f;
  EXPECT_THAT(importText(model), Not(HasSubstr("tenon.clamp")));
  model.keys.erase("mpt.attention.max_alibi_bias");
  model.tensors["position_embd.weight"] = {{16, 8}};
  std::string learned = importText(model);
  EXPECT_THAT(learned, HasSubstr("tenon.embedding %position_embd.weight"));
  EXPECT_THAT(learned, Not(HasSubstr("slopes")));
}

/// Beyond the original context queries would be multiplied by a number above 1.
TEST_F(FamiliesTest, Mistral3HasItsOriginalContext) {
  ModelFile model = ModelFile::mistral3();
  EXPECT_THAT(importText(model), HasSubstr("contextLength = 12"));
  EXPECT_THAT(import(model, {.contextLength = 13}),
              tests::FailsWith(absl::StatusCode::kInvalidArgument,
                               HasSubstr("expects a context of 1 to 12 positions")));
  model.keys["mistral3.attention.temperature_length"] = 9u;
  EXPECT_THAT(importText(model), HasSubstr("contextLength = 9"));
  model.keys["mistral3.attention.temperature_scale"] = 0.0f;
  EXPECT_THAT(importText(model), HasSubstr("contextLength = 16"));
}

TEST_F(FamiliesTest, EncodersHideWhatLiesBehindATextAndPool) {
  ImportOptions options = {.entries = {{Role::Decode, 1}, {Role::Prefill, 8}, {Role::Prefill, 32}},
                           .fitEntries = true};
  ModelFile model = ModelFile::bert();
  std::string module = importText(model, options);
  EXPECT_THAT(module, ContainsInOrder(Parts{"@encode_8", "%token_types.first", "tenon.layer_norm",
                                            "tenon.select %arg1", "bias %", "causal = false",
                                            "tenon.gelu %", "tenon.embedding"}));
  for (const char* absent : {"tenon.model", "tenon.state", "@encode_32", "decode_1"})
    EXPECT_THAT(module, Not(HasSubstr(absent)));
  model.keys["bert.pooling_type"] = 1u;
  EXPECT_THAT(importText(model, options),
              ContainsInOrder(Parts{"tenon.reduce", "tenon.div", "tenon.weighted_sum"}));
}

TEST_F(FamiliesTest, EncodersRefuseWhatIsOfCaches) {
  auto errorWith = [&](const ImportOptions& options, const std::string& message) {
    EXPECT_THAT(import(ModelFile::bert(), options),
                tests::FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  const std::string caches = "expects neither a context, sequences nor a type of caches";
  errorWith({.entries = {{Role::Prefill, 8}}, .contextLength = 8}, caches);
  errorWith({.entries = {{Role::Prefill, 8}}, .sequences = 2}, caches);
  errorWith({.entries = {{Role::Prefill, 8}}, .cache = CacheType::F16}, caches);
  errorWith({.entries = {{Role::Prefill, 8}}, .window = 4},
            "has no window of its own for --cache=window");
  errorWith({.entries = {{Role::Decode, 1}}},
            "expects shapes prefill:ROWS (--shapes) for an encoder");
  errorWith({.entries = {{Role::Prefill, 17}}}, "expects texts of at most 16 tokens (--shapes)");
}

TEST_F(FamiliesTest, StreamsRotateAtPlacesOfARing) {
  ImportOptions options = {.entries = {{Role::Decode, 1}, {Role::Prefill, 4}, {Role::Prefill, 8}},
                           .fitEntries = true,
                           .keptTokens = 2,
                           .window = 5};
  std::string module = importText(ModelFile::llama(), options);
  EXPECT_THAT(module,
              ContainsInOrder(Parts{"contextLength = 2147483647", "x2xf32, ring<2>>",
                                    "tenon.ring_places %arg2 kept 2 ring 8 window 5 views 1",
                                    "tenon.ring_places %arg2 kept 2 ring 8 window 5 views 3",
                                    "tenon.concat", "along 0", "tenon.rope", "tenon.attention",
                                    "{window = 5 : i64}", "@prefill_4"}));
  EXPECT_THAT(module, Not(HasSubstr("@prefill_8")));
  for (const ModelFile& model : {ModelFile::gpt2(), ModelFile::bloom(), ModelFile::mpt(),
                                 ModelFile::phi3(), ModelFile::gemma2()})
    EXPECT_THAT(
        import(model, options),
        tests::FailsWith(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expects a model that rotates its heads and has no window of "
                                   "its own for --cache=window")));
}

/// Llama's file as one of SmolLM3 with four blocks, of which the last one rotates nothing.
ModelFile smollm3() {
  ModelFile llama = ModelFile::llama(), model;
  for (const auto& [key, value] : llama.keys)
    model.keys[absl::StrReplaceAll(key, {{"llama.", "smollm3."}})] = value;
  model.keys["general.architecture"] = std::string("smollm3");
  model.keys["smollm3.block_count"] = 4u;
  model.tensors = llama.tensors;
  for (const auto& [name, tensor] : llama.tensors)
    if (name.starts_with("blk."))
      model.tensors[absl::StrReplaceAll(name, {{"blk.0.", "blk.2."}, {"blk.1.", "blk.3."}})] =
          tensor;
  return model;
}

/// Blocks that rotate nothing have views of their queries, too.
TEST_F(FamiliesTest, StreamsOfBlocksWithoutRotation) {
  std::string module = importText(smollm3(), {.entries = {{Role::Decode, 1}}, .window = 5});
  auto count = [&](const std::string& operation) {
    std::vector<std::string> parts = absl::StrSplit(module, operation);
    return parts.size() - 1;
  };
  EXPECT_EQ(count(" tenon.rope "), 6u);
  EXPECT_EQ(count(" tenon.concat "), 4u);
  EXPECT_EQ(count("{window = 5 : i64}"), 4u);
}

TEST_F(FamiliesTest, CachesOfAnotherTypeTakeRoundedHeads) {
  EXPECT_THAT(
      importText(ModelFile::llama(), {.cache = CacheType::F16}),
      ContainsInOrder(Parts{"x2xf16>", "tenon.cast", "-> tensor<1x2x2xf16>", "tenon.kv_write"}));
  EXPECT_THAT(importText(ModelFile::llama(), {.cache = CacheType::F32}),
              Not(HasSubstr("tenon.cast")));
}

TEST_F(FamiliesTest, EveryBlockOfALlamaHasItsWindow) {
  ModelFile model = ModelFile::llama();
  EXPECT_THAT(importText(model), Not(HasSubstr("window")));
  model.keys["llama.attention.sliding_window"] = 0u;
  EXPECT_THAT(importText(model), Not(HasSubstr("window")));
  model.keys["llama.attention.sliding_window"] = 5u;
  EXPECT_THAT(importText(model), ContainsInOrder(Parts{"window = 5", "window = 5"}));
}

TEST_F(FamiliesTest, Phi3SplitsItsTensors) {
  std::string module = importText(ModelFile::phi3());
  EXPECT_THAT(module, ContainsInOrder(Parts{"@blk.0.ffn_gate.weight : tensor<32x8xf32>",
                                            "@blk.0.ffn_up.weight : tensor<32x8xf32>",
                                            "dense<5.000000e-01> : tensor<1xf32>",
                                            "{window = 6 : i64}", "{window = 6 : i64}"}));
  EXPECT_THAT(importText(ModelFile::phi3(), {.contextLength = 8}),
              HasSubstr("dense<0.666666686> : tensor<1xf32>"));
}

TEST_F(FamiliesTest, Gemma2CapsAndAlternates) {
  std::string module = importText(ModelFile::gemma2());
  EXPECT_THAT(module, ContainsInOrder(Parts{
                          "%1 = tenon.scale %0 by 2.8284270763397217",
                          "scale 0.70710678118654746 {softcap = 4.000000e+01 : f64, window = 6",
                          "tenon.rms_norm", "%blk.0.post_attention_norm.weight", "gelu_tanh",
                          "tenon.rms_norm", "%blk.0.post_ffw_norm.weight",
                          "scale 0.70710678118654746 {softcap = 4.000000e+01 : f64}",
                          "tenon.constant dense<2.000000e+01>", "tenon.div", "tenon.tanh",
                          "tenon.scale", "by 2.000000e+01"}));
}

/// √8 rounded to f32 above, to 16 bits here, as the model's own code does.
TEST_F(FamiliesTest, Gemma2RoundsItsScaleToTheActivationType) {
  EXPECT_THAT(importText(ModelFile::gemma2(), {.activations = ActivationType::BF16}),
              HasSubstr("%1 = tenon.scale %0 by 2.828125 :"));
  EXPECT_THAT(importText(ModelFile::gemma2(), {.activations = ActivationType::F16}),
              HasSubstr("%1 = tenon.scale %0 by 2.828125 :"));
}

TEST_F(FamiliesTest, Gemma2FillsInWhatEarlyFilesLack) {
  ModelFile model = ModelFile::gemma2();
  model.keys.erase("gemma2.attention.sliding_window");
  model.keys.erase("gemma2.attn_logit_softcapping");
  model.keys.erase("gemma2.final_logit_softcapping");
  EXPECT_THAT(importText(model),
              ContainsInOrder(Parts{"softcap = 5.000000e+01 : f64, window = 4096",
                                    "softcap = 5.000000e+01 : f64}", "dense<3.000000e+01>"}));
}

/// The 27B model, of 46 blocks, scales by its even share of the hidden size: 1/√(8/2) = 0.5 here,
/// and not by its head size, 2.
TEST_F(FamiliesTest, TheLargestGemma2ScalesAnotherWay) {
  ModelFile model = ModelFile::gemma2();
  model.keys["gemma2.block_count"] = 46u;
  model.keys["gemma2.attention.head_count"] = 2u;
  model.keys["gemma2.attention.head_count_kv"] = 1u;
  model.keys["gemma2.attention.key_length"] = 2u;
  model.keys["gemma2.attention.value_length"] = 2u;
  for (const auto& [name, tensor] : ModelFile(model).tensors)
    if (name.starts_with("blk.0."))
      for (int block = 0; block < 46; ++block)
        model.tensors["blk." + std::to_string(block) + name.substr(5)] = tensor;
  for (auto& [name, tensor] : model.tensors) {
    if (name.find(".attn_q.") != std::string::npos)
      tensor.shape = {4, 8};
    if (name.find(".attn_k.") != std::string::npos || name.find(".attn_v.") != std::string::npos)
      tensor.shape = {2, 8};
    if (name.find(".attn_output.") != std::string::npos)
      tensor.shape = {8, 4};
  }
  EXPECT_THAT(importText(model), HasSubstr("scale 5.000000e-01 {softcap"));
  model.keys["gemma2.attention.scale"] = 0.25f;
  EXPECT_THAT(importText(model), HasSubstr("scale 2.500000e-01 {softcap"));
}

/// Weights refer to the part that holds them, and the module is otherwise that of the whole file.
TEST_F(FamiliesTest, ASplitModelRefersToItsParts) {
  ModelFile model = ModelFile::qwen2();
  std::string whole = importText(model);
  auto module = importFile(model.writeSplit(folder, 3));
  std::string split = text(module);
  EXPECT_THAT(split,
              ContainsInOrder(Parts{"tenon.file @model \"", "-00001-of-00003.gguf\" bytes",
                                    "tenon.file @model.2 \"", "-00002-of-00003.gguf\" bytes",
                                    "tenon.file @model.3 \"", "-00003-of-00003.gguf\" bytes"}));
  EXPECT_THAT(split, ContainsInOrder(Parts{"tenon.weight", "#tenon.range<@model.2, offset = "}));
  EXPECT_EQ(split.substr(split.find("func.func")), whole.substr(whole.find("func.func")));
}

} // namespace
} // namespace tenon::frontends
