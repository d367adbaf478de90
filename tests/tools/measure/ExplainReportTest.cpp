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

TEST(ExplainReport, AgreesWhereTheSameIsFaster) {
  passes::FusionDecision decision = makeDecision();
  EXPECT_FALSE(
      (ExplainedFusion{&decision, FusionTimes{10, 0, 11, 0}}.measurementDecidesOtherwise()));
}

} // namespace
} // namespace tenon::tools
