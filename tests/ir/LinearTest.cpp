#include <numeric>

#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using LinearTest = IrTest;
using Values = std::vector<double>;

TEST_F(LinearTest, MatmulMultipliesByTheTranspose) {
  auto results = run("func.func @f(%x: tensor<2x3xf32>, %w: tensor<2x3xf32>) -> tensor<2x2xf32> {"
                     "%0 = tenon.matmul %x, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
                     "tensor<2x2xf32> return %0 : tensor<2x2xf32> }",
                     {tensor("tensor<2x3xf32>", {1, 2, 3, 4, 5, 6}),
                      tensor("tensor<2x3xf32>", {1, 0, -1, 10, 100, 1000})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], Values({-2, 3210, -2, 6540}));
}

TEST_F(LinearTest, MatmulKeepsTheLeadingAxesOfItsInput) {
  auto results = run(
      "func.func @f(%x: tensor<2x1x2xf32>, %w: tensor<3x2xf32>) -> "
      "tensor<2x1x3xf32> { %0 = tenon.matmul %x, %w : (tensor<2x1x2xf32>, "
      "tensor<3x2xf32>) -> tensor<2x1x3xf32> return %0 : tensor<2x1x3xf32> }",
      {tensor("tensor<2x1x2xf32>", {1, 2, 3, 4}), tensor("tensor<3x2xf32>", {1, 0, 0, 1, 1, 1})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], Values({1, 2, 3, 3, 4, 7}));
}

TEST_F(LinearTest, MatmulWithBatchAxes) {
  auto results = run("func.func @f(%x: tensor<2x2x2xf32>, %w: tensor<2x1x2xf32>) -> "
                     "tensor<2x2x1xf32> { %0 = tenon.matmul %x, %w : (tensor<2x2x2xf32>, "
                     "tensor<2x1x2xf32>) -> tensor<2x2x1xf32> return %0 : tensor<2x2x1xf32> }",
                     {tensor("tensor<2x2x2xf32>", {1, 2, 3, 4, 5, 6, 7, 8}),
                      tensor("tensor<2x1x2xf32>", {1, 10, 100, 1000})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], Values({21, 43, 6500, 8700}));
}

/// One Q8_0 block: scale 0.5 (0x3800 in f16) and the quants 0 … 31.
class BlockTest : public IrTest {
protected:
  BlockTest() : bytes(34) {
    bytes[1] = std::byte{0x38};
    for (int i = 0; i < 32; ++i)
      bytes[2 + i] = std::byte(i);
  }
  ReferenceTensor block() {
    return ReferenceTensor(type("tensor<1x32x!tenon.block<q8_0>>"), bytes, nullptr);
  }
  std::vector<std::byte> bytes;
};

TEST_F(BlockTest, MatmulUsesDecodedValues) {
  auto results = run("func.func @f(%x: tensor<1x32xf32>, %w: tensor<1x32x!tenon.block<q8_0>>) -> "
                     "tensor<1x1xf32> { %0 = tenon.matmul %x, %w : (tensor<1x32xf32>, "
                     "tensor<1x32x!tenon.block<q8_0>>) -> tensor<1x1xf32> return %0 : "
                     "tensor<1x1xf32> }",
                     {tensor("tensor<1x32xf32>", Values(32, 1)), block()});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], Values({0.5 * 31 * 32 / 2}));
}

TEST_F(BlockTest, DequantizeAndEmbeddingDecode) {
  auto results = run("func.func @f(%w: tensor<1x32x!tenon.block<q8_0>>, %i: tensor<2xi32>) -> "
                     "(tensor<1x32xf32>, tensor<2x32xf32>) {"
                     "%0 = tenon.dequantize %w : (tensor<1x32x!tenon.block<q8_0>>) -> "
                     "tensor<1x32xf32> %1 = tenon.embedding %w, %i : "
                     "(tensor<1x32x!tenon.block<q8_0>>, tensor<2xi32>) -> tensor<2x32xf32> "
                     "return %0, %1 : tensor<1x32xf32>, tensor<2x32xf32> }",
                     {block(), tensor("tensor<2xi32>", {1, 0})});
  ASSERT_EQ(results.size(), 2u);
  Values decoded(32), chosen(64);
  for (int i = 0; i < 32; ++i)
    chosen[32 + i] = decoded[i] = 0.5 * i;
  EXPECT_EQ(results[0], decoded);
  EXPECT_EQ(results[1], chosen);
}

