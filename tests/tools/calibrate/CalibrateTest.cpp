#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/Dialect.h"
#include "ir/Targets.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tools/calibrate/Calibration.h"
#include "tools/calibrate/CudaProbes.h"
#include "tools/calibrate/Probe.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/driver/TargetFile.h"

namespace tenon::tools {
namespace {

using testing::HasSubstr;
using tests::FailsWith;

std::vector<std::string> namesOf(const std::vector<MeasuredProperty>& properties) {
  std::vector<std::string> names;
  for (const MeasuredProperty& property : properties)
    names.push_back(property.name);
  return names;
}

/// On a busy machine some are left out; none is lost without a word.
TEST(Calibrate, MeasuresThisCpu) {
  auto context = makeContext();
  TargetAttr base = chooseTarget(*context, "cpu").value();
  std::vector<std::string> names;
  auto measured =
      calibrateCpu(base, {.threads = 1, .rounds = 3, .onLeftOut = [&](const std::string& property) {
                            names.push_back(property);
                          }});
  ASSERT_THAT(measured, tests::IsOk());
  for (const MeasuredProperty& property : *measured) {
    EXPECT_TRUE(base.getProperty(property.name)) << property.name;
    EXPECT_GE(property.value, 1) << property.name;
    if (property.name == "dram_mb_per_s")
      EXPECT_GT(property.value, 100); // a floppy disk has less
    names.push_back(property.name);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("cores", "step_ns", "cache_mb_per_s",
                                                   "dram_mb_per_s", "f32_gflops"));
}

/// Samples of 1,000 ns a step, 100 bytes/ns in caches, 50 from memory and 200 flops/ns, in the
/// order in which they are taken.
class StatedSamples {
public:
  Sample operator()(Sample) {
    constexpr double rowBytes = 3 * 4 * 4096, readBytes = 64 << 20, flops = 2.0 * 64 * 1024 * 1024;
    const double ns[] = {4 * rowBytes / 100,  16 * rowBytes / 100, readBytes / 64 / 50,
                         readBytes / 16 / 50, readBytes / 4 / 50,  readBytes / 50,
                         flops / 200};
    EXPECT_LT(taken, std::size(ns));
    return {1000 + ns[taken++ % std::size(ns)]};
  }

private:
  size_t taken = 0;
};

TEST(Calibrate, TakesPropertiesFromTheTimes) {
  auto context = makeContext();
  TargetAttr base = chooseTarget(*context, "cpu").value();
  StatedSamples stated;
  auto measured =
      calibrateCpu(base, {.threads = 1, .rounds = 1, .replaceSample = std::ref(stated)});
  ASSERT_THAT(measured, tests::IsOk());
  ASSERT_THAT(namesOf(*measured), testing::ElementsAre("cores", "step_ns", "cache_mb_per_s",
                                                       "dram_mb_per_s", "f32_gflops"));
  EXPECT_EQ((*measured)[0].value, 1);
  EXPECT_NEAR((*measured)[1].value, 1'000, 2);
  EXPECT_NEAR((*measured)[2].value, 100'000, 20);
  EXPECT_NEAR((*measured)[3].value, 50'000, 2);
  EXPECT_NEAR((*measured)[4].value, 200, 1);
}

/// What was not measured stays as the base has it.
TEST(Calibrate, LeavesOutWhatNoiseHides) {
  auto context = makeContext();
  TargetAttr base = chooseTarget(*context, "cpu").value();
  std::vector<std::string> leftOut;
  auto measured = calibrateCpu(
      base, {.threads = 1,
             .rounds = 1,
             .onLeftOut = [&](const std::string& property) { leftOut.push_back(property); },
             .replaceSample = [](Sample) { return Sample{1000, /*isDisturbed=*/true}; }});
  ASSERT_THAT(measured, tests::IsOk());
  EXPECT_THAT(leftOut,
              testing::ElementsAre("step_ns", "cache_mb_per_s", "dram_mb_per_s", "f32_gflops"));
  EXPECT_THAT(namesOf(*measured), testing::ElementsAre("cores"));
  EXPECT_THAT(formatTarget(base, *measured, "a device", "2026-11-22"),
              HasSubstr("// Not measured, but as of target"));
}

/// Times that contradict each other are no properties: here more work takes no longer.
TEST(Calibrate, LeavesOutWhatContradictsItself) {
  auto context = makeContext();
  TargetAttr base = chooseTarget(*context, "cpu").value();
  std::vector<std::string> leftOut;
  auto measured = calibrateCpu(
      base, {.threads = 1,
             .rounds = 1,
             .onLeftOut = [&](const std::string& property) { leftOut.push_back(property); },
             .replaceSample = [](Sample) { return Sample{1e9}; }});
  ASSERT_THAT(measured, tests::IsOk());
  EXPECT_THAT(leftOut, testing::ElementsAre("step_ns", "cache_mb_per_s"));
  EXPECT_THAT(namesOf(*measured), testing::ElementsAre("cores", "dram_mb_per_s", "f32_gflops"));
}

TEST(Calibrate, WritesATargetThatIsReadAgain) {
  tests::TempFolder folder;
  auto context = makeContext();
  TargetAttr base = findTarget(context.get(), "h200");
  std::string text = formatTarget(
      base, {{"sms", 114, "As the driver says."}, {"dram_mb_per_s", 3'000'000, "A sentence."}},
      "a device", "2026-11-21");
  EXPECT_THAT(text, HasSubstr("// Measured by `tenon calibrate` on a device, 2026-11-21."));
  EXPECT_THAT(text, HasSubstr("  // A sentence.\n  dram_mb_per_s = 3000000 : i64"));
  EXPECT_THAT(text, HasSubstr("// Not measured, but as of target h200."));
  std::string path = folder.path("mine.target");
  std::ofstream(path) << text;
  auto target = chooseTarget(*context, path);
  ASSERT_THAT(target, tests::IsOk());
  EXPECT_EQ(target->getProperty("sms"), 114);
  EXPECT_EQ(target->getProperty("dram_mb_per_s"), 3'000'000);
  EXPECT_EQ(target->getProperty("measured"), 1);
  EXPECT_EQ(target->getProperty("l2_bytes"), base.getProperty("l2_bytes"));
  EXPECT_EQ(target->getProperties().size(), base.getProperties().size());
  EXPECT_EQ(target->getFeatures(), base.getFeatures());
}

TEST(TargetFile, RefusesWhatIsNoTarget) {
  tests::TempFolder folder;
  auto context = makeContext();
  auto read = [&](const std::string& text) {
    std::string path = folder.path("bad.target");
    std::ofstream(path) << text;
    return chooseTarget(*context, path);
  };
  EXPECT_THAT(read("3 : i64"),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        HasSubstr("bad.target: expects a #tenon.target, but got another")));
  EXPECT_THAT(read("#tenon.target<\"x\""),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("bad.target: ")));
  EXPECT_THAT(read(""), FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("bad.target: ")));
  EXPECT_THAT(read(std::string(100'000, '[')),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        HasSubstr("expects a target of at most 65536 bytes, but got 100000")));
  EXPECT_THAT(read(std::string(1'000, '[')),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("bad.target")));
  EXPECT_FALSE(chooseTarget(*context, folder.path("none.target")).ok());
}

TEST(CudaProbes, CompileWithoutAGpu) {
  auto context = makeContext();
  for (const char* name : {"h200", "a100"}) {
    TargetAttr target = findTarget(context.get(), name);
    for (const auto& program : {makeEmptyProbe(target, 4), makeReadProbe(target, 1 << 20),
                                makeCopyProbe(target, 1 << 20)}) {
      ASSERT_THAT(program, tests::IsOk());
      EXPECT_FALSE(program->code[0].empty());
    }
    int64_t flops = 0;
    EXPECT_THAT(makeFmaProbe(target, &flops), tests::IsOk());
    EXPECT_GT(flops, 1'000'000'000);
  }
}

/// Times as a test states them: the n-th sample.
Prober proberOf(TargetAttr target, std::function<Sample(int64_t)> nth, int64_t& taken) {
  return Prober(target, {.threads = 1, .rounds = 3, .replaceSample = [nth, &taken](Sample) {
                           return nth(taken++);
                         }});
}

TEST(Probe, RepeatsWhatNoiseDisturbs) {
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "cpu").value();
  std::string graph = sumGraph(2, 64, "f32");
  int64_t taken = 0;
  auto disturbedAtFirst = [](int64_t n) { return n < 4 ? Sample{9e6, true} : Sample{1000}; };
  auto ns = proberOf(target, disturbedAtFirst, taken).timeGraph(graph, Grouping::KernelEach);
  ASSERT_THAT(ns, tests::IsOk());
  EXPECT_EQ(*ns, 1000);
  EXPECT_EQ(taken, 9);

  taken = 0;
  auto wideAtFirst = [](int64_t n) { return Sample{n < 3 ? 1000.0 * double(3 * n + 1) : 1000.0}; };
  ns = proberOf(target, wideAtFirst, taken).timeGraph(graph, Grouping::KernelEach);
  ASSERT_THAT(ns, tests::IsOk());
  EXPECT_EQ(*ns, 1000);
  EXPECT_EQ(taken, 9);

  taken = 0;
  auto wide = [](int64_t n) { return Sample{1000.0 * double(3 * (n % 3) + 1)}; };
  ns = proberOf(target, wide, taken).timeGraph(graph, Grouping::KernelEach);
  EXPECT_TRUE(isNoise(ns.status()));
  EXPECT_EQ(taken, 24);
}

TEST(Probe, GraphsParseAndPlan) {
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "cpu").value();
  Prober prober(target,
                {.threads = 1, .rounds = 1, .replaceSample = [](Sample) { return Sample{1000}; }});
  EXPECT_THAT(prober.timeGraph(productGraph(2, 64, 32, "f32"), Grouping::KernelEach),
              tests::IsOk());
  EXPECT_THAT(prober.timeGraph(sumGraph(2, 64, "f32"), Grouping::KernelEach), tests::IsOk());
}

} // namespace
} // namespace tenon::tools
