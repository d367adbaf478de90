#include "ir/Targets.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::tests {
namespace {

TEST(TargetsTest, Lists) {
  EXPECT_THAT(listTargets(), ::testing::ElementsAre("a100", "b200", "h100", "h200", "x86-64-v3",
                                                    "x86-64-v4", "x86-64-v4-vnni"));
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

TEST(TargetsTest, UnknownNamesAndProperties) {
  mlir::MLIRContext context;
  EXPECT_FALSE(findTarget(&context, "h300"));
  EXPECT_FALSE(findTarget(&context, ""));
  EXPECT_FALSE(findTarget(&context, "h200").getProperty("cores"));
}

} // namespace
} // namespace tenon::tests
