// The tools on a GPU: kernels verified where they run, fusions measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "passes/Pipeline.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tests/runtime/cuda/GpuTest.h"
#include "tests/tools/verify/VerifyCase.h"
#include "tools/calibrate/Probe.h"
#include "tools/measure/MeasureFusions.h"

namespace tenon::tools {
namespace {

using testing::HasSubstr;
using tests::FailsWith;

class ToolsGpuTest : public runtime::test::GpuTest {};

TEST_F(ToolsGpuTest, VerifiesACorrectPlan) {
  auto compiled = compileGraph(verifiedGraph, "cuda");
  ASSERT_THAT(compiled, tests::IsOk());
  auto call = verifyCall(*compiled, *compiled);
  ASSERT_THAT(call, tests::IsOk());
  EXPECT_TRUE(llvm::any_of(call->checks, [](const StepCheck& check) { return check.isFused; }));
  for (const StepCheck& check : call->checks) {
    EXPECT_EQ(check.differing, 0) << check.name;
    EXPECT_LT(check.error.relative(), 1e-5) << check.name;
  }
}

TEST_F(ToolsGpuTest, FindsAWrongFusedKernel) {
  auto correct = compileGraph(verifiedGraph, "cuda");
  auto wrong =
      compileGraph(absl::StrReplaceAll(verifiedGraph, {{"eps 1.0e-5", "eps 1.0e-2"}}), "cuda");
  ASSERT_THAT(correct, tests::IsOk());
  ASSERT_THAT(wrong, tests::IsOk());
  auto call = verifyCall(*correct, *wrong);
  ASSERT_THAT(call, tests::IsOk());
  EXPECT_THAT(verdictOf({*call}), FailsWith(absl::StatusCode::kDataLoss, HasSubstr("rms_norm")));
}

/// A residual sum, its norm and a gated pair of products; x · w of f16 has no w.
std::string gatedPair(int64_t rows, const std::string& type, const std::string& weights) {
  std::string text = R"(
func.func @f(%x: {X}, %r: {X}, %g: tensor<256x{T}>, %u: {W}, %v: {W}) -> ({X}, {Y}) {
  %h = tenon.add %x, %r : ({X}, {X}) -> {X}
  %n = tenon.rms_norm {NORM}
  %0 = tenon.matmul %n, %u : ({X}, {W}) -> {Y}
  %1 = tenon.matmul %n, %v : ({X}, {W}) -> {Y}
  %2 = tenon.glu silu %0, %1 : ({Y}, {Y}) -> {Y}
  return %h, %2 : {X}, {Y}
})";
  text = absl::StrReplaceAll(
      text, {{"{NORM}", type == "f16" ? "%h eps 1.0e-5 : ({X}) -> {X}"
                                      : "%h, %g eps 1.0e-5 : ({X}, tensor<256x{T}>) "
                                        "-> {X}"}});
  return absl::StrReplaceAll(text, {{"{X}", absl::StrFormat("tensor<%dx256x%s>", rows, type)},
                                    {"{Y}", absl::StrFormat("tensor<%dx320x%s>", rows, type)},
                                    {"{W}", absl::StrFormat("tensor<320x256x%s>", weights)},
                                    {"{T}", type}});
}

/// Products whose rows are multiplied by 1/rms where they are computed; those of few rows make
/// x · w, too.
TEST_F(ToolsGpuTest, VerifiesRelaxedNumerics) {
  for (auto [type, weights] : {std::pair<std::string, std::string>("f16", "f16"),
                               {"bf16", "bf16"},
                               {"bf16", "!tenon.block<q4_k>"}})
    for (int64_t rows : {1, 8, 48}) {
      SCOPED_TRACE(absl::StrFormat("%d rows of %s by %s", rows, type, weights));
      auto compiled =
          compileGraph(gatedPair(rows, type, weights), "cuda", passes::Numerics::Relaxed);
      ASSERT_THAT(compiled, tests::IsOk());
      auto call = verifyCall(*compiled, *compiled);
      ASSERT_THAT(call, tests::IsOk());
      EXPECT_TRUE(llvm::any_of(call->checks, [](const StepCheck& check) {
        return absl::StrContains(check.name, "matmul+mul");
      }));
      for (const StepCheck& check : call->checks) {
        EXPECT_EQ(check.differing, 0) << check.name;
        EXPECT_LT(check.error.relative(), type == "f16" ? 4e-3 : 3e-2) << check.name;
      }
    }
}

constexpr const char* sumNorm = R"(
func.func @f(%a: tensor<1x2560xf16>, %b: tensor<1x2560xf16>, %g: tensor<2560xf16>)
    -> (tensor<1x2560xf16>, tensor<1x2560xf16>) {
  %s = tenon.add %a, %b : (tensor<1x2560xf16>, tensor<1x2560xf16>) -> tensor<1x2560xf16>
  %n = tenon.rms_norm %s, %g eps 1.0e-5
      : (tensor<1x2560xf16>, tensor<2560xf16>) -> tensor<1x2560xf16>
  return %s, %n : tensor<1x2560xf16>, tensor<1x2560xf16>
})";

/// A norm of a sum in one kernel beside both apart, on the clock, in each launch mode.
TEST_F(ToolsGpuTest, MeasuresFusions) {
  tests::TempFolder folder;
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "cuda", "native").value();
  for (const char* launch : {"stream", "graph", "graph-pdl"}) {
    TimerOptions timer;
    timer.executor.setLaunch(launch);
    FusionMeasurer measurer(target, timer, /*rounds=*/5);
    std::vector<passes::FusionDecision> decisions;
    auto module = frontends::parseModuleText(*context, sumNorm, "test").value();
    passes::PipelineOptions options{.upTo = Phase::Fused, .target = target};
    options.fusion = {
        .plan = passes::Plan::Auto,
        .report = &decisions,
        .inspect = [&](const passes::FusionDecision& decision,
                       llvm::ArrayRef<mlir::Operation*> ops) { measurer.note(decision, ops); }};
    ASSERT_THAT(passes::runPipeline(*module, options), tests::IsOk());
    auto points = passes::cost::MeasuredPoints::openToAdd(folder.path("points.sqlite"),
                                                          {"target", "device", launch});
    ASSERT_THAT(points, tests::IsOk());
    ASSERT_THAT(measurer.measureAll(**points, [](size_t) {}), tests::IsOk());
    ASSERT_EQ(decisions.size(), 1u);
    const FusionTimes* times = measurer.find(decisions[0]);
    ASSERT_TRUE(times);
    // Two launches take longer than one; neither takes nothing, or a tenth of a millisecond.
    EXPECT_GT(times->unfusedNs, times->fusedNs) << launch;
    EXPECT_GT(times->fusedNs, 300) << launch;
    EXPECT_LT(times->unfusedNs, 100'000) << launch;
  }
}

} // namespace
} // namespace tenon::tools
