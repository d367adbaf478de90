#include <cmath>

#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

class ElementwiseTest : public IrTest {
protected:
  /// `op` applied to f32 values.
  std::vector<double> unary(const std::string& op, const std::vector<double>& x) {
    std::string shape = "tensor<" + std::to_string(x.size()) + "xf32>";
    auto results = run("func.func @f(%x: " + shape + ") -> " + shape + " { %0 = tenon." + op +
                           " : (" + shape + ") -> " + shape + " return %0 : " + shape + " }",
                       {tensor(shape, x)}, {.round = false});
    return results.empty() ? std::vector<double>() : results[0];
  }
};

TEST_F(ElementwiseTest, UnaryValues) {
  std::vector<double> x = {-2, 0.25, 3};
  using V = std::vector<double>;
  EXPECT_THAT(unary("neg %x", x), AreNear(V({2, -0.25, -3}), 0));
  EXPECT_THAT(unary("abs %x", x), AreNear(V({2, 0.25, 3}), 0));
  EXPECT_THAT(unary("square %x", x), AreNear(V({4, 0.0625, 9}), 0));
  EXPECT_THAT(unary("sqrt %x", x), AreNear(V({NAN, 0.5, 1.7320508075688772}), 1e-15));
  EXPECT_THAT(unary("rsqrt %x", x), AreNear(V({NAN, 2, 0.5773502691896258}), 1e-15));
  EXPECT_THAT(unary("exp %x", x),
              AreNear(V({0.1353352832366127, 1.2840254166877414, 20.085536923187668}), 1e-14));
  EXPECT_THAT(unary("log %x", x),
              AreNear(V({NAN, -1.3862943611198906, 1.0986122886681098}), 1e-15));
  EXPECT_THAT(unary("sin %x", x),
              AreNear(V({-0.9092974268256817, 0.2474039592545229, 0.1411200080598672}), 1e-15));
  EXPECT_THAT(unary("cos %x", x),
              AreNear(V({-0.4161468365471424, 0.9689124217106447, -0.9899924966004454}), 1e-15));
  EXPECT_THAT(unary("tanh %x", x),
              AreNear(V({-0.9640275800758169, 0.2449186624037092, 0.9950547536867305}), 1e-15));
  EXPECT_THAT(unary("erf %x", x),
              AreNear(V({-0.9953222650189527, 0.2763263901682369, 0.9999779095030014}), 1e-15));
  EXPECT_THAT(unary("cast %x", x), AreNear(x, 0));
}

TEST_F(ElementwiseTest, RoundsToIntegers) {
  std::vector<double> x = {-2.5, -1.5, -0.5, -0.2, 0.5, 1.5, 2.5, 2.6, 1e30, NAN};
  using V = std::vector<double>;
  EXPECT_THAT(unary("floor %x", x), AreNear(V({-3, -2, -1, -1, 0, 1, 2, 2, 1e30, NAN}), 1e23));
  EXPECT_THAT(unary("ceil %x", x), AreNear(V({-2, -1, 0, 0, 1, 2, 3, 3, 1e30, NAN}), 1e23));
  EXPECT_THAT(unary("round %x", x), AreNear(V({-2, -2, 0, 0, 0, 2, 2, 3, 1e30, NAN}), 1e23));
  EXPECT_THAT(unary("trunc %x", x), AreNear(V({-2, -1, 0, 0, 0, 1, 2, 2, 1e30, NAN}), 1e23));
  EXPECT_THAT(unary("sign %x", {-3, -0.0, 0, 1e-30, NAN}), AreNear(V({-1, 0, 0, 1, NAN}), 0));
  EXPECT_TRUE(std::signbit(unary("round %x", {-0.2})[0]));
}

TEST_F(ElementwiseTest, ClampsBetweenBounds) {
  EXPECT_THAT(unary("clamp %x from -1.0 to 2.5", {-3, -1, 0.5, 2.5, 7, INFINITY, NAN}),
              AreNear(std::vector<double>({-1, -1, 0.5, 2.5, 2.5, 2.5, NAN}), 0));
  EXPECT_EQ(unary("clamp %x from 0.1 to 1.0", {0})[0], static_cast<double>(0.1f));
}

