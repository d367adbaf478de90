#include "support/Verdict.h"

#include <gtest/gtest.h>

#include <memory>

namespace tenon {
namespace {

Verdict checkRows(int rows) {
  if (rows > 16)
    return Refusal{"at most 16 rows"};
  return Verdict::accept();
}

VerdictOr<std::unique_ptr<int>> makeRows(int rows) {
  if (Verdict verdict = checkRows(rows); !verdict)
    return verdict.refusal();
  return std::make_unique<int>(rows);
}

TEST(Verdict, AcceptsOrSaysWhyNot) {
  EXPECT_TRUE(checkRows(16));
  Verdict refused = checkRows(17);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.reason(), "at most 16 rows");
}

TEST(Verdict, OrAValueThatCanBeMoved) {
  VerdictOr<std::unique_ptr<int>> rows = makeRows(3);
  ASSERT_TRUE(rows);
  EXPECT_EQ(**rows, 3);
  std::unique_ptr<int> taken = *std::move(rows);
  EXPECT_EQ(*taken, 3);
  VerdictOr<std::unique_ptr<int>> refused = makeRows(17);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.reason(), "at most 16 rows");
}

} // namespace
} // namespace tenon
