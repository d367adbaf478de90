#include "tools/measure/ExplainReport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace tenon::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

passes::FusionDecision makeDecision() {
  passes::FusionDecision decision;
  decision.function = "decode_1", decision.rule = "residual-norm";
  decision.ops = {"add blk.0.residual", "rms_norm blk.0.norm"};
  decision.shape = "tensor<1x64xf32>", decision.reason = "saves 100 ns";
  decision.taken = decision.legal = true;
  decision.fused.ns = 1900, decision.unfused.ns = 2000;
  return decision;
}

TEST(ExplainReport, JoinsMeasuredAndPredicted) {
  passes::FusionDecision decision = makeDecision();
  ExplainedFusion fusion{&decision, FusionTimes{2000, 10, 1600, 20}};
  nlohmann::json json = describeFusion(fusion);
  EXPECT_EQ(json["predicted_fused_ns"], 1900);
  EXPECT_EQ(json["measured_fused_ns"], 2000);
  EXPECT_EQ(json["measured_unfused_ns"], 1600);
  EXPECT_EQ(json["fused_error_percent"], -5);
  EXPECT_EQ(json["unfused_error_percent"], 25);
  EXPECT_EQ(json["measurement_decides_otherwise"], true);
  std::string text = formatFusions({fusion});
  EXPECT_THAT(text, HasSubstr("@decode_1"));
  EXPECT_THAT(text, HasSubstr("2000"));
  EXPECT_THAT(text, HasSubstr("1 candidates measured: error of prediction, median 5.0 %, 95th "
                              "percentile 25.0 %; measurement decides 1 otherwise"));
}

TEST(ExplainReport, WithoutMeasurements) {
  passes::FusionDecision decision = makeDecision(), refused = makeDecision();
  refused.legal = refused.taken = false;
  refused.reason = "no emitter";
  nlohmann::json json = describeFusion({&refused});
  EXPECT_TRUE(json["predicted_fused_ns"].is_null());
  EXPECT_FALSE(json.contains("measured_fused_ns"));
  std::string text = formatFusions({{&decision}, {&decision}, {&refused}});
  EXPECT_THAT(text, HasSubstr("residual-norm: add rms_norm → tensor<1x64xf32>; saves 100 ns"));
  EXPECT_THAT(text, HasSubstr("yes       2"));
  EXPECT_THAT(text, HasSubstr("no emitter"));
  EXPECT_THAT(text, Not(HasSubstr("measured")));
}

passes::FusionDecision makeNeighbours(const std::string& layer, const std::string& reason,
                                      int64_t mostSavedNs, bool legal) {
  passes::FusionDecision pair = makeDecision();
  pair.ops = {"gelu " + layer + ".gelu", "matmul " + layer + ".down"};
  pair.rule = "neighbours", pair.reason = reason, pair.mostSavedNs = mostSavedNs;
  pair.legal = legal, pair.taken = false;
  return pair;
}

TEST(ExplainReport, BeginsWithSharesBoundsAndRefusals) {
  passes::FunctionFusion function;
  function.function = "decode_1", function.apartNs = 10'000, function.plannedNs = 8'000;
  function.neighbours = {makeNeighbours("blk.0", "matmul 'blk.0.down' is too wide", 300, false),
                         makeNeighbours("blk.1", "matmul 'blk.1.down' is too wide", 300, false),
                         makeNeighbours("blk.2", "takes 5 ns longer", 900, true)};
  for (int i = 0; i < 12; ++i)
    function.neighbours.push_back(makeNeighbours(
        "x", "refusal " + std::string(1, static_cast<char>('a' + i)), 10 + i, false));
  passes::FusionDecision elsewhere = makeDecision();
  elsewhere.function = "prefill_32";
  std::string text = formatOverview({function}, {makeDecision(), makeDecision(), elsewhere});
  EXPECT_THAT(text, HasSubstr("decode_1 as predicted: 10.0 us one operation at a time, 8.0 us as "
                              "planned, 1.25 times as fast\n"));
  // Two chains of 2 µs of 10: without them the rest would be 1 / 0.6 times as fast.
  EXPECT_THAT(text, HasSubstr("      2  40.0 %    1.67        0.2    2.0 %  add rms_norm\n"));
  // What is legal was weighed and is no refusal; the layers' refusals count together.
  EXPECT_THAT(text,
              HasSubstr("      2        0.6    7.5 %  gelu matmul: matmul 'blk.*.down' is too "
                        "wide\n"));
  EXPECT_THAT(text, Not(HasSubstr("longer")));
  EXPECT_THAT(text, HasSubstr("refusal l\n"));
  EXPECT_THAT(text, HasSubstr("refusal d\n"));
  EXPECT_THAT(text, Not(HasSubstr("refusal c\n"))); // the eleventh
}

TEST(ExplainReport, EndsWithEveryTwoNeighbours) {
  passes::FunctionFusion silent, function;
  silent.function = "all_fused";
  function.function = "f";
  function.neighbours = {makeNeighbours("blk.0", "matmul blk.0.down is part of x", 1, true),
                         makeNeighbours("blk.17", "matmul blk.17.down is part of x", 1, true),
                         makeNeighbours("blk.0", "no emitter", 1, false)};
  EXPECT_EQ(formatNeighbours({silent, function}),
            "\nf: neighbours that do not share a kernel\n"
            "  2 times: gelu matmul → tensor<1x64xf32>: matmul blk.*.down is part of x\n"
            "  1 times: gelu matmul → tensor<1x64xf32>: no emitter\n");
}

TEST(ExplainReport, KeepsGroupsForPrograms) {
  passes::FusionDecision decision = makeDecision();
  nlohmann::ordered_json groups = describeFusionGroups({{&decision}, {&decision}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0]["times"], 2);
  EXPECT_EQ(groups[0]["ops"], nlohmann::ordered_json({"add", "rms_norm"}));
  EXPECT_EQ(groups[0]["reason"], "saves 100 ns");
}

TEST(ExplainReport, AgreesWhereTheSameIsFaster) {
  passes::FusionDecision decision = makeDecision();
  EXPECT_FALSE(
      (ExplainedFusion{&decision, FusionTimes{10, 0, 11, 0}}.measurementDecidesOtherwise()));
}

} // namespace
} // namespace tenon::tools