/// W[0] = [[1, 2]], W[1] = [[3, 4]]; an id outside them gives zeros.
TEST_F(LinearTest, ExpertMatmulTakesTheChosenMatrices) {
  auto results =
      run("func.func @f(%x: tensor<2x2xf32>, %own: tensor<2x2x2xf32>, %w: tensor<2x1x2xf32>, "
          "%i: tensor<2x2xi32>) -> (tensor<2x2x1xf32>, tensor<2x2x1xf32>) {"
          "%0 = tenon.expert_matmul %x, %w, %i : (tensor<2x2xf32>, tensor<2x1x2xf32>, "
          "tensor<2x2xi32>) -> tensor<2x2x1xf32> "
          "%1 = tenon.expert_matmul %own, %w, %i : (tensor<2x2x2xf32>, tensor<2x1x2xf32>, "
          "tensor<2x2xi32>) -> tensor<2x2x1xf32> "
          "return %0, %1 : tensor<2x2x1xf32>, tensor<2x2x1xf32> }",
          {tensor("tensor<2x2xf32>", {1, 10, 2, 20}),
           tensor("tensor<2x2x2xf32>", {1, 10, 2, 20, 3, 30, 4, 40}),
           tensor("tensor<2x1x2xf32>", {1, 2, 3, 4}), tensor("tensor<2x2xi32>", {1, 0, 2, 1})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], Values({43, 21, 0, 86}));
  EXPECT_EQ(results[1], Values({43, 42, 0, 172}));
}

TEST_F(LinearTest, WeightedSum) {
  auto results =
      run("func.func @f(%x: tensor<1x2x3xf32>, %w: tensor<1x2xf32>) -> tensor<1x3xf32> {"
          "%0 = tenon.weighted_sum %x, %w : (tensor<1x2x3xf32>, tensor<1x2xf32>) -> "
          "tensor<1x3xf32> return %0 : tensor<1x3xf32> }",
          {tensor("tensor<1x2x3xf32>", {1, 2, 3, 4, 5, 6}), tensor("tensor<1x2xf32>", {0.5, -1})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], Values({-3.5, -4, -4.5}));
}

TEST_F(LinearTest, EmbeddingGivesZerosForForeignIds) {
  auto results = run("func.func @f(%t: tensor<2x2xf32>, %i: tensor<5xi32>) -> tensor<5x2xf32> {"
                     "%0 = tenon.embedding %t, %i : (tensor<2x2xf32>, tensor<5xi32>) -> "
                     "tensor<5x2xf32> return %0 : tensor<5x2xf32> }",
                     {tensor("tensor<2x2xf32>", {1, 2, 3, 4}),
                      tensor("tensor<5xi32>", {1, -1, 0, 2, 2147483647})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], Values({3, 4, 0, 0, 1, 2, 0, 0, 0, 0}));
}

TEST_F(LinearTest, EmbeddingTakesIdsOfAnyRank) {
  auto results =
      run("func.func @f(%t: tensor<3x1xf32>, %i: tensor<2x2xi32>) -> tensor<2x2x1xf32> {"
          "%0 = tenon.embedding %t, %i : (tensor<3x1xf32>, tensor<2x2xi32>) -> "
          "tensor<2x2x1xf32> return %0 : tensor<2x2x1xf32> }",
          {tensor("tensor<3x1xf32>", {5, 6, 7}), tensor("tensor<2x2xi32>", {2, 0, 3, 1})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], Values({7, 5, 0, 6}));
}

} // namespace
} // namespace tenon::tests
