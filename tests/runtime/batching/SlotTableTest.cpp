#include "runtime/batching/internal/SlotTable.h"

#include <gtest/gtest.h>

namespace tenon::runtime::internal {
namespace {

using Ids = std::vector<int32_t>;

TEST(SlotTable, PrefersTheSlotThatHoldsMostOfThePrompt) {
  SlotTable table(3);
  for (int32_t slot : {0, 1, 2})
    EXPECT_EQ(table.acquire(Ids{9})->slot, slot);
  table.release(0, {1, 2});
  table.release(1, {1, 2, 3, 4});
  table.release(2, {7, 2, 3, 4});
  auto lease = table.acquire(Ids{1, 2, 3, 5});
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->slot, 1);
  EXPECT_EQ(lease->cachedTokens, 3);
  EXPECT_EQ(table.taken(), 1);
}

TEST(SlotTable, FeedsAtLeastTheLastToken) {
  SlotTable table(1);
  table.acquire(Ids{1});
  table.release(0, {1, 2, 3});
  EXPECT_EQ(table.acquire(Ids{1, 2})->cachedTokens, 1);
}

TEST(SlotTable, TakesTheSlotThatWasFreedFirstWhereNoneHoldsMore) {
  SlotTable table(2);
  table.acquire(Ids{1});
  table.acquire(Ids{1});
  table.release(1, {5});
  table.release(0, {6});
  EXPECT_EQ(table.acquire(Ids{1, 2})->slot, 1);
}

TEST(SlotTable, HasNoneWhereAllAreTaken) {
  SlotTable table(1);
  ASSERT_TRUE(table.acquire(Ids{1}));
  EXPECT_FALSE(table.acquire(Ids{1}));
  table.release(0, {});
  EXPECT_EQ(table.acquire(Ids{1})->cachedTokens, 0);
}

} // namespace
} // namespace tenon::runtime::internal
