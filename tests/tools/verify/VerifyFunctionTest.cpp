#include "tools/verify/VerifyFunction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "frontends/text/TextFrontend.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tests/common/StatusMatchers.h"
#include "tools/common/CompileModel.h"
#include "tools/common/FunctionInputs.h"
#include "tools/common/ModelInput.h"
#include "tools/verify/VerifyReport.h"

namespace tenon::tools {
namespace {

using testing::HasSubstr;
using tests::FailsWith;

/// Residual and norm, then a cache behind a product: one fused kernel of each kind.
constexpr const char* graph = R"(
tenon.state @k : !tenon.state<1x8x2x32xf32>
tenon.state @v : !tenon.state<1x8x2x32xf32>
func.func @f(%x: tensor<1x64xf32>, %r: tensor<1x64xf32>, %g: tensor<64xf32>,
             %w: tensor<64x64xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>)
    -> (tensor<1x64xf32>, tensor<1x2x32xf32>) {
  %k = tenon.get_state @k : !tenon.state<1x8x2x32xf32>
  %v = tenon.get_state @v : !tenon.state<1x8x2x32xf32>
  %0 = tenon.add %x, %r : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %1 = tenon.rms_norm %0, %g eps 1.0e-5 : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %2 = tenon.matmul %1, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %3 = tenon.reshape %2 to [1, 2, 32] : (tensor<1x64xf32>) -> tensor<1x2x32xf32>
  %k1 = tenon.kv_write %3, %s, %p into %k : (tensor<1x2x32xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x32xf32>) -> !tenon.state<1x8x2x32xf32>
  %v1 = tenon.kv_write %3, %s, %p into %v : (tensor<1x2x32xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x32xf32>) -> !tenon.state<1x8x2x32xf32>
  %y = tenon.attention %3, %k1, %v1, %s, %p scale 1.0 : (tensor<1x2x32xf32>, !tenon.state<1x8x2x32xf32>, !tenon.state<1x8x2x32xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x32xf32>
  return %0, %y : tensor<1x64xf32>, tensor<1x2x32xf32>
})";

/// A graph compiled for this machine under the plan with the fewest kernels.
struct Compiled {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::Program program;
};

absl::StatusOr<Compiled> compileGraph(const std::string& text) {
  Compiled compiled;
  TENON_ASSIGN_OR_RETURN(compiled.module,
                         frontends::parseModuleText(*compiled.context, text, "test"));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, chooseTarget(*compiled.context, "native"));
  TENON_ASSIGN_OR_RETURN(compiled.program,
                         compileModel(*compiled.module, target, {.plan = passes::Plan::Fused}));
  return compiled;
}

/// Checks a call of the program of `runs` as if it were that of `expected`.
absl::StatusOr<VerifiedCall> verify(Compiled& expected, const Compiled& runs) {
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(runs.program, {}));
  TENON_ASSIGN_OR_RETURN(auto verifier,
                         FunctionVerifier::create(*expected.module, expected.program, 0, {}));
  ValueBytes inputs =
      makeFunctionInputs(expected.module->lookupSymbol<mlir::func::FuncOp>("f"), /*position=*/3);
  ValueBytes outputs;
  for (const runtime::Port& port : expected.program.functions[0].outputs)
    outputs.emplace_back(port.bytes);
  std::vector<std::span<const std::byte>> arguments(inputs.begin(), inputs.end());
  std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
  TENON_RETURN_IF_ERROR(executor->runObserved(0, arguments, results, *verifier));
  return VerifiedCall{"f", 3, verifier->checks()};
}

TEST(VerifyFunction, FindsNothingInACorrectPlan) {
  auto compiled = compileGraph(graph);
  ASSERT_THAT(compiled, tests::IsOk());
  auto call = verify(*compiled, *compiled);
  ASSERT_THAT(call, tests::IsOk());
  EXPECT_EQ(call->checks.size(), compiled->program.functions[0].steps.size());
  EXPECT_TRUE(llvm::any_of(call->checks, [](const StepCheck& check) { return check.isFused; }));
  for (const StepCheck& check : call->checks) {
    EXPECT_EQ(check.differing, 0) << check.name;
    EXPECT_GT(check.error.elements, 0) << check.name;
    EXPECT_LT(check.error.relative(), 1e-5) << check.name;
    EXPECT_EQ(check.error.notFinite, 0) << check.name;
  }
  EXPECT_THAT(verdictOf({*call}), tests::IsOk());
}

/// The same graph with another constant in its norm stands for a kernel that computes wrongly.
TEST(VerifyFunction, FindsAWrongFusedKernel) {
  auto correct = compileGraph(graph);
  auto wrong = compileGraph(absl::StrReplaceAll(graph, {{"eps 1.0e-5", "eps 1.0e-2"}}));
  ASSERT_THAT(correct, tests::IsOk());
  ASSERT_THAT(wrong, tests::IsOk());
  auto call = verify(*correct, *wrong);
  ASSERT_THAT(call, tests::IsOk());
  int64_t found = 0;
  for (const StepCheck& check : call->checks) {
    bool hasNorm = check.name.find("rms_norm") != std::string::npos;
    EXPECT_EQ(check.differing > 0, hasNorm && check.isFused) << check.name;
    found += check.differing > 0;
    if (check.differing > 0)
      EXPECT_GT(check.error.maxUlp, 100) << check.name;
  }
  EXPECT_EQ(found, 1);
  EXPECT_THAT(verdictOf({*call}),
              FailsWith(absl::StatusCode::kDataLoss,
                        testing::AllOf(HasSubstr("but 1 differ"), HasSubstr("rms_norm"),
                                       HasSubstr("elements differ"))));
  EXPECT_THAT(formatVerification(*call), HasSubstr("rms_norm"));
}

TEST(VerifyFunction, DescribesEachStep) {
  StepCheck check{
      "blk.3.ffn: rms_norm+matmul", "k1", "matmul: rms_norm+matmul", "blk.3", true, 64, 2, {}};
  check.error = {.elements = 64, .maxUlp = 3, .sumUlp = 32};
  nlohmann::json json = describeVerification({"decode_1", 7, {check}});
  EXPECT_EQ(json[0]["function"], "decode_1");
  EXPECT_EQ(json[0]["differing_elements"], 2);
  EXPECT_EQ(json[0]["max_ulp"], 3);
  EXPECT_EQ(json[0]["mean_ulp"], 0.5);
  check.isFused = false;
  EXPECT_TRUE(describeVerification({"f", 0, {check}})[0]["differing_elements"].is_null());
}

TEST(VerifyFunction, RefusesAnotherModule) {
  auto compiled = compileGraph(graph);
  auto other = compileGraph(R"(
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})");
  ASSERT_THAT(compiled, tests::IsOk());
  ASSERT_THAT(other, tests::IsOk());
  EXPECT_THAT(FunctionVerifier::create(*other->module, compiled->program, 0, {}),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("expects function 'f' of")));
}

} // namespace
} // namespace tenon::tools
