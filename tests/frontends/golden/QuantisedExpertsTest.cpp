// Mixtures of experts whose experts are quantised, and text models within models with images: the bits of their
// dequantised form.
#include "tests/frontends/golden/QuantisedExperts.h"
#include "frontends/models/Frontend.h"
#include "tests/common/FamilyGolden.h"
#include "tests/frontends/golden/ReferenceModel.h"

namespace tenon::tests {
namespace {

void expectSameBits(const QuantisedForms& forms) {
  const std::vector<int32_t> ids = {1, 77, 12, 103, 77, 5, 40, 31, 50, 9, 66};
  ReferenceModel quantised(forms.quantised.path("")), plain(forms.plain.path(""));
  std::vector<Results> expected = plain.decodeAll(ids);
  ASSERT_EQ(expected.size(), ids.size());
  ASSERT_GE(expected.front().size(), 3u);
  EXPECT_EQ(quantised.decodeAll(ids), expected);
}

class QuantisedExperts : public ::testing::TestWithParam<std::tuple<const char*, ExpertContainer>> {
};

TEST_P(QuantisedExperts, HaveTheBitsOfTheDequantisedForm) {
  const auto& [model, container] = GetParam();
  QuantisedForms forms(TENON_TEST_BUILD "/hf/" + std::string(model), container);
  auto source = frontends::openModel(forms.quantised.path(""));
  ASSERT_THAT(source, IsOk());
  auto weight = (*source)->requireTensor("blk.1.ffn_up_exps.weight");
  ASSERT_THAT(weight, IsOk());
  EXPECT_EQ((*weight)->encoding->name, container.encoding);
  EXPECT_EQ((*weight)->shape.size(), 3u);
  expectSameBits(forms);
}

INSTANTIATE_TEST_SUITE_P(All, QuantisedExperts,
                         ::testing::Combine(::testing::Values("qwen3moe", "mixtral", "qwen2moe",
                                                              "olmoe"),
                                            ::testing::ValuesIn(expertContainers())),
                         [](const auto& info) {
                           return std::get<0>(info.param) + ("_" + std::get<1>(info.param).name);
                         });

/// Linear layers of a text model in a model with images; some have rows that are no whole groups.
bool isOfText(const std::string& name, const Tensor& tensor) {
  return name.find("vis") == name.npos && name.find("layers.") != name.npos &&
         name.ends_with("_proj.weight") && tensor.shape[1] % expertGroup == 0;
}

/// What the names of a nested folder's layers begin with, as a regular expression.
std::string prefixOf(const std::string& model) {
  if (model == "qwen2_5_vl")
    return R"(model)";
  return model == "qwen3_vl" ? R"(model\.language_model)" : R"(language_model\.model)";
}

class QuantisedNested : public ::testing::TestWithParam<std::tuple<const char*, ExpertContainer>> {
};

TEST_P(QuantisedNested, HaveTheBitsOfTheDequantisedForm) {
  auto [model, container] = GetParam();
  // Rules name layers as the file does.
  if (container.name == "pack_quantized")
    container.settings["config_groups"]["group_0"]["targets"] = {"re:" + prefixOf(model) +
                                                                 R"(\.layers\.\d+\.)"};
  expectSameBits(QuantisedForms(nestedFolder(model), container, isOfText));
}

INSTANTIATE_TEST_SUITE_P(All, QuantisedNested,
                         ::testing::Combine(::testing::ValuesIn(nestedFolders),
                                            ::testing::ValuesIn(expertContainers())),
                         [](const auto& info) {
                           return std::get<0>(info.param) + ("_" + std::get<1>(info.param).name);
                         });

/// Ministral 3 is published with a scale for each tensor, of no axes, beside those of activations.
TEST(QuantisedNestedScales, OfNoAxes) {
  ExpertContainer container{
      "fp8",
      {{"quant_method", "fp8"}, {"activation_scheme", "static"}, {"weight_block_size", nullptr}},
      "",
      [](int64_t rows, int64_t columns, uint32_t number) {
        ExpertLayer layer = writeFloat8(rows, columns, number, rows, columns, "weight_scale_inv");
        Tensor& scale = layer.stored.at(".weight_scale_inv");
        // Its upper half in BF16, which it fits into.
        scale = {"BF16", {}, scale.bytes.substr(2)};
        layer.stored[".activation_scale"] = scale;
        return layer;
      }};
  expectSameBits(QuantisedForms(nestedFolder("mistral3"), container, isOfText));
}

/// Each expert would need the inputs in an order of its own.
TEST(QuantisedExpertsErrors, RefusesOrdersByActivations) {
  const ExpertContainer shuffled{
      "gptq_order",
      {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", expertGroup}, {"desc_act", true}},
      "",
      [](int64_t rows, int64_t columns, uint32_t number) {
        containers::test::Matrix m = makeExpert(rows, columns, number);
        std::ranges::reverse(m.groupOf);
        return writeIntegers(m, writeGptq(m, /*lessOne=*/true), gptqNames);
      }};
  QuantisedForms forms(TENON_TEST_BUILD "/hf/qwen3moe", shuffled);
  EXPECT_THAT(
      frontends::openModel(forms.quantised.path("")),
      FailsWith(absl::StatusCode::kInvalidArgument,
                ::testing::HasSubstr(
                    "tensors 'model.layers.0.mlp.experts.#.gate_proj.qweight' expect columns "
                    "in the order of the inputs, but got another for expert 0 (desc_act)")));
}

} // namespace
} // namespace tenon::tests
