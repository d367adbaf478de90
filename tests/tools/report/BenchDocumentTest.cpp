// What a report says of plans that were measured, from a planned module and stated times.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/text/TextFrontend.h"
#include "ir/Dialect.h"
#include "ir/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "tests/common/StatusMatchers.h"
#include "tools/report/BenchDocument.h"
#include "tools/report/Provenance.h"

namespace tenon::tools {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::FailsWith;
using tests::IsOk;

constexpr const char* graph = R"(
func.func @f(%x: tensor<2x64xf32>, %w: tensor<64x64xf32>, %g: tensor<64xf32>)
    -> tensor<2x64xf32> {
  %0 = tenon.matmul %x, %w : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32> loc("ffn_up")
  %1 = tenon.gelu %0 : (tensor<2x64xf32>) -> tensor<2x64xf32> loc("gelu")
  %2 = tenon.reshape %1 to [1, 128] : (tensor<2x64xf32>) -> tensor<1x128xf32>
  %3 = tenon.reshape %2 to [2, 64] : (tensor<1x128xf32>) -> tensor<2x64xf32>
  %4 = tenon.add %3, %0 : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<2x64xf32> loc("sum")
  return %4 : tensor<2x64xf32>
})";

/// A graph planned for the CPU, and its program without code.
class BenchDocument : public testing::Test {
protected:
  void SetUp() override {
    auto read = frontends::parseModuleText(context, graph, "graph");
    ASSERT_THAT(read, IsOk());
    module = *std::move(read);
    ASSERT_THAT(passes::runPipeline(*module, {.target = findTarget(&context, "x86-64-v3")}),
                IsOk());
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(BenchDocument, SaysWhatEachStepReads) {
  auto steps = describeSteps(*module, "f");
  ASSERT_THAT(steps, IsOk());
  ASSERT_EQ(steps->size(), 3u);
  EXPECT_THAT((*steps)[0].reads, IsEmpty());
  EXPECT_THAT((*steps)[1].reads, ElementsAre(0u));
  EXPECT_THAT((*steps)[2].reads, ElementsAre(0u, 1u)); // one of them through views
  EXPECT_EQ((*steps)[1].operations, "gelu");
  EXPECT_THAT((*steps)[1].names, ElementsAre("gelu gelu"));
  EXPECT_EQ((*steps)[0].group, "ffn");
  EXPECT_THAT((*steps)[0].ir, HasSubstr("tenon.kernel (%arg3 = %arg0 : tensor<2x64xf32>"));
  EXPECT_THAT((*steps)[0].ir, HasSubstr("tenon.matmul"));
  EXPECT_THAT(describeSteps(*module, "g"),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("expects a function 'g'")));
}

runtime::Program makeProgram() {
  runtime::Program program;
  program.device = "cpu";
  program.target = "x86-64-v3";
  program.kernels = {{"k0_matmul", 0}, {"k1_gelu", 0}, {"k2_add", 0}};
  program.constants.push_back({"w", "f32", {4}, 16, {}});
  program.workspaceBytes = 4096; // another function's
  runtime::BufferRef between{runtime::Space::Workspace, 0, 256, 512};
  program.functions = {{"f",
                        runtime::Role::Other,
                        0,
                        {{"x", "f32", {2, 64}, 512}},
                        {{"y", "f32", {2, 64}, 512}},
                        {{0, 1, {between}, "ffn_up: matmul"},
                         {1, 1, {between}, "gelu: gelu"},
                         {2, 1, {between}, "sum: add"}}}};
  return program;
}

TEST_F(BenchDocument, DescribesAPlan) {
  runtime::Program program = makeProgram();
  BenchReport report;
  report.plan = "auto", report.model = "m", report.function = "f", report.activations = "none";
  report.isModel = false;
  report.times.stepsNs = report.times.callNs = {600, 600};
  report.times.profileNs = {300, 200, 100};
  report.work = {{100, 16, 1}, {10, 0, 2}, {20, 0, 3}};
  report.predictedNs = {250, 100, 50};
  passes::FusionDecision refused;
  refused.function = "f", refused.rule = "rule", refused.reason = "because";
  refused.ops = {"matmul ffn_up", "gelu gelu"};
  passes::FusionDecision elsewhere = refused;
  elsewhere.function = "g";
  ordered_json plan = describePlan({.report = &report,
                                    .program = &program,
                                    .function = 0,
                                    .steps = describeSteps(*module, "f").value(),
                                    .code = {{{"llvm", "define"}}, {}, {}},
                                    .decisions = {refused, elsewhere},
                                    .difference = 0.5});
  EXPECT_EQ(plan["fused_launches"], 0);
  EXPECT_EQ(plan["difference"], 0.5);
  EXPECT_TRUE(plan["counted_bytes"].is_null());
  EXPECT_EQ(plan["memory"]["weight_bytes"], 16);
  EXPECT_EQ(plan["memory"]["port_bytes"], 1024);
  EXPECT_EQ(plan["memory"]["workspace_bytes"], 768);
  EXPECT_EQ(plan["memory"]["total_bytes"], 16 + 768 + 1024);
  EXPECT_TRUE(plan["memory"]["device_bytes"].is_null()); // of a CPU
  ASSERT_EQ(plan["steps"].size(), 3u);
  EXPECT_EQ(plan["steps"][2]["reads"], ordered_json({0, 1}));
  EXPECT_EQ(plan["steps"][0]["ns"], 300);
  EXPECT_EQ(plan["steps"][0]["predicted_ns"], 250);
  EXPECT_EQ(plan["steps"][0]["bytes"], 17);
  const ordered_json& kernel = plan["kernels"][0];
  EXPECT_EQ(kernel["symbol"], "k0_matmul");
  EXPECT_EQ(kernel["operation_count"], 1);
  EXPECT_EQ(kernel["code"]["llvm"], "define");
  ASSERT_EQ(kernel["decisions"].size(), 1u);
  EXPECT_EQ(kernel["decisions"][0]["reason"], "because");
  EXPECT_FALSE(kernel["decisions"][0].contains("predicted_fused_ns"));
  EXPECT_THAT(plan["kernels"][2]["decisions"], IsEmpty());

  TargetAttr target = findTarget(&context, "x86-64-v3");
  ordered_json document = makeBenchDocument(ordered_json::array({plan}), target,
                                            describeProvenance(program, absl::OkStatus()),
                                            /*isModel=*/false);
  EXPECT_EQ(document["format"], "tenon-bench-1");
  EXPECT_EQ(document["unit"], "calls/s");
  EXPECT_EQ(document["title"],
            "m, f at position 0, activations none, 2 calls of each plan in turn");
  EXPECT_EQ(document["roofs"]["bytes_per_ns"], 52);
  EXPECT_EQ(document["roofs"]["flops_per_ns"]["f32_gflops"], 235);
  for (const char* fact : {"version", "commit", "date", "device", "driver", "clocks", "counters"})
    EXPECT_NE(document["provenance"][fact].get<std::string>(), "") << fact;
  EXPECT_EQ(document["provenance"]["target"], "x86-64-v3");
  EXPECT_THAT(document["provenance"]["counters"].get<std::string>(), HasSubstr("dram__bytes_read"));
  EXPECT_EQ(describeProvenance(program, absl::UnimplementedError("none here"))["counters"],
            "none: none here; bytes are those that the plan's operations state");
}

std::vector<std::vector<std::byte>> encode(std::vector<float> values) {
  auto bytes = std::as_bytes(std::span(values));
  return {{bytes.begin(), bytes.end()}};
}

TEST(CompareResults, TakesTheLargestDifferenceOverTheLargestValue) {
  runtime::Function function;
  function.outputs = {{"y", "f32", {3}, 12}};
  auto compare = [&](std::vector<float> a, std::vector<float> b) {
    return compareResults(function, encode(std::move(a)), encode(std::move(b)));
  };
  EXPECT_EQ(compare({1, -4, 2}, {1, -4, 2}), 0);
  EXPECT_EQ(compare({1, -4, 2}, {1.5F, -4, 2.25F}), 0.125);
  EXPECT_EQ(compare({NAN, 4, INFINITY}, {NAN, 4, INFINITY}), 0);
  EXPECT_EQ(compare({1, 4, 2}, {1, 4, NAN}), INFINITY);
  EXPECT_EQ(compare({0, 0, 0}, {0, 1, 0}), INFINITY);
}

} // namespace
} // namespace tenon::tools
