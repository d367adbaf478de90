#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"
#include "tests/common/StatusMatchers.h"
#include "tests/tools/verify/VerifyCase.h"

namespace tenon::tools {
namespace {

using testing::HasSubstr;
using tests::FailsWith;

TEST(VerifyFunction, FindsNothingInACorrectPlan) {
  auto compiled = compileGraph(verifiedGraph, "cpu");
  ASSERT_THAT(compiled, tests::IsOk());
  auto call = verifyCall(*compiled, *compiled);
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
  auto correct = compileGraph(verifiedGraph, "cpu");
  auto wrong =
      compileGraph(absl::StrReplaceAll(verifiedGraph, {{"eps 1.0e-5", "eps 1.0e-2"}}), "cpu");
  ASSERT_THAT(correct, tests::IsOk());
  ASSERT_THAT(wrong, tests::IsOk());
  auto call = verifyCall(*correct, *wrong);
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

/// A kernel of one operation has no bits to compare with; the reference decides.
TEST(VerifyFunction, FindsAWrongKernelOfOneOperation) {
  auto correct = compileGraph(verifiedGraph, "cpu");
  auto wrong =
      compileGraph(absl::StrReplaceAll(verifiedGraph, {{"%p scale 1.0", "%p scale 0.001"}}), "cpu");
  ASSERT_THAT(correct, tests::IsOk());
  ASSERT_THAT(wrong, tests::IsOk());
  auto call = verifyCall(*correct, *wrong);
  ASSERT_THAT(call, tests::IsOk());
  for (const StepCheck& check : call->checks) {
    EXPECT_EQ(check.differing, 0) << check.name;
    EXPECT_EQ(check.isFar, check.name.find("attention") != std::string::npos) << check.name;
  }
  EXPECT_THAT(verdictOf({*call}),
              FailsWith(absl::StatusCode::kDataLoss,
                        testing::AllOf(HasSubstr("results near the reference"),
                                       HasSubstr("but 1 differ"), HasSubstr("attention"))));
}

TEST(VerifyFunction, DescribesEachStep) {
  StepCheck check{"blk.3.ffn: rms_norm+matmul",
                  "k1",
                  "matmul: rms_norm+matmul",
                  "blk.3",
                  true,
                  64,
                  2,
                  {},
                  false};
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
  auto compiled = compileGraph(verifiedGraph, "cpu");
  auto other = compileGraph(R"(
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})",
                            "cpu");
  ASSERT_THAT(compiled, tests::IsOk());
  ASSERT_THAT(other, tests::IsOk());
  EXPECT_THAT(FunctionVerifier::create(*other->module, compiled->program, 0, {}),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("expects function 'f' of")));
}

} // namespace
} // namespace tenon::tools
