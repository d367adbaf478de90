#include "frontends/hf/Quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::frontends {
namespace {

using containers::Layout;
using containers::WeightFormat;
using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::tenon::tests::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;
const std::string layer = "model.layers.1.mlp.up_proj";

absl::StatusOr<std::optional<Quantization>> read(const std::string& settings) {
  TempFolder folder;
  nlohmann::json object = nlohmann::json::parse(settings);
  if (object.is_object() && !object.contains("quant_method"))
    object["quant_method"] = "gptq";
  auto config =
      JsonFile::parse("config.json", nlohmann::json{{"quantization_config", object}}.dump());
  EXPECT_THAT(config, IsOk());
  return Quantization::read(folder.path(""), *config);
}

void expectFormat(const std::string& settings, const WeightFormat& expected,
                  const std::string& module = layer) {
  auto quantization = read(settings);
  ASSERT_THAT(quantization, IsOk());
  auto format = (*quantization)->formatOf(module);
  ASSERT_THAT(format, IsOk());
  EXPECT_TRUE(*format == expected) << settings;
}

void expectRefused(const std::string& settings, const std::string& message) {
  EXPECT_THAT(read(settings), FailsWith(invalid, HasSubstr(message)));
}

TEST(Quantization, ReadsGptq) {
  expectFormat(R"({"quant_method": "gptq", "bits": 3, "group_size": -1})",
               {.layout = Layout::Gptq, .bits = 3, .groupSize = -1});
  expectFormat(R"({"bits": 8, "group_size": 64, "checkpoint_format": "gptq_v2"})",
               {.layout = Layout::GptqV2, .bits = 8, .groupSize = 64});
  expectFormat(R"({"wbits": 4, "format": "gptq", "meta": {"quantizer": ["gptqmodel:1.4.2"]}})",
               {.layout = Layout::Gptq, .bits = 4, .groupSize = 128, .borrowsAcrossZeros = true});
  expectFormat(R"({"bits": 4, "meta": {"quantizer": "gptqmodel:0.8.1"}})",
               {.layout = Layout::Gptq, .bits = 4, .groupSize = 128});
  expectFormat(R"({"bits": 4, "sym": true, "meta": {"quantizer": "gptqmodel:1.0"}})",
               {.layout = Layout::Gptq, .bits = 4, .groupSize = 128});
}

TEST(Quantization, ReadsDynamicRules) {
  const std::string settings = R"({"bits": 4, "group_size": 128, "dynamic": {
      "-:.*\\.0\\..*": {}, "+:.*up_proj.*": {"bits": 8}, ".*down_proj": {"group_size": 32}}})";
  expectFormat(settings, {.layout = Layout::Gptq, .bits = 8, .groupSize = 128});
  expectFormat(settings, {.layout = Layout::Gptq, .bits = 4, .groupSize = 32},
               "model.layers.1.mlp.down_proj");
  expectFormat(settings, {.layout = Layout::Gptq, .bits = 4, .groupSize = 128},
               "model.layers.1.mlp.gate_proj");
  auto quantization = read(settings);
  ASSERT_THAT(quantization, IsOk());
  EXPECT_THAT((*quantization)->formatOf("model.layers.0.self_attn.q_proj"),
              FailsWith(invalid, HasSubstr("expects a weight that is not quantised, as")));
  EXPECT_THAT((*quantization)->formatOf("model.layers.0.mlp.up_proj"),
              FailsWith(invalid, HasSubstr("expects one format, but both")));
  quantization = read(R"({"dynamic": {"+:(": {}}})");
  ASSERT_THAT(quantization, IsOk());
  EXPECT_THAT((*quantization)->formatOf(layer),
              FailsWith(invalid, HasSubstr("expects a regular expression")));
  quantization = read(R"({"dynamic": {"+:(a+)+$": {}}})");
  ASSERT_THAT(quantization, IsOk());
  EXPECT_THAT((*quantization)->formatOf(std::string(300, 'a') + "b"),
              FailsWith(invalid, HasSubstr("expects a regular expression of fewer steps")));
}

TEST(Quantization, ReadsAwq) {
  expectFormat(R"({"quant_method": "awq", "bits": 4, "group_size": 64, "version": "GEMM"})",
               {.layout = Layout::AwqGemm, .bits = 4, .groupSize = 64});
  expectFormat(R"({"quant_method": "awq", "w_bit": 4, "q_group_size": 32, "version": "gemv"})",
               {.layout = Layout::AwqGemv, .bits = 4, .groupSize = 32});
}

