#include "runtime/batching/internal/PagePool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::runtime::internal {
namespace {

using testing::ElementsAre;
using Holding = PagePool::Holding;
using Ids = std::vector<int32_t>;

const Ids nineIds = {1, 2, 3, 4, 5, 6, 7, 8, 9};

/// A holding of `tokens`, all of which the pages hold; how many did so already.
std::pair<Holding, int64_t> hold(PagePool& pool, const Ids& tokens) {
  Holding holding;
  const auto reused = pool.begin(holding, tokens, /*reuses=*/true);
  EXPECT_TRUE(reused.has_value());
  pool.keep(holding, tokens);
  return {holding, reused.value_or(-1)};
}

TEST(PagePool, GivesPagesForAllTokensOrNone) {
  PagePool pool(4, 4);
  Holding first, second;
  EXPECT_EQ(pool.begin(first, nineIds, true), 0);
  EXPECT_EQ(first.pages.size(), 3u);
  EXPECT_EQ(pool.room(first), 12);
  EXPECT_EQ(pool.free(), 1);
  EXPECT_EQ(pool.begin(second, Ids{1, 2, 3, 4, 5}, true), std::nullopt);
  EXPECT_TRUE(second.pages.empty());
  EXPECT_EQ(pool.free(), 1);
  EXPECT_TRUE(pool.grow(first));
  EXPECT_FALSE(pool.grow(first));
  pool.release(first);
  EXPECT_EQ(pool.free(), 4);
  EXPECT_TRUE(first.pages.empty());
}

TEST(PagePool, SharesWholeBlocksOfACommonBegin) {
  PagePool pool(8, 4);
  auto [first, reusedByFirst] = hold(pool, nineIds);
  EXPECT_EQ(reusedByFirst, 0);
  auto [second, reused] = hold(pool, {1, 2, 3, 4, 5, 6, 7, 8, 10});
  EXPECT_EQ(reused, 8);
  EXPECT_EQ(second.pages[0], first.pages[0]);
  EXPECT_EQ(second.pages[1], first.pages[1]);
  EXPECT_NE(second.pages[2], first.pages[2]);
  EXPECT_EQ(pool.free(), 4);
  // The same tokens after another block are another block.
  auto [third, ofThird] = hold(pool, {0, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(ofThird, 0);
  pool.release(first);
  EXPECT_EQ(pool.free(), 2);
  pool.release(second);
  pool.release(third);
  EXPECT_EQ(pool.free(), 8);
}

// The logits after the last token are wanted, so that it is fed.
TEST(PagePool, LeavesAtLeastOneTokenToBeFed) {
  PagePool pool(8, 4);
  Ids eight(nineIds.begin(), nineIds.end() - 1);
  auto [first, ignored] = hold(pool, eight);
  auto [second, reused] = hold(pool, eight);
  EXPECT_EQ(reused, 4);
}

TEST(PagePool, FindsReleasedPagesUntilTheyAreGivenOut) {
  PagePool pool(4, 4);
  auto [first, ignored] = hold(pool, nineIds);
  const Ids pages = first.pages;
  pool.release(first);
  auto [again, reused] = hold(pool, nineIds);
  EXPECT_EQ(reused, 8);
  EXPECT_THAT(again.pages, ElementsAre(pages[0], pages[1], testing::_));
  pool.release(again);
  // The page that holds no whole block goes first, then the last block, which is found through the one
  // in front of it alone.
  Holding other;
  ASSERT_EQ(pool.begin(other, Ids(12, 5), true), 0);
  auto [left, ofFirstBlock] = hold(pool, {1, 2, 3, 4});
  EXPECT_EQ(ofFirstBlock, 0);
  EXPECT_EQ(left.pages.front(), pages[0]);
  pool.release(left);
  Holding five;
  EXPECT_EQ(pool.begin(five, Ids{1, 2, 3, 4, 5}, true), std::nullopt);
  pool.release(other);
  EXPECT_EQ(pool.begin(five, Ids{1, 2, 3, 4, 5}, true), 4);
}

TEST(PagePool, TakesNothingOverWhereThatIsNotWanted) {
  PagePool pool(8, 4);
  auto [first, ignored] = hold(pool, nineIds);
  Holding second;
  EXPECT_EQ(pool.begin(second, nineIds, /*reuses=*/false), 0);
  EXPECT_EQ(pool.free(), 2);
}

// Two sequences that make the same block at one time each keep their page; one of the two is found.
TEST(PagePool, EqualBlocksOfTwoSequences) {
  PagePool pool(8, 4);
  Holding first, second;
  ASSERT_EQ(pool.begin(first, nineIds, true), 0);
  ASSERT_EQ(pool.begin(second, nineIds, true), 0);
  pool.keep(first, nineIds);
  pool.keep(second, nineIds);
  EXPECT_EQ(second.wholeBlocks, 2u);
  EXPECT_EQ(second.lastBlock, first.lastBlock);
  const Ids pages = first.pages;
  pool.release(second);
  pool.release(first);
  auto [again, reused] = hold(pool, nineIds);
  EXPECT_EQ(reused, 8);
  EXPECT_EQ(again.pages[0], pages[0]);
  EXPECT_EQ(again.pages[1], pages[1]);
}

} // namespace
} // namespace tenon::runtime::internal
