#include "tools/measure/MeasureFusions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/text/TextFrontend.h"
#include "passes/Pipeline.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace tenon::tools {
namespace {

using passes::FusionDecision;
using passes::cost::Limiter;
using passes::cost::MeasuredPoints;

/// Two layers of the same operations, at whose end a cache is written and read.
constexpr const char* graph = R"(
tenon.file @m "m.gguf" bytes 65536 fingerprint 0
tenon.weight @w : tensor<64x64xf16> from [#tenon.range<@m, offset = 0, bytes = 8192>]
tenon.weight @u : tensor<64x64xf16> from [#tenon.range<@m, offset = 8192, bytes = 8192>]
tenon.state @k : !tenon.state<1x8x2x32xf32>
func.func @f(%x: tensor<1x64xf32>, %g: tensor<64xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>)
    -> tensor<1x2x32xf32> {
  %w = tenon.get_weight @w : tensor<64x64xf16>
  %u = tenon.get_weight @u : tensor<64x64xf16>
  %k = tenon.get_state @k : !tenon.state<1x8x2x32xf32>
  %0 = tenon.matmul %x, %w : (tensor<1x64xf32>, tensor<64x64xf16>) -> tensor<1x64xf32>
  %1 = tenon.add %0, %x : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %2 = tenon.matmul %1, %u : (tensor<1x64xf32>, tensor<64x64xf16>) -> tensor<1x64xf32>
  %3 = tenon.add %2, %1 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %4 = tenon.reshape %3 to [1, 2, 32] : (tensor<1x64xf32>) -> tensor<1x2x32xf32>
  %k1 = tenon.kv_write %4, %s, %p into %k : (tensor<1x2x32xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x32xf32>) -> !tenon.state<1x8x2x32xf32>
  %y = tenon.attention %4, %k1, %k1, %s, %p scale 1.0 : (tensor<1x2x32xf32>, !tenon.state<1x8x2x32xf32>, !tenon.state<1x8x2x32xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x32xf32>
  return %y : tensor<1x2x32xf32>
})";

/// Decides for the graph with `options`; what was decided.
std::vector<FusionDecision> decide(mlir::MLIRContext& context, TargetAttr target,
                                   passes::FusionOptions options) {
  std::vector<FusionDecision> decisions;
  options.plan = passes::Plan::Auto;
  options.report = &decisions;
  auto module = frontends::parseModuleText(context, graph, "test");
  EXPECT_THAT(module, tests::IsOk());
  EXPECT_THAT(
      passes::runPipeline(**module, {.upTo = Phase::Fused, .target = target, .fusion = options}),
      tests::IsOk());
  return decisions;
}

TEST(MeasureFusions, FillsTheStoreThatDecides) {
  tests::TempFolder folder;
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "cpu").value();
  FusionMeasurer measurer(target,
                          {.executor = {.threads = 1},
                           .position = 4,
                           .replaceSample = [](Sample) { return Sample{1000}; }},
                          /*rounds=*/3);
  std::vector<FusionDecision> predicted =
      decide(*context, target,
             {.inspect = [&](const FusionDecision& decision, llvm::ArrayRef<mlir::Operation*> ops) {
               measurer.note(decision, ops);
             }});
  auto legal =
      llvm::count_if(predicted, [](const FusionDecision& decision) { return decision.legal; });
  ASSERT_GE(legal, 2);
  // One candidate for both layers; product, sum, cache write and attention alone.
  EXPECT_LT(measurer.size(), static_cast<size_t>(legal) + 4);
  auto points = MeasuredPoints::openToAdd(folder.path("points.sqlite"), {"native", "here", "none"});
  ASSERT_THAT(points, tests::IsOk());
  size_t done = 0;
  ASSERT_THAT(measurer.measureAll(**points, [&](size_t now) { done = now; }), tests::IsOk());
  EXPECT_EQ(done, measurer.size());
  EXPECT_TRUE(measurer.leftOut().empty());

  for (const FusionDecision& decision : predicted) {
    EXPECT_NE(decision.fused.limiter, Limiter::Measured);
    const FusionTimes* times = measurer.find(decision);
    EXPECT_EQ(times != nullptr, decision.legal && decision.ops.size() > 1);
    if (times) {
      EXPECT_EQ(times->fusedNs, 1000);
      EXPECT_EQ(times->unfusedNs, 1000);
    }
  }
  for (const FusionDecision& decision : decide(*context, target, {.times = points->get()}))
    if (decision.legal && decision.ops.size() > 1) {
      EXPECT_EQ(decision.fused.limiter, Limiter::Measured) << decision.rule;
      EXPECT_EQ(decision.unfused.limiter, Limiter::Measured) << decision.rule;
      EXPECT_EQ(decision.fused.ns, measurer.find(decision)->fusedNs);
    }
}

/// The others go on, and no time of a busy machine is kept.
TEST(MeasureFusions, LeavesOutWhatNoiseHides) {
  tests::TempFolder folder;
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "cpu").value();
  FusionMeasurer measurer(target,
                          {.executor = {.threads = 1},
                           .position = 4,
                           .replaceSample = [](Sample) { return Sample{1000, true}; }},
                          /*rounds=*/1);
  std::vector<FusionDecision> predicted =
      decide(*context, target,
             {.inspect = [&](const FusionDecision& decision, llvm::ArrayRef<mlir::Operation*> ops) {
               measurer.note(decision, ops);
             }});
  auto points = MeasuredPoints::openToAdd(folder.path("points.sqlite"), {"native", "here", "none"});
  ASSERT_THAT(points, tests::IsOk());
  size_t done = 0;
  ASSERT_THAT(measurer.measureAll(**points, [&](size_t now) { done = now; }), tests::IsOk());
  EXPECT_EQ(done, measurer.size());
  EXPECT_EQ(measurer.leftOut().size(), measurer.size());
  EXPECT_THAT(measurer.leftOut(), testing::Contains("matmul add"));
  for (const FusionDecision& decision : predicted)
    EXPECT_EQ(measurer.find(decision), nullptr);
  for (const FusionDecision& decision : decide(*context, target, {.times = points->get()}))
    EXPECT_NE(decision.fused.limiter, Limiter::Measured);
}

TEST(MeasureFusions, NamesWhatItCannotMeasure) {
  tests::TempFolder folder;
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "h200").value();
  FusionMeasurer measurer(target, {}, /*rounds=*/1);
  decide(*context, target,
         {.inspect = [&](const FusionDecision& decision, llvm::ArrayRef<mlir::Operation*> ops) {
           measurer.note(decision, ops);
         }});
  auto points = MeasuredPoints::openToAdd(folder.path("points.sqlite"), {"h200", "none", "graph"});
  ASSERT_THAT(points, tests::IsOk());
  absl::Status status = measurer.measureAll(**points, [](size_t) {});
  if (status.ok())
    GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THAT(std::string(status.message()), testing::StartsWith("measuring "));
}

} // namespace
} // namespace tenon::tools
