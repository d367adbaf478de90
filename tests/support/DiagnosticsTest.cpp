#include "support/Diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/common/StatusMatchers.h"

namespace tenon {
namespace {

using ::tenon::tests::FailsWith;
using ::testing::StartsWith;

TEST(DiagnosticCollector, TakesTheFirstErrorAndCountsTheOthers) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  DiagnosticCollector diagnostics(&context);
  mlir::Location location = mlir::UnknownLoc::get(&context);
  mlir::emitError(location, "first");
  mlir::emitError(location, "second");
  EXPECT_THAT(diagnostics.takeStatus(),
              FailsWith(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("(and 1 more)")));
}

// A step of ours that fails without an error is a fault of ours.
TEST(DiagnosticCollector, SaysThatNothingWasSaid) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  EXPECT_THAT(
      DiagnosticCollector(&context).takeStatus(),
      FailsWith(absl::StatusCode::kInternal, StartsWith("a step failed without saying why")));
}

} // namespace
} // namespace tenon
