// Paged caches: where their heads lie, and that they hold what dense ones do.

#include <numeric>
#include <random>

#include "absl/strings/str_format.h"
#include "ir/KvCache.h"
#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using Values = std::vector<double>;

class PagesTest : public IrTest {
protected:
  /// Writes 40 rows of two sequences and reads them, through a cache of `state`.
  std::string textOf(const std::string& state, bool isPaged) const {
    std::string table = isPaged ? ", %t: tensor<2x3xi32>" : "",
                use = isPaged ? "block_table %t" : "";
    std::string type = isPaged ? ", tensor<2x3xi32>" : "";
    return absl::StrFormat(
        R"(tenon.state @k : %1$s tenon.state @v : %1$s
        func.func @f(%%q: tensor<40x4x8xf32>, %%x: tensor<40x2x8xf32>, %%s: tensor<40xi32>,
                     %%p: tensor<40xi32>%2$s) -> tensor<40x4x8xf32> {
          %%k0 = tenon.get_state @k : %1$s
          %%v0 = tenon.get_state @v : %1$s
          %%k = tenon.kv_write %%x, %%s, %%p into %%k0 %3$s
              : (tensor<40x2x8xf32>, tensor<40xi32>, tensor<40xi32>, %1$s%4$s) -> %1$s
          %%v = tenon.kv_write %%x, %%s, %%p into %%v0 %3$s
              : (tensor<40x2x8xf32>, tensor<40xi32>, tensor<40xi32>, %1$s%4$s) -> %1$s
          %%y = tenon.attention %%q, %%k, %%v, %%s, %%p %3$s scale 0.3
              : (tensor<40x4x8xf32>, %1$s, %1$s, tensor<40xi32>, tensor<40xi32>%4$s)
              -> tensor<40x4x8xf32>
          return %%y : tensor<40x4x8xf32>
        })",
        state, table, use, type);
  }

  /// Rows of the two sequences in turn, the last ones inactive or outside.
  std::vector<ReferenceTensor> inputs() {
    std::mt19937 engine(3);
    std::normal_distribution<double> gaussian;
    auto random = [&](int64_t count) {
      Values values(count);
      for (double& value : values)
        value = gaussian(engine);
      return values;
    };
    Values sequences, positions;
    for (int64_t row = 0; row < 40; ++row)
      sequences.push_back(row % 2), positions.push_back(row / 2 + (row % 2) * 14);
    positions[38] = -1, sequences[39] = 2;
    return {tensor("tensor<40x4x8xf32>", random(40 * 32)),
            tensor("tensor<40x2x8xf32>", random(40 * 16)), tensor("tensor<40xi32>", sequences),
            tensor("tensor<40xi32>", positions)};
  }
};

TEST_F(PagesTest, HeadsLieInThePagesThatTheTableNames) {
  auto layout = StateLayoutAttr::get(&context, StateLayout::Paged, /*kept=*/0);
  auto type = StateType::get(&context, {5, 2, 16, 4}, mlir::Float32Type::get(&context), layout);
  KvCache cache(type);
  EXPECT_EQ(cache.pages, 5);
  EXPECT_EQ(cache.page, 16);
  EXPECT_EQ(cache.places(), 80);
  cache.sequences = 2, cache.capacity = 48;
  const Values table = {4, 0, -1, 3, 5, 1};
  EXPECT_EQ(cache.headRow(0, 3, 1, table), (4 * 2 + 1) * 16 + 3);
  EXPECT_EQ(cache.headRow(0, 18, 0, table), 2);
  EXPECT_EQ(cache.headRow(1, 47, 1, table), (1 * 2 + 1) * 16 + 15);
  EXPECT_FALSE(cache.hasPage(0, 32, table));
  EXPECT_FALSE(cache.hasPage(1, 16, table));
  EXPECT_EQ(cache.headRow(1, 16, 0, table), 4 * 2 * 16);
  EXPECT_TRUE(cache.holds(1, 47));
  EXPECT_FALSE(cache.holds(1, 48));
  EXPECT_FALSE(cache.holds(2, 0));
}

TEST_F(PagesTest, HoldWhatDenseCachesDo) {
  const std::vector<ReferenceTensor> dense = inputs();
  const Values expected = run(textOf("!tenon.state<2x48x2x8xf32>", false), dense).front();
  for (const Values& table : {Values{0, 1, 2, 3, 4, 5}, {6, 2, 0, 1, 5, 3}}) {
    std::vector<ReferenceTensor> paged = dense;
    paged.push_back(tensor("tensor<2x3xi32>", table));
    EXPECT_EQ(run(textOf("!tenon.state<7x2x16x8xf32, paged<16>>", true), paged).front(), expected);
  }
}

// A row that has no page is written nowhere, and what is read in its place lies in the last page.
TEST_F(PagesTest, EntriesOutsideThePool) {
  std::vector<ReferenceTensor> paged = inputs();
  const std::string text = textOf("!tenon.state<7x2x16x8xf32, paged<16>>", true);
  paged.push_back(tensor("tensor<2x3xi32>", {0, -1, 2, 3, 7, 5}));
  const Values outside = run(text, paged).front();
  paged.back() = tensor("tensor<2x3xi32>", {0, 6, 2, 3, 2147483647, 5});
  const Values far = run(text, paged).front();
  // Rows 0 to 31 of sequence 0 stand at positions 0 to 15, in its first page.
  for (int64_t row = 0; row < 32; row += 2)
    for (int64_t i = 0; i < 32; ++i)
      EXPECT_EQ(outside[row * 32 + i], far[row * 32 + i]) << row;
  EXPECT_NE(outside, far);
}

} // namespace
} // namespace tenon::tests
