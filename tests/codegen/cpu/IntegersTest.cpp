// Integers of 32 and 64 bits and bools: arithmetic, comparisons, casts, moves, indices.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "codegen/cpu/CompileForCpu.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::tests {

namespace {

constexpr double leastI32 = std::numeric_limits<int32_t>::min();
constexpr double mostI32 = std::numeric_limits<int32_t>::max();
/// What the reference, in double, tells from its neighbours.
constexpr double mostExact = 0x1p53 - 1;

/// `count` integers of that type: its ends, small ones of both signs, and others.
std::vector<double> makeIntegers(const std::string& type, int64_t count, int64_t seed) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = (i * 7919 + seed * 104729) % 23 - 11;
    if (i % 5 == 3)
      number = (i + seed) * 123457 % 46337;
    numbers.push_back(type == "i1" ? (i + seed) % 3 == 0 : static_cast<double>(number));
  }
  return numbers;
}

} // namespace

TEST(CpuIntegers, Arithmetic) {
  CaseList list;
  for (const std::string type : {"i32", "i64"})
    for (const char* op : {"add", "sub", "mul", "max", "min", "mod"})
      for (auto [high, wide] : {std::pair{3, 37}, {1, 5}, {4, 64}}) {
        CpuCase& test =
            list.add(op, {tensorType({high, wide}, type), tensorType({wide}, type)},
                     tensorType({high, wide}, type), absl::StrFormat("tenon.%s %%a, %%b", op));
        test.floats[0] = makeIntegers(type, static_cast<int64_t>(high) * wide, 1);
        test.floats[1] = makeIntegers(type, wide, 2);
      }
  for (const char* op : {"mul", "max", "min"}) {
    CpuCase& test = list.add(op, {tensorType({5, 9}, "i1"), tensorType({5, 1}, "i1")},
                             tensorType({5, 9}, "i1"), absl::StrFormat("tenon.%s %%a, %%b", op));
    test.floats[0] = makeIntegers("i1", 45, 1);
    test.floats[1] = makeIntegers("i1", 5, 0);
  }
  expectMatchesReference(list.cases);
}

/// Sums, differences and products of i32 keep their lower bits; remainders of the ends and by 0 and
/// −1 are defined.
TEST(CpuIntegers, Wrap) {
  std::vector<double> ends = {leastI32, leastI32, mostI32, mostI32, 0, -7, 7, leastI32, 65536, 5};
  std::vector<double> others = {-1, leastI32, mostI32, leastI32, 0, 3, -3, 0, 65537, -5};
  CaseList list;
  for (const std::string type : {"i32", "i64"})
    for (const char* op : {"add", "sub", "mul", "mod"}) {
      std::string tensor = tensorType({10}, type);
      if (type == "i64" && std::strcmp(op, "mul") == 0)
        continue; // products of more than 53 bits
      CpuCase& test =
          list.add(op, {tensor, tensor}, tensor, absl::StrFormat("tenon.%s %%a, %%b", op));
      test.floats[0] = ends, test.floats[1] = others;
    }
  expectMatchesReference(list.cases);
}

TEST(CpuIntegers, Comparisons) {
  CaseList list;
  for (const std::string type : {"f32", "f16", "i1", "i32", "i64"})
    for (const std::string result : {"i1", "f32", "bf16"})
      for (const char* predicate : {"eq", "ne", "lt", "le", "gt", "ge"}) {
        CpuCase& test = list.add("compare", {tensorType({3, 21}, type), tensorType({21}, type)},
                                 tensorType({3, 21}, result),
                                 absl::StrFormat("tenon.compare %s %%a, %%b", predicate));
        test.floats[0] = makeIntegers(type, 63, 1), test.floats[1] = makeIntegers(type, 21, 2);
        if (type == "f32")
          test.floats[1][4] = std::nan("");
      }
  expectMatchesReference(list.cases);
}

TEST(CpuIntegers, Selects) {
  CaseList list;
  for (const char* condition : {"i1", "f16"})
    for (const char* type : {"f32", "bf16", "i1", "i32", "i64"})
      list.add("select",
               {tensorType({3, 1}, condition), tensorType({3, 21}, type), tensorType({1}, type)},
               tensorType({3, 21}, type), "tenon.select %a, %b, %c");
  expectMatchesReference(list.cases);
}