TEST_F(ElementwiseTest, IntegersWrap) {
  using V = std::vector<double>;
  const double least = -2147483648.0, most = 2147483647;
  V x = {most, least, 65537, -7, 7, least, 5}, y = {1, -1, 65537, 3, -3, 0, -1};
  auto binary = [&](const std::string& op) {
    std::string type = "tensor<7xi32>";
    auto results =
        run("func.func @f(%x: " + type + ", %y: " + type + ") -> " + type + " { %0 = tenon." + op +
                " %x, %y : (" + type + ", " + type + ") -> " + type + " return %0 : " + type + " }",
            {tensor(type, x), tensor(type, y)});
    return results.empty() ? V() : results[0];
  };
  EXPECT_EQ(binary("add"), V({least, most, 131074, -4, 4, least, 4}));
  EXPECT_EQ(binary("sub"), V({most - 1, least + 1, 0, -10, 10, least, 6}));
  EXPECT_EQ(binary("mul"), V({most, least, 131073, -21, -21, 0, -5}));
  EXPECT_EQ(binary("mod"), V({0, 0, 0, 2, -2, 0, 0}));
  EXPECT_EQ(binary("max"), V({most, -1, 65537, 3, 7, 0, 5}));
  EXPECT_EQ(binary("min"), V({1, least, 65537, -7, -3, least, -1}));
}

TEST_F(ElementwiseTest, CastsBetweenFloatsAndIntegers) {
  using V = std::vector<double>;
  auto cast = [&](const std::string& from, const std::string& to, const V& x) {
    std::string size = "tensor<" + std::to_string(x.size()) + "x";
    auto results = run("func.func @f(%x: " + size + from + ">) -> " + size + to +
                           "> { %0 = tenon.cast %x : (" + size + from + ">) -> " + size + to +
                           "> return %0 : " + size + to + "> }",
                       {tensor(size + from + ">", x)});
    return results.empty() ? V() : results[0];
  };
  EXPECT_EQ(cast("f32", "i32", {1.9, -1.9, NAN, 1e30, -INFINITY}),
            V({1, -1, 0, 2147483647, -2147483648.0}));
  EXPECT_EQ(cast("f32", "i64", {1.9, -3e9, NAN}), V({1, -3e9, 0}));
  EXPECT_EQ(cast("f32", "i1", {0.0, -0.0, 1e-30, NAN, -2}), V({0, 0, 1, 1, 1}));
  EXPECT_EQ(cast("i64", "i32", {4294967297, -1, 2147483648}), V({1, -1, -2147483648.0}));
  EXPECT_EQ(cast("i64", "i1", {256, 0, -1}), V({1, 0, 1}));
  EXPECT_EQ(cast("i1", "i64", {1, 0}), V({1, 0}));
  EXPECT_EQ(cast("i64", "f32", {16777217, -3}), V({16777216, -3}));
  EXPECT_EQ(cast("i1", "f16", {1, 0}), V({1, 0}));
}

TEST_F(ElementwiseTest, ComparesAndSelects) {
  std::vector<double> x = {1, 2, 3, NAN, -0.0}, y = {2, 2, 2, 2, 0};
  using V = std::vector<double>;
  auto compared = [&](const std::string& predicate) {
    auto results = run("func.func @f(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf16> { "
                       "%0 = tenon.compare " +
                           predicate +
                           " %x, %y : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf16> "
                           "return %0 : tensor<5xf16> }",
                       {tensor("tensor<5xf32>", x), tensor("tensor<5xf32>", y)});
    return results.empty() ? V() : results[0];
  };
  EXPECT_EQ(compared("eq"), V({0, 1, 0, 0, 1}));
  EXPECT_EQ(compared("ne"), V({1, 0, 1, 1, 0}));
  EXPECT_EQ(compared("lt"), V({1, 0, 0, 0, 0}));
  EXPECT_EQ(compared("le"), V({1, 1, 0, 0, 1}));
  EXPECT_EQ(compared("gt"), V({0, 0, 1, 0, 0}));
  EXPECT_EQ(compared("ge"), V({0, 1, 1, 0, 1}));
  auto results = run(R"(func.func @f(%c: tensor<2x2xf32>, %x: tensor<2xf32>, %y: tensor<2x1xf32>)
        -> tensor<2x2xf32> {
      %0 = tenon.select %c, %x, %y
          : (tensor<2x2xf32>, tensor<2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    })",
                     {tensor("tensor<2x2xf32>", {0, -0.5, NAN, -0.0}),
                      tensor("tensor<2xf32>", {1, 2}), tensor("tensor<2x1xf32>", {NAN, 7})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0], AreNear(V({NAN, 2, 1, 7}), 0));
}

