#include <numeric>

#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using Values = std::vector<double>;

class ShapeTest : public IrTest {
protected:
  /// `op` applied to 0, 1, 2, … of that type, given as doubles and as encoded bytes.
  Values evaluate(const std::string& op, const std::string& from, const std::string& to) {
    std::string text = "func.func @f(%x: " + from + ") -> " + to + " { %0 = tenon." + op + " : (" +
                       from + ") -> " + to + " return %0 : " + to + " }";
    ReferenceTensor input(type(from));
    std::iota(input.getValues().begin(), input.getValues().end(), 0);
    std::vector<std::byte> bytes = input.encode();
    auto results = run(text, {input});
    auto encodedResults = run(text, {ReferenceTensor(type(from), bytes, nullptr)});
    EXPECT_EQ(results, encodedResults);
    return results.empty() ? Values() : results[0];
  }
};

TEST_F(ShapeTest, ReshapeKeepsRowMajorOrder) {
  EXPECT_EQ(evaluate("reshape %x to [3, 2]", "tensor<2x3xf32>", "tensor<3x2xf32>"),
            Values({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(evaluate("reshape %x to []", "tensor<1x1xi32>", "tensor<i32>"), Values({0}));
}

TEST_F(ShapeTest, Transpose) {
  EXPECT_EQ(evaluate("transpose %x by [1, 0]", "tensor<2x3xf32>", "tensor<3x2xf32>"),
            Values({0, 3, 1, 4, 2, 5}));
  // Result [i, j, k] is input [j, k, i]: 6j + 2k + i.
  EXPECT_EQ(evaluate("transpose %x by [2, 0, 1]", "tensor<2x3x2xf16>", "tensor<2x2x3xf16>"),
            Values({0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

TEST_F(ShapeTest, Slice) {
  EXPECT_EQ(evaluate("slice %x [1, 1] [2, 2] [1, 2]", "tensor<3x4xf32>", "tensor<2x2xf32>"),
            Values({5, 7, 9, 11}));
  EXPECT_EQ(
      evaluate("slice %x [0, 1, 0] [2, 1, 2] [1, 1, 1]", "tensor<2x3x2xi32>", "tensor<2x1x2xi32>"),
      Values({2, 3, 8, 9}));
  EXPECT_EQ(evaluate("slice %x [3] [2] [4]", "tensor<8xf32>", "tensor<2xf32>"), Values({3, 7}));
  EXPECT_EQ(evaluate("slice %x [] [] []", "tensor<f32>", "tensor<f32>"), Values({0}));
}

TEST_F(ShapeTest, Concat) {
  std::string text = R"(func.func @f(%x: tensor<2x2xf32>, %y: tensor<2x1xf32>, %z: tensor<1x2xf32>)
        -> (tensor<2x5xf32>, tensor<3x2xf32>) {
      %0 = tenon.concat %x, %y, %x along 1
          : (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
      %1 = tenon.concat %z, %x along 0 : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
      return %0, %1 : tensor<2x5xf32>, tensor<3x2xf32>
    })";
  auto results = run(text, {tensor("tensor<2x2xf32>", {1, 2, 3, 4}),
                            tensor("tensor<2x1xf32>", {5, 6}), tensor("tensor<1x2xf32>", {7, 8})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0], Values({1, 2, 5, 1, 2, 3, 4, 6, 3, 4}));
  EXPECT_EQ(results[1], Values({7, 8, 1, 2, 3, 4}));
}

} // namespace
} // namespace tenon::tests
