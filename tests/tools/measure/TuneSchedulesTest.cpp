#include "tools/measure/TuneSchedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Dialect.h"
#include "kernels/KernelKind.h"
#include "passes/Pipeline.h"
#include "passes/schedule/Scheduler.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace tenon::tools {
namespace {

using passes::cost::contentKey;

/// Two equal products and one operation that has no other schedule.
constexpr const char* graph = R"(
func.func @f(%x: tensor<1x256xf32>, %w: tensor<256x256xf32>) -> tensor<1x256xf32> {
  %0 = tenon.matmul %x, %w : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
  %1 = tenon.matmul %0, %w : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
  %2 = tenon.softmax %1 : (tensor<1x256xf32>) -> tensor<1x256xf32>
  return %2 : tensor<1x256xf32>
})";

mlir::OwningOpRef<mlir::ModuleOp> schedule(mlir::MLIRContext& context, TargetAttr target,
                                           const passes::cost::MeasuredTimes* times = nullptr) {
  auto module = frontends::parseModuleText(context, graph, "test");
  EXPECT_THAT(module, tests::IsOk());
  passes::PipelineOptions options{
      .upTo = Phase::Scheduled, .target = target, .fusion = {.libraries = false}};
  options.fusion.times = times;
  EXPECT_THAT(passes::runPipeline(**module, options), tests::IsOk());
  return *std::move(module);
}

KernelOp firstKernel(mlir::ModuleOp module) {
  KernelOp first;
  module.walk([&](KernelOp kernel) {
    first = kernel;
    return mlir::WalkResult::interrupt();
  });
  return first;
}

/// Times that a test states.
class StatedTimes final : public passes::cost::MeasuredTimes {
public:
  std::optional<int64_t> find(const std::string& key) const override {
    auto found = times.find(key);
    return found == times.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<std::string, int64_t> times;
};

TEST(Scheduler, TakesTheAlternativeOfLeastMeasuredTime) {
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "x86-64-v3").value();
  auto module = schedule(*context, target);
  KernelOp kernel = firstKernel(*module);
  ScheduleAttr own = kernel.getScheduleAttr();
  auto scheduler = passes::schedule::Scheduler::create(*module, target);
  ASSERT_TRUE(mlir::succeeded(scheduler));
  auto alternatives = scheduler->alternatives(kernel);
  ASSERT_FALSE(alternatives.empty());
  StatedTimes times;
  for (ScheduleAttr other : alternatives) {
    EXPECT_NE(other, own);
    kernel.setScheduleAttr(other);
    times.times[contentKey(kernel)] = other == alternatives.back() ? 50 : 70;
  }
  // Without a time of its own choice there is nothing to compare with.
  EXPECT_EQ(firstKernel(*schedule(*context, target, &times)).getScheduleAttr(), own);
  kernel.setScheduleAttr(own);
  times.times[contentKey(kernel)] = 60;
  EXPECT_EQ(firstKernel(*schedule(*context, target, &times)).getScheduleAttr(),
            alternatives.back());
  times.times[contentKey(kernel)] = 40;
  EXPECT_EQ(firstKernel(*schedule(*context, target, &times)).getScheduleAttr(), own);
}

/// Every alternative of a product with bulk copies can be compiled, and its blocks fit.
TEST(Scheduler, KnowsOtherBulkCopies) {
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "h200").value();
  auto module = frontends::parseModuleText(*context, R"(
func.func @f(%x: tensor<1x2048xf16>, %g: tensor<2048xf16>, %w: tensor<3072x2048xf16>)
    -> tensor<1x3072xf16> {
  %0 = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<1x2048xf16>, tensor<2048xf16>) -> tensor<1x2048xf16>
  %1 = tenon.matmul %0, %w : (tensor<1x2048xf16>, tensor<3072x2048xf16>) -> tensor<1x3072xf16>
  return %1 : tensor<1x3072xf16>
})",
                                           "test");
  ASSERT_THAT(module, tests::IsOk());
  ASSERT_THAT(passes::runPipeline(**module, {.upTo = Phase::Planned,
                                             .target = target,
                                             .fusion = {.plan = passes::Plan::Fused}}),
              tests::IsOk());
  KernelOp kernel = firstKernel(**module);
  ScheduleAttr own = kernel.getScheduleAttr();
  ASSERT_EQ(own.getEmitter(), "gemv_bulk");
  auto scheduler = passes::schedule::Scheduler::create(**module, target);
  ASSERT_TRUE(mlir::succeeded(scheduler));
  auto alternatives = scheduler->alternatives(kernel);
  EXPECT_GE(alternatives.size(), 4u);
  for (ScheduleAttr other : alternatives) {
    EXPECT_NE(other, own);
    kernel.setScheduleAttr(other);
    auto matched = kernels::readKernel(kernel);
    ASSERT_TRUE(matched) << matched.reason();
    auto block = (*matched)->resources();
    ASSERT_TRUE(block);
    EXPECT_GE(residentBlocks(kernels::resourcesInPlace(
                                 kernel, *block, target.getProperty("registers_per_sm").value()),
                             target),
              1);
    EXPECT_THAT(codegen::compileForCuda(**module, {}), tests::IsOk());
  }
}

