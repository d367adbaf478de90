#include "support/Status.h"

#include <memory>

#include "tests/common/StatusMatchers.h"

namespace tenon {
namespace {

using tests::FailsWith;
using tests::IsOk;

absl::StatusOr<std::unique_ptr<int>> makeNumber(bool good) {
  if (!good)
    return absl::NotFoundError("no number");
  return std::make_unique<int>(7);
}

absl::StatusOr<int> addOne(bool good, int& evaluations) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<int> number, (++evaluations, makeNumber(good)));
  return *number + 1;
}

absl::Status check(bool good, int& evaluations) {
  TENON_RETURN_IF_ERROR((++evaluations, makeNumber(good).status()));
  ++evaluations;
  return absl::OkStatus();
}

TEST(Status, AssignOrReturnMovesTheValueOrReturnsTheError) {
  int evaluations = 0;
  absl::StatusOr<int> sum = addOne(true, evaluations);
  ASSERT_THAT(sum, IsOk());
  EXPECT_EQ(*sum, 8);
  EXPECT_THAT(addOne(false, evaluations),
              FailsWith(absl::StatusCode::kNotFound, std::string("no number")));
  EXPECT_EQ(evaluations, 2);
}

TEST(Status, ReturnIfErrorReturnsOnlyErrors) {
  int evaluations = 0;
  EXPECT_THAT(check(true, evaluations), IsOk());
  EXPECT_EQ(evaluations, 2);
  EXPECT_THAT(check(false, evaluations),
              FailsWith(absl::StatusCode::kNotFound, std::string("no number")));
  EXPECT_EQ(evaluations, 3);
}

} // namespace
} // namespace tenon
