#include "bench/fusion/Honesty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/fusion/CostFit.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::bench {
namespace {

using ::testing::HasSubstr;
using tests::FailsWith;
using tests::IsOk;

/// One fusion made rightly, one made wrongly, one refused rightly, one refused wrongly.
TEST(Honesty, CountsChoices) {
  Honesty h = judge({{"a", "c", 100, 200, 110, 190},
                     {"b", "c", 100, 200, 300, 200},
                     {"c", "c", 200, 100, 150, 100},
                     {"d", "c", 200, 100, 80, 100}});
  EXPECT_EQ(h.points, 4u);
  EXPECT_EQ(h.fasterUnfused, 2u);
  EXPECT_EQ(h.refusals, 2u);
  EXPECT_EQ(h.rightRefusals, 1u);
  EXPECT_NEAR(h.totalRegret, (100 + 20) / (110.0 + 200 + 100 + 80), 1e-12);
  EXPECT_NEAR(h.meanRegret, (0.5 + 0.25) / 4, 1e-12);
  EXPECT_NEAR(h.worstRegret, 0.5, 1e-12);
}

TEST(Honesty, CountsErrorsOfBothPlans) {
  Honesty h = judge({{"a", "c", 110, 200, 100, 100}, {"b", "c", 90, 100, 100, 100}});
  EXPECT_NEAR(h.medianError, 0.1, 1e-12); // of 0, 0.1, 0.1, 1
  EXPECT_NEAR(h.p95Error, 1, 1e-12);
  EXPECT_NEAR(h.worstError, 1, 1e-12);
}

TEST(Honesty, ComparesSavings) {
  // Savings, predicted and measured: 10, 20; 30, 40; 20, 80; -5, -1, which is not made.
  Honesty h = judge({{"a", "c", 100, 110, 100, 120},
                     {"b", "c", 100, 130, 100, 140},
                     {"c", "c", 100, 120, 100, 180},
                     {"d", "c", 100, 95, 100, 99}});
  EXPECT_NEAR(h.transferRatio, 60.0 / 140, 1e-12);
  EXPECT_NEAR(h.tau, (5 - 1) / 6.0, 1e-12); // b and c the other way round
  EXPECT_THAT(formatTable({{"a", "c", 100, 110, 100, 120}}), HasSubstr("| 0.50 |  |\n"));
}

TEST(Points, AreAllCombinations) {
  auto points = parsePoints("# none\ncheck rms_product f16,bf16 1,2 64 32,96 # some\n"
                            "calibrate qkv f32 1 64 64\n",
                            "check");
  ASSERT_THAT(points, IsOk());
  ASSERT_EQ(points->size(), 8u);
  EXPECT_EQ(points->front().name(), "rms_product f16 1x64x32");
  EXPECT_EQ(points->back().name(), "rms_product bf16 2x64x96");
}

TEST(Points, Errors) {
  auto expectError = [](const std::string& line, const std::string& message) {
    EXPECT_THAT(parsePoints("\n" + line, "check"),
                FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("line 2: " + message)));
  };
  expectError("verify qkv f16 1 64 64", "expects a set of calibrate, check, many-calibrate, "
                                        "many-check, peers, but got 'verify'");
  expectError("check qkv f16 1", "expects SET CHAIN TYPES ROWS HIDDEN [COLUMNS]");
  expectError("check qvk f16 1 64 64", "no chain is named 'qvk'");
  expectError("check qkv q8_0 1 64 64", "expects types of f16, bf16 and f32, but got 'q8_0'");
  expectError("check qkv f16 1,0 64 64", "expects numbers from 1 to 1048576 between commas");
}

/// The shapes of the repository: 300 points and more to check the model with, none of whose chains at
/// a width it was fitted at.
TEST(Points, OfTheRepository) {
  auto check = readPoints(TENON_BENCH_SHAPES, "check");
  auto calibrate = readPoints(TENON_BENCH_SHAPES, "calibrate");
  ASSERT_THAT(check, IsOk());
  ASSERT_THAT(calibrate, IsOk());
  EXPECT_GE(check->size(), 300u);
  for (const FusionPoint& point : *check)
    for (const FusionPoint& other : *calibrate)
      EXPECT_NE(point.name(), other.name());
  auto many = readPoints(TENON_BENCH_SHAPES, "many-check");
  ASSERT_THAT(many, IsOk());
  EXPECT_GE(many->size(), 70u);
  for (const FusionPoint& point : *many)
    EXPECT_GE(point.shape.rows, 17) << point.name();
}

TEST(TargetFile, ReplacesValues) {
  auto text = replaceProperties("  // ab = 3\n  ab = 12 : i64,\n  b = 5 : i64\n", {{"ab", 7}});
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(*text, "  // ab = 3\n  ab = 7 : i64,\n  b = 5 : i64\n");
  EXPECT_THAT(replaceProperties("  b = 5 : i64\n", {{"ab", 7}}),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("no property ab")));
}

TEST(CostFit, NamesLinesThatAreNoPoints) {
  std::string path = ::testing::TempDir() + "/points.jsonl";
  std::ofstream(path) << R"({"chain": "qkv", "type": "f16"})" << "\n";
  EXPECT_THAT(CostFit::create(path, "h200"),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        HasSubstr("points.jsonl:1: expects an object")));
}

/// Times of other kernels than the plans now make say nothing of the model.
TEST(CostFit, RefusesPointsOfOtherKernels) {
  std::string path = ::testing::TempDir() + "/other-kernels.jsonl";
  std::ofstream(path)
      << R"({"chain": "rms_product", "type": "f16", "rows": 1, "hidden": 2048, )"
      << R"("columns": 2048, "launch": "graph-pdl", )"
      << R"("fused": {"kernels": 7, "ns": 4000}, "unfused": {"kernels": 2, "ns": 5000}})"
      << "\n";
  EXPECT_THAT(CostFit::create(path, "h200"),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        HasSubstr("fused was measured as 7 kernels, but is planned as 1")));
}

/// What an H200 took, against the model with an empty database of measured times.
TEST(HonestyOnH200, HoldsForShapesThatTheModelWasNotFittedTo) {
  auto fit = CostFit::create(TENON_BENCH_RESULTS "/fusion-check-h200.jsonl", "h200");
  ASSERT_THAT(fit, IsOk());
  auto points = fit->predict();
  ASSERT_THAT(points, IsOk());
  Honesty h = judge(*points);
  EXPECT_GE(h.points, 300u);
  EXPECT_GE(h.fasterUnfused, h.points / 5);
  EXPECT_LE(h.medianError, 0.15);
  EXPECT_LE(h.p95Error, 0.40);
  EXPECT_GE(h.rightRefusals, h.refusals * 4 / 5);
  EXPECT_LE(h.totalRegret, 0.03);
  EXPECT_LE(h.meanRegret, 0.03);
  EXPECT_LE(h.worstRegret, 0.15);
}

} // namespace
} // namespace tenon::bench
