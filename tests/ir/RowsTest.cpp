#include <cmath>

#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using Values = std::vector<double>;

/// Norms, softmax and reductions: what works on rows of the innermost axis.
class RowsTest : public IrTest {
protected:
  /// `op` with %x of [2, 4], and %w and %b of [4], unrounded.
  Values evaluate(const std::string& op, const std::string& operands, const std::string& result,
                  const Values& x) {
    auto results =
        run("func.func @f(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> " + result +
                " { %0 = tenon." + op + " : (" + operands + ") -> " + result +
                " return %0 : " + result + " }",
            {tensor("tensor<2x4xf32>", x), tensor("tensor<4xf32>", {1, 2, 3, 4}),
             tensor("tensor<4xf32>", {10, 20, 30, 40})},
            {.round = false});
    return results.empty() ? Values() : results[0];
  }
  const std::string x = "tensor<2x4xf32>", v = "tensor<4xf32>";
};

/// Mean squares 1 and 4, so that the roots are 1 and 2.
TEST_F(RowsTest, RmsNorm) {
  Values input = {1, -1, 1, 1, 2, 2, -2, 2};
  EXPECT_THAT(evaluate("rms_norm %x eps 0.0", x, x, input),
              AreNear(Values({1, -1, 1, 1, 1, 1, -1, 1}), 1e-15));
  EXPECT_THAT(evaluate("rms_norm %x, %w eps 0.0", x + ", " + v, x, input),
              AreNear(Values({1, -2, 3, 4, 1, 2, -3, 4}), 1e-15));
  EXPECT_THAT(evaluate("rms_norm %x eps 3.0", x, x, {1, -1, 1, 1, 0, 0, 0, 0}),
              AreNear(Values({0.5, -0.5, 0.5, 0.5, 0, 0, 0, 0}), 1e-15));
}

/// Rows of mean 5 and variance 4, and of variance 0.
TEST_F(RowsTest, LayerNorm) {
  Values input = {3, 3, 7, 7, 9, 9, 9, 9};
  EXPECT_THAT(evaluate("layer_norm %x eps 0.0", x, x, {3, 3, 7, 7, 1, 3, 1, 3}),
              AreNear(Values({-1, -1, 1, 1, -1, 1, -1, 1}), 1e-15));
  EXPECT_THAT(
      evaluate("layer_norm %x weight %w bias %b eps 5.0", x + ", " + v + ", " + v, x, input),
      AreNear(Values({10 - 2.0 / 3, 20 - 4.0 / 3, 32, 40 + 8.0 / 3, 10, 20, 30, 40}), 1e-13));
  EXPECT_THAT(
      evaluate("layer_norm %x bias %b eps 5.0", x + ", " + v, x, input),
      AreNear(Values({10 - 2.0 / 3, 20 - 2.0 / 3, 30 + 2.0 / 3, 40 + 2.0 / 3, 10, 20, 30, 40}),
              1e-13));
}

TEST_F(RowsTest, SoftmaxDoesNotOverflow) {
  double log2 = std::log(2.0), log5 = std::log(5.0);
  EXPECT_THAT(evaluate("softmax %x", x, x, {0, log2, 0, 0, 1e30, 1e30, -1e30, 0}),
              AreNear(Values({0.2, 0.4, 0.2, 0.2, 0.5, 0.5, 0, 0}), 1e-15));
  EXPECT_THAT(evaluate("softmax %x", x, x, {-INFINITY, 0, log5, log2, 7, 7, 7, 7}),
              AreNear(Values({0, 0.125, 0.625, 0.25, 0.25, 0.25, 0.25, 0.25}), 1e-15));
}

TEST_F(RowsTest, Reduce) {
  const std::string one = "tensor<2x1xf32>";
  Values input = {1, -2, 3, 4, 5, NAN, 7, 8};
  EXPECT_THAT(evaluate("reduce sum %x", x, one, input), AreNear(Values({6, NAN}), 0));
  EXPECT_THAT(evaluate("reduce mean %x", x, one, input), AreNear(Values({1.5, NAN}), 0));
  EXPECT_THAT(evaluate("reduce max %x", x, one, input), AreNear(Values({4, NAN}), 0));
  EXPECT_THAT(evaluate("reduce min %x", x, one, input), AreNear(Values({-2, NAN}), 0));
}

/// The values: NumPy's cumsum.
TEST_F(RowsTest, CumulativeSum) {
  EXPECT_THAT(evaluate("cumulative_sum %x", x, x, {1, -2, 3, 4, 0.5, 0.25, NAN, 8}),
              AreNear(Values({1, -1, 2, 6, 0.5, 0.75, NAN, NAN}), 0));
}

/// The signs: scipy.linalg.hadamard; runs of 4 of a head of 4, and of 2 of one of 6.
TEST_F(RowsTest, HadamardTransformsRuns) {
  auto transform = [&](const std::string& type, const Values& x) {
    return run("func.func @f(%x: " + type + ") -> " + type + " { %0 = tenon.hadamard %x : (" +
                   type + ") -> " + type + " return %0 : " + type + " }",
               {tensor(type, x)}, {.round = false})[0];
  };
  EXPECT_THAT(transform("tensor<1x2x4xf32>", {1, 2, 4, 8, 2, 0, 0, 0}),
              AreNear(Values({7.5, -2.5, -4.5, 1.5, 1, 1, 1, 1}), 1e-15));
  const double root = std::sqrt(0.5);
  EXPECT_THAT(transform("tensor<1x1x6xf32>", {1, 2, 4, 8, 3, 3}),
              AreNear(Values({3 * root, -root, 12 * root, -4 * root, 6 * root, 0}), 1e-14));
}

TEST_F(RowsTest, ArgmaxTakesTheLowestIndexAndFindsNoneBesideNan) {
  const std::string ids = "tensor<2xi32>";
  EXPECT_EQ(evaluate("argmax %x", x, ids, {1, 3, 3, 2, 5, 1, 1, 1}), Values({1, 0}));
  EXPECT_EQ(evaluate("argmax %x", x, ids,
                     {1, 2, INFINITY, NAN, -INFINITY, -INFINITY, -INFINITY, -INFINITY}),
            Values({-1, 0}));
}

TEST_F(RowsTest, TopKIsOrderedAndStable) {
  std::string text = R"(func.func @f(%x: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
      %0:2 = tenon.top_k %x k 3 : (tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
      return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
    })";
  auto results = run(text, {tensor("tensor<2x4xf32>", {2, 5, 2, 9, NAN, -INFINITY, NAN, 1})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(results[0], AreNear(Values({9, 5, 2, 1, -INFINITY, NAN}), 0));
  EXPECT_EQ(results[1], Values({3, 1, 0, 3, 1, 0}));
}

} // namespace
} // namespace tenon::tests