TEST(TuneSchedules, MeasuresEachKernelOnceAndKeepsTheBest) {
  tests::TempFolder folder;
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "cpu").value();
  auto module = schedule(*context, target);
  auto points = passes::cost::MeasuredPoints::openToAdd(folder.path("points.sqlite"),
                                                        {"native", "here", "none"});
  ASSERT_THAT(points, tests::IsOk());
  auto scheduler = passes::schedule::Scheduler::create(*module, target);
  ASSERT_TRUE(mlir::succeeded(scheduler));
  size_t schedules = 1 + scheduler->alternatives(firstKernel(*module)).size(), taken = 0;
  ASSERT_GT(schedules, 1u);
  // Samples are taken in turns, of the scheduler's own first; here the last is the fastest.
  auto fastestLast = [&](Sample) {
    return Sample{taken++ % schedules == schedules - 1 ? 1e3 : 2e3};
  };
  size_t done = 0;
  auto tuned = tuneSchedules(
      *module, {.executor = {.threads = 1}, .position = 0, .replaceSample = fastestLast},
      /*rounds=*/3, **points, [&](size_t now, size_t) { done = now; }, [](const TunedKernel&) {});
  ASSERT_THAT(tuned, tests::IsOk());
  EXPECT_EQ(done, 1u);
  ASSERT_EQ(tuned->size(), 1u);
  const TunedKernel& kernel = tuned->front();
  EXPECT_EQ(kernel.operations, "matmul");
  EXPECT_EQ(kernel.places, 2);
  ASSERT_EQ(kernel.schedules.size(), schedules);
  EXPECT_THAT(kernel.schedules[0].schedule, testing::HasSubstr("columns_per_tile"));
  EXPECT_EQ(kernel.schedules[0].ns, 2000);
  EXPECT_EQ(kernel.best(), schedules - 1);
  // What was kept decides.
  std::string chosen;
  llvm::raw_string_ostream(chosen)
      << firstKernel(*schedule(*context, target, points->get())).getScheduleAttr();
  EXPECT_EQ(chosen, kernel.schedules[kernel.best()].schedule);
}

TEST(TuneSchedules, LeavesOutWhatNoiseHides) {
  tests::TempFolder folder;
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "cpu").value();
  auto module = schedule(*context, target);
  auto points = passes::cost::MeasuredPoints::openToAdd(folder.path("points.sqlite"),
                                                        {"native", "here", "none"});
  ASSERT_THAT(points, tests::IsOk());
  size_t done = 0;
  std::vector<std::string> leftOut;
  auto tuned = tuneSchedules(
      *module,
      {.executor = {.threads = 1},
       .position = 0,
       .replaceSample = [](Sample) { return Sample{1000, true}; }},
      /*rounds=*/1, **points, [&](size_t now, size_t) { done = now; },
      [&](const TunedKernel& kernel) { leftOut.push_back(kernel.operations); });
  ASSERT_THAT(tuned, tests::IsOk());
  EXPECT_THAT(*tuned, testing::IsEmpty());
  EXPECT_THAT(leftOut, testing::ElementsAre("matmul"));
  EXPECT_EQ(done, 1u);
  EXPECT_EQ((*points)->find(contentKey(firstKernel(*module))), std::nullopt);
}

TEST(TunedKernel, PrefersItsOwnScheduleWithinTheSpread) {
  TunedKernel kernel;
  kernel.schedules = {{"own", 1000, 20}, {"a", 970, 15}, {"b", 990, 0}};
  EXPECT_EQ(kernel.best(), 0u);
  kernel.schedules[1].ns = 960;
  EXPECT_EQ(kernel.best(), 1u);
}

} // namespace
} // namespace tenon::tools
