#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

TEST(CpuElementwise, Unary) {
  CaseList list;
  for (const char* op : {"neg", "abs", "square", "exp", "sin", "cos", "tanh", "erf", "sigmoid",
                         "silu", "relu", "gelu", "gelu_tanh"}) {
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
  for (const char* op : {"add", "sub", "mul", "div", "max", "min"}) {
    std::string type = tensorType({3, 37}, "f32");
    list.add(op, {type, type}, type, absl::StrFormat("tenon.%s %%a, %%b", op));
  }
  expectMatchesReference(list.cases);
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
  for (const char* op : {"neg", "abs", "square", "exp", "tanh", "erf", "sigmoid", "silu", "relu",
                         "gelu", "gelu_tanh", "sqrt", "rsqrt", "log"})
    list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a", op)).floats[0] = values;
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
