#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/Dialect.h"
#include "ir/Targets.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tools/calibrate/Calibration.h"
#include "tools/calibrate/CudaProbes.h"
#include "tools/calibrate/Probe.h"
#include "tools/common/CompileModel.h"
#include "tools/common/ModelInput.h"
#include "tools/common/TargetFile.h"

namespace tenon::tools {
namespace {

using testing::HasSubstr;
using tests::FailsWith;

TEST(Calibrate, MeasuresThisCpu) {
  auto context = makeContext();
  TargetAttr base = chooseTarget(*context, "cpu").value();
  auto measured = calibrateCpu(base, {.threads = 1, .rounds = 3});
  ASSERT_THAT(measured, tests::IsOk());
  std::vector<std::string> names;
  for (const MeasuredProperty& property : *measured) {
    EXPECT_TRUE(base.getProperty(property.name)) << property.name;
    EXPECT_GE(property.value, 1) << property.name;
    names.push_back(property.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("cores", "step_ns", "cache_mb_per_s", "dram_mb_per_s",
                                          "f32_gflops"));
  EXPECT_EQ((*measured)[0].value, 1);
  EXPECT_GT((*measured)[3].value, 100); // MB/s: a floppy disk has less
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

TEST(Probe, GraphsParseAndPlan) {
  auto context = makeContext();
  TargetAttr target = chooseTarget(*context, "cpu").value();
  Prober prober(target, {.threads = 1, .rounds = 1});
  EXPECT_THAT(prober.timeGraph(productGraph(2, 64, 32, "f32"), Grouping::KernelEach),
              tests::IsOk());
  EXPECT_THAT(prober.timeGraph(sumNormGraph(2, 64, "f32"), Grouping::OneKernel), tests::IsOk());
}

} // namespace
} // namespace tenon::tools
