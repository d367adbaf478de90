#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

TEST(CpuElementwise, Unary) {
  CaseList list;
  for (const char* op :
       {"neg", "abs", "square", "exp", "sin", "cos", "tanh", "erf", "sigmoid", "silu", "relu",
        "gelu", "gelu_tanh", "sign", "floor", "ceil", "round", "trunc"}) {
    std::string type = tensorType({3, 37}, "f32");
    CpuCase& test = list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a", op));
    test.low = -8, test.high = 8;
  }
  for (const char* op : {"sqrt", "rsqrt", "log"}) {
    std::string type = tensorType({3, 37}, "f32");
    CpuCase& test = list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a", op));
    test.low = 0.01, test.high = 100;
  }
  expectMatchesReference(list.cases);
}

TEST(CpuElementwise, ElementTypesAndShapes) {
  CaseList list;
  std::vector<std::vector<int64_t>> shapes = {{}, {1}, {7}, {1, 64}, {5, 33}, {2, 3, 17}, {9001}};
  for (const std::vector<int64_t>& shape : shapes)
    for (const char* from : {"f32", "f16", "bf16"})
      for (const char* to : {"f32", "f16", "bf16"})
        list.add("scale", {tensorType(shape, from)}, tensorType(shape, to),
                 "tenon.scale %a by 1.7");
  expectMatchesReference(list.cases);
}

TEST(CpuElementwise, Binary) {
  CaseList list;
  for (const char* op : {"add", "sub", "mul", "div", "max", "min", "mod"}) {
    std::string type = tensorType({3, 37}, "f32");
    list.add(op, {type, type}, type, absl::StrFormat("tenon.%s %%a, %%b", op));
  }
  expectMatchesReference(list.cases);
}

TEST(CpuElementwise, Clamps) {
  CaseList list;
  std::string type = tensorType({3, 37}, "f32");
  for (const char* bounds : {"-0.5 to 0.25", "0.0 to 0x7FF0000000000000", "0.1 to 0.1"})
    list.add("clamp", {type}, type, absl::StrFormat("tenon.clamp %%a from %s", bounds));
  expectMatchesReference(list.cases);
}

/// Multiples of the divisor and their neighbours, of both signs.
TEST(CpuElementwise, Remainders) {
  std::vector<double> x, y;
  for (float divisor : {3.0f, -3.0f, 0.1f, -0.7f, 1e-30f, 1e30f})
    for (float times : {0.0f, 1.0f, -1.0f, 7.0f, -7.0f, 1000.0f, -1000.0f, 0.5f})
      for (float toward : {-INFINITY, 0.0f, INFINITY}) {
        x.push_back(std::nextafter(times * divisor, toward));
        y.push_back(divisor);
      }
  CaseList list;
  std::string type = tensorType({static_cast<int64_t>(x.size())}, "f32");
  CpuCase& test = list.add("mod", {type, type}, type, "tenon.mod %a, %b");
  test.floats = {{0, x}, {1, y}};
  expectEqualsReference(test);
}

/// Halves, which are ties, and numbers beyond the integers of f32.
TEST(CpuElementwise, RoundsTiesToEven) {
  std::vector<double> values = {8388607.5, -8388607.5, 8388609, 1e20, -1e-20};
  for (int i = -30; i <= 30; ++i)
    values.push_back(i * 0.5);
  CaseList list;
  std::string type = tensorType({static_cast<int64_t>(values.size())}, "f32");
  for (const char* op : {"floor", "ceil", "round", "trunc", "sign"})
    list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a", op)).floats[0] = values;
  expectMatchesReference(list.cases);
  for (const CpuCase& test : list.cases)
    expectEqualsReference(test);
}