std::string compressed(const std::string& format, const std::string& weights,
                       const std::string& targets = R"(["Linear"])") {
  return R"({"quant_method": "compressed-tensors", "format": ")" + format +
         R"(", "config_groups": {"group_0": {"targets": )" + targets + R"(, "weights": )" +
         weights + "}}}";
}

TEST(Quantization, ReadsCompressedTensors) {
  expectFormat(
      compressed("pack-quantized", R"({"num_bits": 4, "strategy": "group", "group_size": 32})"),
      {.layout = Layout::PackQuantized, .bits = 4, .groupSize = 32});
  expectFormat(compressed("int-quantized", R"({"num_bits": 8, "strategy": "channel"})"),
               {.layout = Layout::IntQuantized, .bits = 8, .groupSize = -1});
  expectFormat(compressed("float-quantized", R"({"num_bits": 8, "strategy": "tensor"})"),
               {.layout = Layout::Float8, .bits = 8});
  expectFormat(compressed("float-quantized", R"({"num_bits": 8, "strategy": "channel"})",
                          R"(["re:.*up_proj"])"),
               {.layout = Layout::Float8, .bits = 8, .blockRows = 1});
  expectFormat(compressed("float-quantized", R"({"num_bits": 8, "strategy": "block",
                          "block_structure": [128, 64]})"),
               {.layout = Layout::Float8, .bits = 8, .blockRows = 128, .blockColumns = 64});
  expectFormat(compressed("nvfp4-pack-quantized",
                          R"({"num_bits": 4, "strategy": "tensor_group", "group_size": 16})"),
               {.layout = Layout::Nvfp4Packed, .bits = 4});
  expectFormat(compressed("mxfp4-pack-quantized",
                          R"({"num_bits": 4, "strategy": "group", "group_size": 32})"),
               {.layout = Layout::Mxfp4Packed, .bits = 4});
  auto others =
      read(compressed("float-quantized", R"({"strategy": "tensor"})", R"(["re:.*down_proj"])"));
  ASSERT_THAT(others, IsOk());
  EXPECT_THAT((*others)->formatOf(layer),
              FailsWith(invalid, HasSubstr("expects a group of 'config_groups'")));
}

TEST(Quantization, ReadsFloat8) {
  expectFormat(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})",
               {.layout = Layout::Float8, .bits = 8, .blockRows = 128, .blockColumns = 128});
  expectFormat(R"({"quant_method": "fp8"})", {.layout = Layout::Float8, .bits = 8});
  expectFormat(R"({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})",
               {.layout = Layout::Mxfp4Blocks, .bits = 4});
}

TEST(Quantization, ReadsFilesBesideTheConfiguration) {
  TempFolder folder;
  auto config = JsonFile::parse("config.json", "{}");
  auto none = Quantization::read(folder.path(""), *config);
  ASSERT_THAT(none, IsOk());
  EXPECT_FALSE(*none);
  folder.write("quant_config.json", R"({"w_bit": 4, "zero_point": true})");
  EXPECT_EQ((*Quantization::read(folder.path(""), *config))->formatOf(layer)->layout,
            Layout::AwqGemm);
  folder.write("quantize_config.json", R"({"bits": 8})");
  EXPECT_EQ((*Quantization::read(folder.path(""), *config))->formatOf(layer)->bits, 8);
}

