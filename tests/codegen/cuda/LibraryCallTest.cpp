// What is left to cuBLASLt, without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::testing {
namespace {

using ::testing::HasSubstr;
using tests::FailsWith;
using tests::IsOk;

absl::StatusOr<runtime::Program> compile(const std::string& text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, text, "test");
  TENON_RETURN_IF_ERROR(module.status());
  TENON_RETURN_IF_ERROR(passes::runPipeline(**module, {.target = findTarget(&context, "h200")}));
  return codegen::compileForCuda(**module, {});
}

/// A scheduled module: y = x·Wᵀ of 16 rows, then whatever `tail` computes from %p, with a schedule.
std::string scheduled(const std::string& type, const std::string& schedule,
                      const std::string& tail) {
  return absl::StrFormat(R"(
module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  func.func @f(%%x: tensor<16x64x%1$s>, %%w: tensor<32x64x%1$s>) -> tensor<16x32x%1$s> {
    %%y = tenon.kernel (%%a = %%x : tensor<16x64x%1$s>, %%b = %%w : tensor<32x64x%1$s>)
        -> tensor<16x32x%1$s> schedule #tenon.schedule<%2$s> {
      %%p = tenon.matmul %%a, %%b : (tensor<16x64x%1$s>, tensor<32x64x%1$s>) -> tensor<16x32x%1$s>
      %3$s
    }
    return %%y : tensor<16x32x%1$s>
  }
})",
                         type, schedule, tail);
}

constexpr const char* yieldGemm = "tenon.yield %p : tensor<16x32xf16>";

TEST(LibraryCall, IsAKernelWithoutCode) {
  auto program = compile(R"(
func.func @f(%x: tensor<24x64xf16>, %w: tensor<32x64xf16>) -> (tensor<24x32xf16>) {
  %p = tenon.matmul %x, %w : (tensor<24x64xf16>, tensor<32x64xf16>) -> tensor<24x32xf16>
  %y = tenon.silu %p : (tensor<24x32xf16>) -> tensor<24x32xf16>
  return %y : tensor<24x32xf16>
})");
  ASSERT_THAT(program, IsOk());
  ASSERT_EQ(program->kernels.size(), 2u);
  EXPECT_EQ(program->code.size(), 1u);
  runtime::LibraryMatmul expected{.m = 24,
                                  .n = 32,
                                  .k = 64,
                                  .input = runtime::MatmulType::F16,
                                  .output = runtime::MatmulType::F16,
                                  .workspaceBytes = 32 << 20};
  EXPECT_EQ(std::get<runtime::LibraryMatmul>(program->kernels[0].launch), expected);
  EXPECT_EQ(program->kernels[1].code, 0u);
  EXPECT_EQ(program->functions[0].steps[0].tiles, 1);
}

TEST(LibraryCall, HasAnEpilogue) {
  auto program = compile(R"(
module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  func.func @f(%x: tensor<24x64xbf16>, %w: tensor<32x64xbf16>, %r: tensor<24x32xf32>, %s: tensor<32xf32>) -> tensor<24x32xf32> {
    %y = tenon.kernel (%a = %x : tensor<24x64xbf16>, %b = %w : tensor<32x64xbf16>, %c = %r : tensor<24x32xf32>, %d = %s : tensor<32xf32>)
        -> tensor<24x32xf32> schedule #tenon.schedule<"cublaslt", tiles = 1, {workspace_bytes = 1 : i64}> {
      %0 = tenon.matmul %a, %b : (tensor<24x64xbf16>, tensor<32x64xbf16>) -> tensor<24x32xf32>
      %1 = tenon.add %c, %0 : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
      %2 = tenon.add %1, %d : (tensor<24x32xf32>, tensor<32xf32>) -> tensor<24x32xf32>
      %3 = tenon.gelu_tanh %2 : (tensor<24x32xf32>) -> tensor<24x32xf32>
      tenon.yield %3 : tensor<24x32xf32>
    }
    return %y : tensor<24x32xf32>
  }
})");
  ASSERT_THAT(program, IsOk());
  runtime::LibraryMatmul expected{.m = 24,
                                  .n = 32,
                                  .k = 64,
                                  .input = runtime::MatmulType::Bf16,
                                  .output = runtime::MatmulType::F32,
                                  .workspaceBytes = 1,
                                  .residual = true,
                                  .bias = true,
                                  .gelu = true};
  EXPECT_EQ(std::get<runtime::LibraryMatmul>(program->kernels[0].launch), expected);
  EXPECT_EQ(program->functions[0].steps[0].args.size(), 5u);
}

TEST(LibraryCall, MayRoundToTf32) {
  for (bool tf32 : {false, true}) {
    auto program =
        compile(scheduled("f32",
                          std::string("\"cublaslt\", tiles = 1, {") +
                              (tf32 ? "tf32 = 1 : i64, " : "") + "workspace_bytes = 1 : i64}",
                          "tenon.yield %p : tensor<16x32xf32>"));
    ASSERT_THAT(program, IsOk());
    EXPECT_EQ(std::get<runtime::LibraryMatmul>(program->kernels[0].launch).tf32, tf32);
  }
}

TEST(LibraryCall, RefusesWhatCublasLtDoesNotCompute) {
  const std::string good = "\"cublaslt\", tiles = 1, {workspace_bytes = 1 : i64}";
  EXPECT_THAT(compile(scheduled("f16", good, yieldGemm)), IsOk());
  auto expectRefused = [](const std::string& text, const char* message) {
    EXPECT_THAT(compile(text), FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  expectRefused(scheduled("f16", good,
                          "%r = tenon.silu %p : (tensor<16x32xf16>) -> tensor<16x32xf16>\n"
                          "tenon.yield %r : tensor<16x32xf16>"),
                "no library has an epilogue that computes silu here in the schedule");
  expectRefused(scheduled("f16", good,
                          "%r = tenon.gelu_tanh %p : (tensor<16x32xf16>) -> tensor<16x32xf16>\n"
                          "tenon.yield %r : tensor<16x32xf16>"),
                "the epilogue of a library is all f32, but the graph rounds matmul to f16");
  expectRefused(scheduled("f16", "\"cublaslt\", tiles = 1, {}", yieldGemm),
                "expects a parameter 'workspace_bytes'");
  expectRefused(scheduled("f16", "\"cublaslt\", tiles = 2, {workspace_bytes = 1 : i64}", yieldGemm),
                "expects one tile of a library's matmul, but found 2");
  expectRefused(scheduled("f16",
                          "\"cublaslt\", tiles = 1, {tf32 = 1 : i64, workspace_bytes = 1 : i64}",
                          yieldGemm),
                "expects f32 factors for TF32");
  expectRefused(R"(
module attributes {tenon.phase = #tenon.phase<scheduled>, tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  func.func @f(%x: tensor<16x64xf16>, %w: tensor<32x64xbf16>) -> tensor<16x32xf16> {
    %y = tenon.kernel (%a = %x : tensor<16x64xf16>, %b = %w : tensor<32x64xbf16>)
        -> tensor<16x32xf16> schedule #tenon.schedule<"cublaslt", tiles = 1, {workspace_bytes = 1 : i64}> {
      %p = tenon.matmul %a, %b : (tensor<16x64xf16>, tensor<32x64xbf16>) -> tensor<16x32xf16>
      tenon.yield %p : tensor<16x32xf16>
    }
    return %y : tensor<16x32xf16>
  }
})",
                "expects factors of one type");
}

} // namespace
} // namespace tenon::testing
