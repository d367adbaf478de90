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

/// The values: NumPy's take_along_axis, but for indices outside the axis, which NumPy refuses or
/// counts from the end.
TEST_F(ShapeTest, GatherTakesElementsByIndex) {
  std::string text = R"(func.func @f(%x: tensor<2x3x2xf32>, %i: tensor<2x4x2xi32>,
                                      %j: tensor<3x3x2xi32>, %k: tensor<2x3x1xi32>)
        -> (tensor<2x4x2xf32>, tensor<3x3x2xf32>, tensor<2x3x1xf32>) {
      %0 = tenon.gather %x, %i along 1
          : (tensor<2x3x2xf32>, tensor<2x4x2xi32>) -> tensor<2x4x2xf32>
      %1 = tenon.gather %x, %j along 0
          : (tensor<2x3x2xf32>, tensor<3x3x2xi32>) -> tensor<3x3x2xf32>
      %2 = tenon.gather %x, %k along 2
          : (tensor<2x3x2xf32>, tensor<2x3x1xi32>) -> tensor<2x3x1xf32>
      return %0, %1, %2 : tensor<2x4x2xf32>, tensor<3x3x2xf32>, tensor<2x3x1xf32>
    })";
  ReferenceTensor x(type("tensor<2x3x2xf32>"));
  std::iota(x.getValues().begin(), x.getValues().end(), 1);
  auto results = run(
      text, {x, tensor("tensor<2x4x2xi32>", {0, 1, 2, 0, 1, 1, 0, 2, 2, 2, 3, -1, 0, 0, 1, 2}),
             tensor("tensor<3x3x2xi32>", {0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, -1, 0, 0, 0, 1}),
             tensor("tensor<2x3x1xi32>", {1, 0, 1, 2147483647, -2147483648.0, 0})});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0], Values({1, 4, 5, 2, 3, 4, 1, 6, 11, 12, 0, 0, 7, 8, 9, 12}));
  EXPECT_EQ(results[1], Values({1, 8, 9, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 3, 4, 5, 12}));
  EXPECT_EQ(results[2], Values({2, 3, 6, 0, 0, 11}));
}

/// The values: NumPy's put_along_axis and add.at, without the indices outside the axis.
TEST_F(ShapeTest, ScatterWritesInOrderOrAdds) {
  auto scatter = [&](const std::string& how) {
    std::string text = R"(func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x5xi32>,
                                        %u: tensor<2x5xf32>) -> tensor<2x4xf32> {
      %0 = tenon.scatter %x, %i, %u along 1 )" +
                       how + R"(
          : (tensor<2x4xf32>, tensor<2x5xi32>, tensor<2x5xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    })";
    auto results = run(text, {tensor("tensor<2x4xf32>", {1, 2, 3, 4, 5, 6, 7, 8}),
                              tensor("tensor<2x5xi32>", {2, 0, 2, 4, -1, 3, 3, 3, 1, 2}),
                              tensor("tensor<2x5xf32>", {10, 20, 30, 40, 50, 1, 2, 4, 8, 16})});
    return results.empty() ? Values() : results[0];
  };
  EXPECT_EQ(scatter(""), Values({20, 2, 30, 4, 5, 8, 16, 4}));
  EXPECT_EQ(scatter("accumulate"), Values({21, 2, 43, 4, 5, 14, 23, 15}));
}

TEST_F(ShapeTest, ScatterAlongAnOuterAxis) {
  auto results =
      run(R"(func.func @f(%x: tensor<3x2xf16>, %i: tensor<2x2xi32>, %u: tensor<2x2xf16>)
        -> tensor<3x2xf16> {
      %0 = tenon.scatter %x, %i, %u along 0
          : (tensor<3x2xf16>, tensor<2x2xi32>, tensor<2x2xf16>) -> tensor<3x2xf16>
      return %0 : tensor<3x2xf16>
    })",
          {tensor("tensor<3x2xf16>", {1, 2, 3, 4, 5, 6}), tensor("tensor<2x2xi32>", {2, 0, 1, 3}),
           tensor("tensor<2x2xf16>", {10, 20, 30, 40})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], Values({1, 20, 30, 4, 10, 6}));
}

/// The values: PyTorch's unfold of the padded input, transposed.
TEST_F(ShapeTest, PatchesAreTheWindowsOfAConvolution) {
  EXPECT_EQ(evaluate("patches %x window [3] strides [2] low [1] high [1]", "tensor<1x2x4xf32>",
                     "tensor<1x2x6xf32>"),
            Values({0, 0, 1, 0, 4, 5, 1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(evaluate("patches %x window [2, 2] strides [1, 2] low [0, 0] high [0, 0]",
                     "tensor<2x1x3x4xi32>", "tensor<2x4x4xi32>"),
            Values({0,  1,  4,  5,  2,  3,  6,  7,  4,  5,  8,  9,  6,  7,  10, 11,
                    12, 13, 16, 17, 14, 15, 18, 19, 16, 17, 20, 21, 18, 19, 22, 23}));
  // Padding of one side, a window that skips the last element, and one of three axes.
  EXPECT_EQ(evaluate("patches %x window [2] strides [3] low [1] high [0]", "tensor<1x1x5xf16>",
                     "tensor<1x2x2xf16>"),
            Values({0, 0, 2, 3}));
  EXPECT_EQ(evaluate("patches %x window [1, 2, 1] strides [1, 1, 2] low [0, 0, 0] high [0, 0, 0]",
                     "tensor<1x1x2x2x2xf32>", "tensor<1x2x2xf32>"),
            Values({0, 2, 4, 6}));
}

/// Windows that lie in the padding alone are zero, and so is what surrounds the only element.
TEST_F(ShapeTest, PatchesOutsideTheInputAreZero) {
  EXPECT_EQ(evaluate("patches %x window [2] strides [2] low [4] high [3]", "tensor<1x1x2xf32>",
                     "tensor<1x4x2xf32>"),
            Values({0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(evaluate("patches %x window [5] strides [1] low [2] high [2]", "tensor<1x1x1xf32>",
                     "tensor<1x1x5xf32>"),
            Values({0, 0, 0, 0, 0}));
}

} // namespace
} // namespace tenon::tests