TEST_F(ElementwiseTest, Powers) {
  auto results = run(R"(func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
      %0 = tenon.pow %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    })",
                     {tensor("tensor<8xf32>", {2, -2, -2, 4, NAN, -8, 0, -0.0}),
                      tensor("tensor<8xf32>", {10, 3, -2, 0.5, 0, 0.5, -1, -3})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0],
              AreNear(std::vector<double>({1024, -8, 0.25, 2, 1, NAN, INFINITY, -INFINITY}), 0));
}

/// The values: NumPy's mod.
TEST_F(ElementwiseTest, RemaindersHaveTheSignOfTheDivisor) {
  auto results = run(R"(func.func @f(%x: tensor<10xf32>, %y: tensor<10xf32>) -> tensor<10xf32> {
      %0 = tenon.mod %x, %y : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
      return %0 : tensor<10xf32>
    })",
                     {tensor("tensor<10xf32>", {7, -7, 7, -7, 5.5, -0.5, 6, -6, 1, NAN}),
                      tensor("tensor<10xf32>", {3, 3, -3, -3, 2, 4, 3, 3, 0, 2})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0],
              AreNear(std::vector<double>({1, 2, -2, -1, 1.5, 3.5, 0, 0, NAN, NAN}), 0));
}

/// The values: Python's math.exp, math.erf and math.tanh in the definitions.
TEST_F(ElementwiseTest, Activations) {
  std::vector<double> x = {-3, -0.5, 0, 0.5, 3};
  using V = std::vector<double>;
  EXPECT_THAT(unary("relu %x", x), AreNear(V({0, 0, 0, 0.5, 3}), 0));
  EXPECT_THAT(unary("sigmoid %x", x), AreNear(V({0.04742587317756678, 0.3775406687981454, 0.5,
                                                 0.6224593312018546, 0.9525741268224334}),
                                              1e-15));
  EXPECT_THAT(unary("silu %x", x), AreNear(V({-0.14227761953270035, -0.1887703343990727, 0,
                                              0.3112296656009273, 2.8577223804673}),
                                           1e-14));
  EXPECT_THAT(
      unary("gelu %x", x),
      AreNear(V({-0.00404969409489031, -0.1542687694, 0, 0.3457312306, 2.99595030590511}), 1e-10));
  EXPECT_THAT(
      unary("gelu_tanh %x", x),
      AreNear(V({-0.0036373920817729943, -0.15428599, 0, 0.34571401, 2.996362607918227}), 1e-8));
}

TEST_F(ElementwiseTest, ReluTurnsMinusZeroIntoZero) {
  EXPECT_FALSE(std::signbit(unary("relu %x", {-0.0})[0]));
  EXPECT_TRUE(std::isnan(unary("relu %x", {NAN})[0]));
}

TEST_F(ElementwiseTest, ScaleRoundsItsFactor) {
  EXPECT_EQ(unary("scale %x by 0.1", {3})[0], 3 * static_cast<double>(0.1f));
}

