// The tools on a GPU: kernels verified where they run, fusions measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
