#include "ir/Targets.h"

#include <algorithm>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::tests {
namespace {

TEST(TargetsTest, Lists) {
  EXPECT_THAT(listTargets(),
              ::testing::IsSupersetOf({"a100", "b200", "h100", "h200", "x86-64-v3", "x86-64-v4"}));
  EXPECT_TRUE(std::ranges::is_sorted(listTargets()));
}

TEST(TargetsTest, EveryFileHoldsTheTargetOfItsName) {
  mlir::MLIRContext context;
  for (const std::string& name : listTargets()) {
    TargetAttr target = findTarget(&context, name);
    ASSERT_TRUE(target) << name;
    EXPECT_EQ(target.getName().str(), name);
    EXPECT_TRUE(target.getProperty("measured")) << name;
    EXPECT_GT(target.getProperty("l2_bytes").value_or(0), 0) << name;
    EXPECT_FALSE(target.getFeatures().empty()) << name;
  }
}

TEST(TargetsTest, EveryGpuStatesWhatTheOthersDo) {
  mlir::MLIRContext context;
  for (const std::string& name : listTargets()) {
    TargetAttr target = findTarget(&context, name);
    if (target.getDevice() != DeviceKind::Cuda)
      continue;
    for (const char* property :
         {"sms", "smem_bytes_per_block", "smem_bytes_per_sm", "registers_per_sm", "threads_per_sm",
          "blocks_per_sm", "dram_bytes", "dram_mb_per_s", "read_ramp_ns", "tensor_16bit_gflops",
          "f32_gflops", "launch_stream_ns", "launch_graph_ns"})
      EXPECT_GT(target.getProperty(property).value_or(0), 0) << name << " " << property;
  }
}

TEST(TargetsTest, MeasuredFigures) {
  mlir::MLIRContext context;
  TargetAttr target = findTarget(&context, "h200");
  EXPECT_EQ(target.getDevice(), DeviceKind::Cuda);
  EXPECT_EQ(target.getProperty("dram_mb_per_s"), 4665000);
  EXPECT_EQ(target.getProperty("measured"), 1);
  EXPECT_EQ(findTarget(&context, "x86-64-v4").getProperty("vector_bits"), 512);
}

constexpr const char* kFit = "hopper-2026-11-22";

/// A target of the constants of a fit alone.
TargetAttr targetOfFit(mlir::MLIRContext& context) {
  return parseTarget(&context, "// Comment.\n\nfit = \"" + std::string(kFit) +
                                   "\" // Comment.\n#tenon.target<\"t\", cuda, features = "
                                   "[\"sm_90a\"], {}>");
}

/// What was fitted belongs together: no device has some constants of a fit and others of its own.
TEST(TargetsTest, DevicesOfOneFitAgree) {
  mlir::MLIRContext context;
  TargetAttr fit = targetOfFit(context);
  ASSERT_TRUE(fit);
  EXPECT_GE(fit.getProperties().size(), 15u);
  for (const std::string& name : listTargets())
    for (mlir::NamedAttribute constant : fit.getProperties())
      if (TargetAttr target = findTarget(&context, name); target.getDevice() == DeviceKind::Cuda)
        EXPECT_EQ(target.getProperties().get(constant.getName()), constant.getValue())
            << name << " " << constant.getName().str();
}

/// A relative states what it does not share; that something was measured is the base's alone.
TEST(TargetsTest, ABaseGivesWhatTheFileLeavesOut) {
  mlir::MLIRContext context;
  TargetAttr target = parseTarget(&context, R"(base = "h200"
#tenon.target<"t", cuda, features = ["sm_90a"], {sms = 78 : i64, spread_ns = 5 : i64}>)");
  ASSERT_TRUE(target);
  EXPECT_EQ(target.getName().str(), "t");
  EXPECT_EQ(target.getProperty("sms"), 78);
  EXPECT_EQ(target.getProperty("spread_ns"), 5);
  EXPECT_EQ(target.getProperty("dram_mb_per_s"), 4665000);
  EXPECT_FALSE(target.getProperty("measured"));
}

TEST(TargetsTest, RefusesHeadingsOfUnknownNames) {
  const std::string body = "#tenon.target<\"t\", cuda, features = [\"sm_90a\"], {}>";
  for (auto [heading, message] :
       {std::pair("base = \"h300\"\n", "expects a known target as base, but got 'h300'"),
        {"fit = \"h200\"\n", "expects a known fit, but got 'h200'"},
        {"fits = \"h200\"\n", "expected attribute value"},
        {"fit = \"h200\n", "expected attribute value"},
        {"42 : i64\n", "expects a #tenon.target, but got another attribute"}}) {
    mlir::MLIRContext context;
    std::string found;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
      found += diagnostic.str();
      return mlir::success();
    });
    EXPECT_FALSE(parseTarget(&context, heading + body)) << heading;
    EXPECT_THAT(found, ::testing::HasSubstr(message)) << heading;
  }
}

TEST(TargetsTest, UnknownNamesAndProperties) {
  mlir::MLIRContext context;
  EXPECT_FALSE(findTarget(&context, "h300"));
  EXPECT_FALSE(findTarget(&context, ""));
  EXPECT_FALSE(findTarget(&context, "h200").getProperty("cores"));
}

} // namespace
} // namespace tenon::tests
