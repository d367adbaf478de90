#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using Values = std::vector<double>;
using ReferenceTensorTest = IrTest;

TEST_F(ReferenceTensorTest, StartsWithZerosAndSharesElements) {
  ReferenceTensor first(type("tensor<2x3xf32>"));
  EXPECT_EQ(first.toVector(), Values(6, 0));
  ReferenceTensor second = first;
  second.getValues()[4] = 7;
  EXPECT_EQ(first.getValues()[4], 7);
  EXPECT_EQ(first.getNumRows(), 2);
  EXPECT_EQ(first.getRowLength(), 3);
}

TEST_F(ReferenceTensorTest, ScalarIsARowOfOne) {
  ReferenceTensor scalar(type("tensor<f32>"));
  EXPECT_EQ(scalar.getNumRows(), 1);
  EXPECT_EQ(scalar.getRowLength(), 1);
}

TEST_F(ReferenceTensorTest, DecodesRowsOfEncodedBytes) {
  ReferenceTensor plain = tensor("tensor<2x2xbf16>", {1, -2, 0.5, 3});
  std::vector<std::byte> bytes = plain.encode();
  ASSERT_EQ(bytes.size(), 8u);
  ReferenceTensor encoded(plain.getType(), bytes, nullptr);
  EXPECT_TRUE(encoded.isEncoded());
  std::vector<double> scratch;
  EXPECT_EQ(encoded.getRow(1, scratch), llvm::ArrayRef<double>({0.5, 3}));
  EXPECT_EQ(encoded.getAll(scratch), llvm::ArrayRef<double>({1, -2, 0.5, 3}));
  EXPECT_EQ(encoded.toVector(), plain.toVector());
  EXPECT_EQ(encoded.encode(), bytes);
}

TEST_F(ReferenceTensorTest, RoundsToTheElementType) {
  ReferenceTensor half = tensor("tensor<2xf16>", {1 + 0x1p-11, 1e9});
  half.roundToElementType();
  EXPECT_EQ(half.toVector(), Values({1, std::numeric_limits<double>::infinity()}));
  ReferenceTensor integers = tensor("tensor<2xi32>", {-2147483648.0, 2147483647});
  integers.roundToElementType();
  EXPECT_EQ(integers.toVector(), Values({-2147483648.0, 2147483647}));
}

} // namespace
} // namespace tenon::tests
