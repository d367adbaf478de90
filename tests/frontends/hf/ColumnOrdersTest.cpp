#include "frontends/hf/internal/ColumnOrders.h"

#include <algorithm>
#include <deque>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::frontends {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

const std::vector<int32_t> order = {2, 0, 3, 1};

/// A block of 4 elements before ffn_down, or with a change.
struct Block {
  std::deque<std::string> names;
  std::vector<SourceTensor> tensors;

  Block() {
    add("blk.0.ffn_down.weight", {2, 4}).permutation = order;
    add("blk.0.ffn_down.bias", {2});
    add("blk.0.ffn_gate.weight", {4, 2});
    add("blk.0.ffn_norm.weight", {2});
    add("blk.0.ffn_up.weight", {4, 2});
    add("blk.1.ffn_gate.weight", {4, 2});
  }
  SourceTensor& add(const char* name, std::vector<int64_t> shape) {
    SourceTensor& tensor = tensors.emplace_back();
    tensor.name = names.emplace_back(name);
    tensor.shape = std::move(shape);
    tensor.encoding = findEncoding("f16");
    return tensor;
  }
  SourceTensor& find(std::string_view name) {
    return *std::ranges::find(tensors, name, &SourceTensor::name);
  }
  void erase(std::string_view name) {
    tensors.erase(tensors.begin() + (&find(name) - &tensors[0]));
  }
  std::map<std::string_view, RowChoice> move(std::string_view family = "llama") {
    return moveColumnOrders(tensors, *findHfFamily(family));
  }
  void expectKept(std::string_view family = "llama") {
    EXPECT_THAT(move(family), IsEmpty());
    EXPECT_THAT(find("blk.0.ffn_down.weight").permutation, ::testing::ElementsAreArray(order));
  }
};

TEST(ColumnOrders, MoveToGateAndUp) {
  Block block;
  auto rows = block.move();
  EXPECT_THAT(rows, ElementsAre(Key("blk.0.ffn_gate.weight"), Key("blk.0.ffn_up.weight")));
  EXPECT_THAT(block.find("blk.0.ffn_down.weight").permutation, IsEmpty());
  for (const auto& [name, choice] : rows)
    EXPECT_EQ(choice.order.data(), order.data());
}

TEST(ColumnOrders, MoveToBiases) {
  Block block;
  block.add("blk.0.ffn_up.bias", {4});
  EXPECT_THAT(block.move(), ElementsAre(Key("blk.0.ffn_gate.weight"), Key("blk.0.ffn_up.bias"),
                                        Key("blk.0.ffn_up.weight")));
}

TEST(ColumnOrders, MoveToUpAlone) {
  Block block;
  block.erase("blk.0.ffn_gate.weight");
  EXPECT_THAT(block.move(), ElementsAre(Key("blk.0.ffn_up.weight")));
}

TEST(ColumnOrders, MoveToBothHalvesOfOneTensor) {
  Block block;
  block.erase("blk.0.ffn_gate.weight");
  block.find("blk.0.ffn_up.weight").shape = {8, 2};
  auto rows = block.move();
  ASSERT_THAT(rows, ElementsAre(Key("blk.0.ffn_up.weight")));
  std::vector<uint64_t> taken;
  for (uint64_t row = 0; row < 8; ++row)
    taken.push_back(rows.begin()->second.rowFor(row));
  EXPECT_THAT(taken, ElementsAre(2, 0, 3, 1, 6, 4, 7, 5));
}

TEST(ColumnOrders, OfOtherLayersStay) {
  Block block;
  block.find("blk.0.ffn_gate.weight").permutation = std::span(order).first(2);
  block.add("blk.0.attn_q.weight", {4, 4}).permutation = order;
  block.move();
  EXPECT_THAT(block.find("blk.0.ffn_gate.weight").permutation, ElementsAre(2, 0));
  EXPECT_EQ(block.find("blk.0.attn_q.weight").permutation.size(), 4u);
}

TEST(ColumnOrders, StayWhereATensorMayLieBetween) {
  for (const char* name : {"blk.0.ffn_sub_norm.weight", "blk.0.ffn_act.scales",
                           "blk.0.ffn_up.scale", "blk.0.ffn_gate_inp.weight"}) {
    Block block;
    block.add(name, {4});
    block.expectKept();
  }
}

TEST(ColumnOrders, StayWhereRowsDoNotFit) {
  for (const char* name : {"blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"})
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{8, 2}, {3, 2}, {4}, {4, 2, 1}, {}}) {
      Block block;
      block.find(name).shape = shape;
      block.expectKept();
    }
  Block block;
  block.add("blk.0.ffn_gate.bias", {5});
  block.expectKept();
}

TEST(ColumnOrders, StayWhereRowsCannotBeChosen) {
  Block unknown;
  unknown.find("blk.0.ffn_gate.weight").encoding = nullptr;
  unknown.expectKept();
  Block none;
  none.erase("blk.0.ffn_up.weight");
  none.expectKept();
  Block transposed; // as gpt2's matrices are
  transposed.erase("blk.0.ffn_gate.weight");
  transposed.expectKept("gpt2");
}

} // namespace
} // namespace tenon::frontends