TEST_F(ElementwiseTest, MaxAndMinPropagateNanAndOrderZeros) {
  std::string text = R"(func.func @f(%x: tensor<5xf32>, %y: tensor<5xf32>)
        -> (tensor<5xf32>, tensor<5xf32>) {
      %0 = tenon.max %x, %y : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      %1 = tenon.min %x, %y : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
      return %0, %1 : tensor<5xf32>, tensor<5xf32>
    })";
  auto results = run(text, {tensor("tensor<5xf32>", {1, NAN, 3, -0.0, 0.0}),
                            tensor("tensor<5xf32>", {2, 0, NAN, 0.0, -0.0})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(results[0], AreNear(std::vector<double>({2, NAN, NAN, 0, 0}), 0));
  EXPECT_THAT(results[1], AreNear(std::vector<double>({1, NAN, NAN, 0, 0}), 0));
  for (int i : {3, 4}) {
    EXPECT_FALSE(std::signbit(results[0][i]));
    EXPECT_TRUE(std::signbit(results[1][i]));
  }
}

TEST_F(ElementwiseTest, BinaryValuesBroadcast) {
  std::string types = " : (tensor<2x1x2xf32>, tensor<3x1xf32>) -> tensor<2x3x2xf32>\n";
  std::string text =
      "func.func @f(%x: tensor<2x1x2xf32>, %y: tensor<3x1xf32>) -> "
      "(tensor<2x3x2xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>, tensor<2x3x2xf32>) {"
      "%0 = tenon.add %x, %y" +
      types + "%1 = tenon.sub %x, %y" + types + "%2 = tenon.mul %x, %y" + types +
      "%3 = tenon.div %x, %y" + types +
      "return %0, %1, %2, %3 : tensor<2x3x2xf32>, tensor<2x3x2xf32>, "
      "tensor<2x3x2xf32>, tensor<2x3x2xf32> }";
  auto results = run(
      text, {tensor("tensor<2x1x2xf32>", {1, 2, 3, 4}), tensor("tensor<3x1xf32>", {10, 20, 40})});
  ASSERT_EQ(results.size(), 4u);
  using V = std::vector<double>;
  EXPECT_EQ(results[0], V({11, 12, 21, 22, 41, 42, 13, 14, 23, 24, 43, 44}));
  EXPECT_EQ(results[1], V({-9, -8, -19, -18, -39, -38, -7, -6, -17, -16, -37, -36}));
  EXPECT_EQ(results[2], V({10, 20, 20, 40, 40, 80, 30, 40, 60, 80, 120, 160}));
  EXPECT_THAT(
      results[3],
      AreNear(V({0.1, 0.2, 0.05, 0.1, 0.025, 0.05, 0.3, 0.4, 0.15, 0.2, 0.075, 0.1}), 2e-8));
}

TEST_F(ElementwiseTest, GluTimesUp) {
  std::string text = R"(func.func @f(%g: tensor<2xf32>, %u: tensor<2xf32>)
        -> (tensor<2xf32>, tensor<2xf32>) {
      %0 = tenon.glu silu %g, %u : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %1 = tenon.glu relu %g, %u : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %0, %1 : tensor<2xf32>, tensor<2xf32>
    })";
  auto results = run(text, {tensor("tensor<2xf32>", {3, -0.5}), tensor("tensor<2xf32>", {2, 10})},
                     {.round = false});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(results[0],
              AreNear(std::vector<double>({2 * 2.8577223804673, -1.887703343990727}), 1e-14));
  EXPECT_EQ(results[1], std::vector<double>({6, 0}));
}

/// 1 + 2⁻¹¹ is a tie in f16, and goes to the even 1; 65504 + 16 to infinity.
TEST_F(ElementwiseTest, RoundsToTheResultsElementType) {
  auto results = run("func.func @f(%x: tensor<3xf32>) -> tensor<3xf16> { %0 = tenon.cast %x : "
                     "(tensor<3xf32>) -> tensor<3xf16> return %0 : tensor<3xf16> }",
                     {tensor("tensor<3xf32>", {1 + 0x1p-11, 1 + 0x1.8p-10, 65520})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0], std::vector<double>({1, 1 + 0x1p-9, INFINITY}));
}

} // namespace
} // namespace tenon::tests
