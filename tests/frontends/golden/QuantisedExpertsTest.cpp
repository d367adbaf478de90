// Mixtures of experts whose experts are quantised: the bits of their dequantised form.
#include "tests/frontends/golden/QuantisedExperts.h"
#include "frontends/models/Frontend.h"
#include "tests/frontends/golden/ReferenceModel.h"

namespace tenon::tests {
namespace {

class QuantisedExperts : public ::testing::TestWithParam<std::tuple<const char*, ExpertContainer>> {
};

TEST_P(QuantisedExperts, HaveTheBitsOfTheDequantisedForm) {
  const auto& [model, container] = GetParam();
  ExpertForms forms(model, container);
  auto source = frontends::openModel(forms.quantised.path(""));
  ASSERT_THAT(source, IsOk());
  auto weight = (*source)->requireTensor("blk.1.ffn_up_exps.weight");
  ASSERT_THAT(weight, IsOk());
  EXPECT_EQ((*weight)->encoding->name, container.encoding);
  EXPECT_EQ((*weight)->shape.size(), 3u);
  const std::vector<int32_t> ids = {1, 77, 12, 203, 77, 5, 140, 31, 250, 9, 66};
  ReferenceModel quantised(forms.quantised.path("")), plain(forms.plain.path(""));
  std::vector<Results> expected = plain.decodeAll(ids);
  ASSERT_EQ(expected.size(), ids.size());
  ASSERT_GE(expected.front().size(), 3u);
  EXPECT_EQ(quantised.decodeAll(ids), expected);
}

INSTANTIATE_TEST_SUITE_P(All, QuantisedExperts,
                         ::testing::Combine(::testing::Values("qwen3moe", "mixtral", "qwen2moe",
                                                              "olmoe"),
                                            ::testing::ValuesIn(expertContainers())),
                         [](const auto& info) {
                           return std::get<0>(info.param) + ("_" + std::get<1>(info.param).name);
                         });

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
  ExpertForms forms("qwen3moe", shuffled);
  EXPECT_THAT(
      frontends::openModel(forms.quantised.path("")),
      FailsWith(absl::StatusCode::kInvalidArgument,
                ::testing::HasSubstr(
                    "tensors 'model.layers.0.mlp.experts.#.gate_proj.qweight' expect columns "
                    "in the order of the inputs, but got another for expert 0 (desc_act)")));
}

} // namespace
} // namespace tenon::tests