TEST(Quantization, KnowsTheShapesOfCodes) {
  Quantization quantization = **read(R"({"bits": 3})");
  std::vector<int64_t> none, stated = {16, 33};
  auto shapeOf = [&](Layout layout, int32_t bits, std::vector<int64_t> shape,
                     const std::vector<int64_t>& said) {
    return quantization.shapeOf(layer, {.layout = layout, .bits = bits}, shape, said);
  };
  EXPECT_THAT(*shapeOf(Layout::Gptq, 3, {12, 64}, none), ElementsAre(64, 128));
  EXPECT_THAT(*shapeOf(Layout::AwqGemm, 4, {128, 8}, none), ElementsAre(64, 128));
  EXPECT_THAT(*shapeOf(Layout::AwqGemv, 4, {64, 16}, none), ElementsAre(64, 128));
  EXPECT_THAT(*shapeOf(Layout::Float8, 8, {64, 128}, none), ElementsAre(64, 128));
  EXPECT_THAT(*shapeOf(Layout::PackQuantized, 4, {16, 5}, stated), ElementsAre(16, 33));
  EXPECT_THAT(*shapeOf(Layout::Nvfp4Packed, 4, {16, 64}, none), ElementsAre(16, 128));
  EXPECT_THAT(*shapeOf(Layout::Mxfp4Packed, 4, {16, 64}, none), ElementsAre(16, 128));
  EXPECT_THAT(
      shapeOf(Layout::PackQuantized, 4, {16, 5}, none),
      FailsWith(invalid, HasSubstr("expects codes of two axes and a tensor 'weight_shape'")));
  EXPECT_THAT(shapeOf(Layout::Gptq, 4, {16}, none),
              FailsWith(invalid, HasSubstr("expects codes of two axes, but got shapes [16]")));
}

TEST(Quantization, RefusesWhatItCannotRead) {
  expectRefused("7", "key 'quantization_config' expects an object, but got 7");
  expectRefused(R"({"quant_method": "hqq"})",
                "key 'quantization_config.quant_method' expects 'gptq', 'awq', "
                "'compressed-tensors', 'fp8' or 'mxfp4', but got 'hqq'");
  expectRefused(R"({"quant_method": ""})", "but got ''");
  expectRefused(R"({"bits": 9})", "key 'quantization_config.bits' expects an integer from 2 to 8");
  expectRefused(R"({"group_size": "big"})", "group_size' expects an integer from -1");
  expectRefused(R"({"checkpoint_format": "marlin"})",
                "expects 'gptq' or 'gptq_v2', but got 'marlin'");
  expectRefused(R"({"is_marlin_format": true})", "expects weights in their own order");
  expectRefused(R"({"pack_dtype": "int16"})", "expects 'int32', but got 'int16'");
  expectRefused(R"({"dynamic": []})", "dynamic' expects an object");
  expectRefused(R"({"dynamic": {"a": 1}})", "dynamic.a' expects an object");
  expectRefused(R"({"quant_method": "awq", "bits": 8})", "expects an integer from 4 to 4");
  expectRefused(R"({"quant_method": "awq", "version": "gemv_fast"})", "expects 'gemm' or 'gemv'");
  expectRefused(R"({"quant_method": "compressed-tensors"})", "config_groups' expects an object");
  expectRefused(compressed("marlin-24", R"({"num_bits": 4})"),
                "expects 'pack-quantized', 'int-quantized', 'float-quantized', "
                "'nvfp4-pack-quantized' or 'mxfp4-pack-quantized', but got");
  expectRefused(compressed("nvfp4-pack-quantized", R"({"num_bits": 4, "strategy": "group"})"),
                "strategy' expects 'tensor_group', but got 'group'");
  expectRefused(compressed("mxfp4-pack-quantized", R"({"strategy": "group", "group_size": 16})"),
                "group_size' expects an integer from 32 to 32");
  expectRefused(compressed("mxfp4-pack-quantized", R"({"strategy": "group", "num_bits": 8})"),
                "num_bits' expects an integer from 4 to 4");
  expectRefused(compressed("pack-quantized", "1"), "weights' expects an object");
  expectRefused(compressed("pack-quantized", R"({"strategy": "tensor"})"),
                "strategy' expects 'channel' or 'group', but got 'tensor'");
  expectRefused(compressed("float-quantized", R"({"strategy": "group"})"),
                "strategy' expects 'tensor', 'channel' or 'block'");
  expectRefused(compressed("float-quantized", R"({"strategy": "block"})"),
                "block_structure' expects two integers above 0, but got none");
  expectRefused(compressed("float-quantized", R"({"strategy": "tensor"})", "1"),
                "targets' expects a list");
  expectRefused(compressed("float-quantized", R"({"strategy": "tensor"})", "[1]"),
                "targets' expects a list of names");
  expectRefused(R"({"quant_method": "fp8", "fmt": "e5m2"})", "expects 'e4m3', but got 'e5m2'");
  expectRefused(R"({"quant_method": "fp8", "weight_block_size": [0, 1]})",
                "weight_block_size' expects two integers above 0");
}

} // namespace
} // namespace tenon::frontends