TEST(CpuElementwise, ComparesAndSelects) {
  CaseList list;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x = {1, 2, 3, std::nan(""), -0.0, infinity, -infinity, 5};
  std::vector<double> y = {2, 2, 2, 2, 0.0, infinity, std::nan(""), std::nan("")};
  std::string type = tensorType({8}, "f32"), half = tensorType({8}, "f16");
  for (const char* predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    for (const std::string& result : {type, half}) {
      CpuCase& test = list.add("compare", {type, type}, result,
                               absl::StrFormat("tenon.compare %s %%a, %%b", predicate));
      test.floats[0] = x, test.floats[1] = y;
    }
  CpuCase& test = list.add("select", {type, type, half}, type, "tenon.select %a, %b, %c");
  test.floats[0] = {0, 1, -0.0, std::nan(""), -2, 0, infinity, 1e-40};
  test.floats[1] = x, test.floats[2] = y;
  list.add("select",
           {tensorType({3, 40}, "f32"), tensorType({40}, "f32"), tensorType({3, 1}, "f32")},
           tensorType({3, 40}, "f32"), "tenon.select %a, %b, %c");
  expectMatchesReference(list.cases);
}

/// Each alone, for a tolerance of its own size, over the range of f32; and C's special values.
TEST(CpuElementwise, Powers) {
  CaseList list;
  std::string one = tensorType({1}, "f32");
  for (auto [base, exponent] : {std::pair{1.5, 2.0},
                                {1.5, 3.0},
                                {0.37, -7.5},
                                {-1.25, 101.0},
                                {1.0000001192092896, 1e8},
                                {0.99999994039535522, -1e9},
                                {3e38, 0.5},
                                {1e-45, 0.25},
                                {1e-45, 1.0},
                                {2.0, -148.5},
                                {1.9, 137.5},
                                {1e-20, 2.1},
                                {-3.0, -3.0},
                                {7.0, 0.001}}) {
    CpuCase& test = list.add("pow", {one, one}, one, "tenon.pow %a, %b");
    test.floats[0] = {base}, test.floats[1] = {exponent};
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> special = {0.0,       -0.0,         1.0, -1.0, 2.0,      -2.0,
                                 0.5,       -0.5,         3.0, -3.0, 2.5,      infinity,
                                 -infinity, std::nan(""), 1e9, -1e9, 16777217, -1e-3};
  int64_t count = special.size();
  CpuCase& test = list.add("pow", {tensorType({count, 1}, "f32"), tensorType({count}, "f32")},
                           tensorType({count, count}, "f32"), "tenon.pow %a, %b");
  test.floats[0] = special, test.floats[1] = special;
  expectMatchesReference(list.cases);
  // The signs of zeros, too.
  auto zeros = [&](double base, std::vector<double> exponents) {
    std::string type = tensorType({static_cast<int64_t>(exponents.size())}, "f32");
    CaseList signs;
    CpuCase& sign = signs.add("pow", {one, type}, type, "tenon.pow %a, %b");
    sign.floats[0] = {base}, sign.floats[1] = exponents;
    expectEqualsReference(sign);
  };
  zeros(-0.0, {3, 2, 0.5, -3, -2, -0.5});
  zeros(-infinity, {-3, -2, -0.5, 3, 2, 0.5});
}

TEST(CpuElementwise, Glu) {
  CaseList list;
  for (const char* activation : {"silu", "gelu", "gelu_tanh", "relu", "sigmoid"})
    for (const char* element : {"f32", "f16"}) {
      std::string type = tensorType({2, 75}, element);
      list.add("glu", {type, type}, type, absl::StrFormat("tenon.glu %s %%a, %%b", activation));
    }
  expectMatchesReference(list.cases);
}

TEST(CpuElementwise, Broadcasting) {
  CaseList list;
  struct Shapes {
    std::vector<int64_t> lhs, rhs, result;
  };
  std::vector<Shapes> all = {{{3, 33}, {33}, {3, 33}},
                             {{3, 33}, {3, 1}, {3, 33}},
                             {{33}, {3, 1}, {3, 33}},
                             {{2, 1, 5}, {1, 4, 1}, {2, 4, 5}},
                             {{}, {3, 9}, {3, 9}},
                             {{2, 3, 40}, {1, 3, 40}, {2, 3, 40}},
                             {{2, 3, 40}, {2, 1, 40}, {2, 3, 40}},
                             {{5, 1}, {1, 1}, {5, 1}},
                             {{100, 8192}, {8192}, {100, 8192}}};
  for (const Shapes& shapes : all)
    list.add("add", {tensorType(shapes.lhs, "f32"), tensorType(shapes.rhs, "f16")},
             tensorType(shapes.result, "f32"), "tenon.add %a, %b");
  expectMatchesReference(list.cases);
}

// The order of results, NaN, infinities and the ends of the range.
TEST(CpuElementwise, SpecialValues) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> values = {std::nan(""), infinity, -infinity, 0.0,    -0.0,   1e-45, -1e-45,
                                1e-38,        88.7,     -88.7,     -103.9, -104.5, 3e38,  -3e38,
                                0.625,        -0.6249,  4.0,       -9.0,   1e-20,  0.925, 1.5e-8};
  CaseList list;
  std::string type = tensorType({static_cast<int64_t>(values.size())}, "f32");
  for (const char* op : {"neg",  "abs",   "square", "exp",       "tanh",  "erf",   "sigmoid",
                         "silu", "relu",  "gelu",   "gelu_tanh", "sqrt",  "rsqrt", "log",
                         "sign", "floor", "ceil",   "round",     "trunc", "clamp"}) {
    std::string bounds = op == std::string("clamp") ? " from -0.0 to 6.0" : "";
    list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a%s", op, bounds)).floats[0] = values;
  }
  for (const char* op : {"max", "min"}) {
    CpuCase& test = list.add(op, {type, type}, type, absl::StrFormat("tenon.%s %%a, %%b", op));
    test.floats[0] = values;
    test.floats[1] = {values.rbegin(), values.rend()};
  }
  for (const char* element : {"f16", "bf16"}) {
    std::string to = tensorType({static_cast<int64_t>(values.size())}, element);
    list.add("cast", {type}, to, "tenon.cast %a").floats[0] = values;
  }
  expectMatchesReference(list.cases);
}

// Rounding to 16 bits must be to nearest even: the reference's bits, ties included.
TEST(CpuElementwise, CastsRoundToNearestEven) {
  std::vector<double> values;
  for (double step : {0x1p-11, 0x1p-8})
    for (int i = -40; i < 40; ++i)
      values.push_back(1.0 + i * step);
  for (double value : {65504.0, 65519.0, 65520.0, 3.39e38, 0x1p-25, 0x1.8p-24, 0x1p-24})
    values.push_back(value);
  for (const char* element : {"f16", "bf16"}) {
    SCOPED_TRACE(element);
    CaseList list;
    int64_t count = values.size();
    list.add("cast", {tensorType({count}, "f32")}, tensorType({count}, element), "tenon.cast %a")
        .floats[0] = values;
    expectMatchesReference(list.cases);
    expectEqualsReference(list.cases[0]);
  }
}

// What later fusions make: several operations and results, intermediate rounding, a constant.
TEST(CpuElementwise, ChainInOneKernel) {
  CpuCase test;
  test.name = "chain";
  test.function = R"(
    func.func @chain(%x: tensor<3x37xf16>, %bias: tensor<37xf32>)
        -> (tensor<3x37xf16>, tensor<3x37xf32>) {
      %y:2 = tenon.kernel (%a = %x : tensor<3x37xf16>, %b = %bias : tensor<37xf32>)
          -> (tensor<3x37xf16>, tensor<3x37xf32>) {
        %two = tenon.constant dense<2.0> : tensor<1xf32> : tensor<1xf32>
        %wide = tenon.mul %b, %two : (tensor<37xf32>, tensor<1xf32>) -> tensor<37xf32>
        %sum = tenon.add %a, %wide : (tensor<3x37xf16>, tensor<37xf32>) -> tensor<3x37xf16>
        %act = tenon.silu %sum : (tensor<3x37xf16>) -> tensor<3x37xf32>
        tenon.yield %sum, %act : tensor<3x37xf16>, tensor<3x37xf32>
      }
      return %y#0, %y#1 : tensor<3x37xf16>, tensor<3x37xf32>
    })";
  expectMatchesReference({test});
}

} // namespace tenon::tests