TEST(CpuIntegers, Casts) {
  std::vector<double> floats = {0,     -0.0,         0.5,   -0.5,  1.999, -1.999,        3e9,
                                -3e9,  2147483648.0, 65504, 1e-30, 257,   -2147483648.0, 1e15,
                                -1e15, mostI32,      7.0};
  CaseList list;
  for (const std::string from : {"f32", "f16", "bf16", "i1", "i32", "i64"})
    for (const std::string to : {"f32", "f16", "bf16", "i1", "i32", "i64"}) {
      bool ofFloats = from.find('f') != std::string::npos;
      CpuCase& test =
          list.add("cast", {tensorType({17}, from)}, tensorType({17}, to), "tenon.cast %a");
      test.floats[0] = ofFloats ? floats : makeIntegers(from, 17, 1);
      if (from == "i64")
        test.floats[0] = {mostExact,  -mostExact, leastI32, mostI32, mostI32 + 1, leastI32 - 1,
                          0x1p40 + 3, 1,          0,        -1,      16777217,    33554434,
                          5,          -5,         6,        0x1p32,  0x1p31};
      if (from == "f16" && to == "i64") // infinite: more than 53 bits
        for (double& value : test.floats[0])
          value = std::clamp(value, -65504.0, 65504.0);
    }
  expectMatchesReference(list.cases);
}

/// Outside the range the nearest end of it, and 0 for NaN, as i32 in the reference, too; of i64 the
/// ends have too many bits for it.
TEST(CpuIntegers, CastsSaturate) {
  double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> floats = {std::nan(""), infinity, -infinity, 1e30, -1e30, 0x1p63, -0x1p63};
  CaseList list;
  list.add("i32", {"tensor<7xf32>"}, "tensor<7xi32>", "tenon.cast %a").floats[0] = floats;
  list.add("i1", {"tensor<7xf32>"}, "tensor<7xi1>", "tenon.cast %a").floats[0] = floats;
  expectMatchesReference(list.cases);

  CpuCase test = {"f", R"(func.func @f(%a: tensor<7xf32>) -> tensor<7xi64> {
    %r = tenon.cast %a : (tensor<7xf32>) -> tensor<7xi64>
    return %r : tensor<7xi64>
  })"};
  test.floats[0] = floats;
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  expectIntegers(test, {0, most, least, most, least, most, least});
}

/// Constants, sums and products of 64 bits, beyond what the reference holds.
TEST(CpuIntegers, AllBits) {
  CpuCase test = {"f", R"(func.func @f(%a: tensor<4xi64>) -> tensor<4xi64> {
    %c = tenon.constant dense<[4611686018427387905, -9223372036854775808, 9007199254740993, 3]>
        : tensor<4xi64> : tensor<4xi64>
    %s = tenon.constant dense<9223372036854775807> : tensor<4xi64> : tensor<4xi64>
    %0 = tenon.add %a, %c : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
    %r = tenon.mul %0, %s : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
    return %r : tensor<4xi64>
  })"};
  test.floats[0] = {2, -1, 0, 5};
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> expected;
  for (uint64_t sum :
       {uint64_t{4611686018427387907}, most, uint64_t{9007199254740993}, uint64_t{8}})
    expected.push_back(static_cast<int64_t>(sum * most));
  expectIntegers(test, expected);
}

TEST(CpuIntegers, Moves) {
  CaseList list;
  for (const char* type : {"i1", "i64"}) {
    list.add("reshape", {tensorType({3, 14}, type)}, tensorType({2, 21}, type),
             "tenon.reshape %a to [2, 21]");
    list.add("transpose", {tensorType({3, 5, 7}, type)}, tensorType({7, 3, 5}, type),
             "tenon.transpose %a by [2, 0, 1]");
    list.add("slice", {tensorType({5, 19}, type)}, tensorType({2, 6}, type),
             "tenon.slice %a [1, 2] [2, 6] [2, 3]");
    list.add("concat", {tensorType({3, 5}, type), tensorType({3, 4}, type)},
             tensorType({3, 9}, type), "tenon.concat %a, %b along 1");
    list.add("patches", {tensorType({1, 2, 9}, type)}, tensorType({1, 9, 6}, type),
             "tenon.patches %a window [3] strides [1] low [1] high [1]");
    list.add("gather", {tensorType({5, 37}, type), tensorType({5, 6}, "i32")},
             tensorType({5, 6}, type), "tenon.gather %a, %b along 1");
  }
  expectMatchesReference(list.cases);
}

/// Indices far outside the axis, beyond 32 bits, name nothing.
TEST(CpuIntegers, IndicesOf64Bits) {
  std::vector<double> indices = {0,         4, -1, 0x1p32, 0x1p40 + 2, 3,      3, -mostExact,
                                 mostExact, 2, 36, 7,      5,          0x1p31, 1};
  CaseList list;
  std::string wide = tensorType({5, 3}, "i64");
  list.add("gather", {tensorType({5, 37}, "f32"), wide}, tensorType({5, 3}, "f32"),
           "tenon.gather %a, %b along 1");
  for (const char* type : {"f32", "f16", "i32", "i64"})
    for (const char* how : {"", " accumulate"})
      list.add("scatter", {tensorType({5, 37}, type), wide, tensorType({5, 3}, type)},
               tensorType({5, 37}, type),
               absl::StrFormat("tenon.scatter %%a, %%b, %%c along 1%s", how));
  list.add("embedding", {tensorType({8, 33}, "f16"), wide}, tensorType({5, 3, 33}, "f32"),
           "tenon.embedding %a, %b");
  for (CpuCase& test : list.cases)
    test.floats[1] = indices;
  expectMatchesReference(list.cases);
}

TEST(CpuIntegers, SumsAndSearches) {
  CaseList list;
  for (const char* type : {"i32", "i64"})
    list.add("cumulative_sum", {tensorType({3, 41}, type)}, tensorType({3, 41}, type),
             "tenon.cumulative_sum %a");
  list.add("argmax", {tensorType({5, 37}, "f32")}, tensorType({5}, "i64"), "tenon.argmax %a")
      .floats[0] = makeIntegers("f32", 185, 1);
  list.cases.back().floats[0][40] = std::nan("");
  list.cases.push_back({"top_k", R"(func.func @top_k(%a: tensor<5x37xf32>)
      -> (tensor<5x4xf32>, tensor<5x4xi64>) {
    %0:2 = tenon.top_k %a k 4 : (tensor<5x37xf32>) -> (tensor<5x4xf32>, tensor<5x4xi64>)
    return %0#0, %0#1 : tensor<5x4xf32>, tensor<5x4xi64>
  })"});
  expectMatchesReference(list.cases);
}

/// The mask of a padded batch, as graphs from PyTorch make it: a chain that one kernel computes.
TEST(CpuIntegers, Chains) {
  CaseList list;
  list.cases.push_back({"mask", R"(func.func @mask(%ids: tensor<4x19xi64>, %x: tensor<4x19xf16>)
      -> (tensor<4x19xf16>, tensor<4x19xi1>, tensor<4x19xi64>) {
    %pad = tenon.constant dense<2> : tensor<1xi64> : tensor<1xi64>
    %low = tenon.constant dense<-1.0e4> : tensor<1xf32> : tensor<1xf32>
    %yes = tenon.constant dense<true> : tensor<1xi1> : tensor<1xi1>
    %0 = tenon.compare ne %ids, %pad : (tensor<4x19xi64>, tensor<1xi64>) -> tensor<4x19xi1>
    %1 = tenon.min %0, %yes : (tensor<4x19xi1>, tensor<1xi1>) -> tensor<4x19xi1>
    %2 = tenon.select %1, %x, %low
        : (tensor<4x19xi1>, tensor<4x19xf16>, tensor<1xf32>) -> tensor<4x19xf16>
    %3 = tenon.cast %1 : (tensor<4x19xi1>) -> tensor<4x19xi64>
    %4 = tenon.mul %3, %ids : (tensor<4x19xi64>, tensor<4x19xi64>) -> tensor<4x19xi64>
    return %2, %1, %4 : tensor<4x19xf16>, tensor<4x19xi1>, tensor<4x19xi64>
  })"});
  expectMatchesReference(list.cases);
}

} // namespace tenon::tests
