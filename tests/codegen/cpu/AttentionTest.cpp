#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

TEST(CpuRope, PairingsAndWidths) {
  CaseList list;
  for (const char* pairing : {"adjacent", "halves"})
    for (auto [width, pairs] : {std::pair{64, 32}, {16, 2}, {37, 11}, {8, 4}, {100, 50}})
      for (const char* element : {"f32", "f16", "bf16"}) {
        std::string type = tensorType({5, 3, width}, element);
        CpuCase& test =
            list.add("rope", {type, tensorType({5}, "i32"), tensorType({pairs}, "f32")}, type,
                     absl::StrFormat("tenon.rope %s %%a, %%b, %%c {magnitude = 1.1}", pairing));
        test.integers[1] = {0, 1, 17, 1000, -1};
      }
  expectMatchesReference(list.cases);
}

// Large angles: the reduction must be exact, or sine and cosine are noise.
TEST(CpuRope, LargeAngles) {
  CaseList list;
  std::string type = tensorType({8, 1, 4}, "f32");
  CpuCase& test = list.add("rope", {type, tensorType({8}, "i32"), tensorType({2}, "f32")}, type,
                           "tenon.rope halves %a, %b, %c");
  test.integers[1] = {100000,   131071,   1 << 20,    16777216,
                      16777217, 99999999, 355 * 1000, std::numeric_limits<int32_t>::max()};
  test.floats[2] = {1.0, 0.7310585786};
  expectMatchesReference(list.cases);
}

TEST(CpuRope, SinesOfLargeNumbers) {
  CaseList list;
  std::string type = tensorType({9}, "f32");
  for (const char* op : {"sin", "cos"})
    list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a", op)).floats[0] = {
        1e5, -1e5, 3.14159274, 1.57079637, 1e9, 1e12, 123456.789, 5.421e10, 1e-30};
  expectMatchesReference(list.cases);
}

// Every finite number has a sine: the largest, the one nearest to a multiple of π/2 (16367173 · 2^72,
// Muller, "Elementary Functions", table 11.1), and some of each exponent beyond 2^40.
TEST(CpuRope, SinesOfEveryMagnitude) {
  std::vector<double> numbers = {3.4028234663852886e38, -3.4028234663852886e38, 16367173 * 0x1p72,
                                 -16367173 * 0x1p72};
  for (int exponent = 40; exponent < 128; ++exponent)
    for (double mantissa : {1.0, -1.2345678806304932, 1.9999998807907104})
      numbers.push_back(std::ldexp(mantissa, exponent));
  CaseList list;
  std::string type = tensorType({static_cast<int64_t>(numbers.size())}, "f32");
  for (const char* op : {"sin", "cos"})
    list.add(op, {type}, type, absl::StrFormat("tenon.%s %%a", op)).floats[0] = numbers;
  // Alone, for a tolerance of its own size: -1.6e-9.
  list.add("cos", {"tensor<1xf32>"}, "tensor<1xf32>", "tenon.cos %a").floats[0] = {16367173 *
                                                                                   0x1p72};
  expectMatchesReference(list.cases);
}

/// An attention on tensors, with the integers of its rows.
struct AttentionShape {
  int64_t rows = 3, queryHeads = 4, keyHeads = 2, sequences = 2, capacity = 150;
  int64_t width = 16, valueWidth = 16;
  std::string element = "f32";
  std::string attributes = "";
};

static void addAttention(CaseList& list, const AttentionShape& s,
                         const std::vector<int32_t>& sequences,
                         const std::vector<int32_t>& positions) {
  CpuCase& test = list.add(
      "attention",
      {tensorType({s.rows, s.queryHeads, s.width}, s.element),
       tensorType({s.sequences, s.capacity, s.keyHeads, s.width}, s.element),
       tensorType({s.sequences, s.capacity, s.keyHeads, s.valueWidth}, s.element),
       tensorType({static_cast<int64_t>(sequences.size())}, "i32"), tensorType({s.rows}, "i32")},
      tensorType({s.rows, s.queryHeads, s.valueWidth}, s.element),
      "tenon.attention %a, %b, %c, %d, %e scale 0.25 " + s.attributes);
  test.integers[3] = sequences;
  test.integers[4] = positions;
}

TEST(CpuAttention, HeadsAndWidths) {
  CaseList list;
  for (auto [queryHeads, keyHeads] : {std::pair{1, 1}, {4, 2}, {6, 1}, {71, 1}, {8, 8}, {20, 2}})
    for (auto [width, valueWidth] : {std::pair{64, 64}, {7, 33}, {128, 96}}) {
      AttentionShape shape;
      shape.queryHeads = queryHeads, shape.keyHeads = keyHeads;
      shape.width = width, shape.valueWidth = valueWidth;
      addAttention(list, shape, {1}, {0, 63, 140});
    }
  expectMatchesReference(list.cases);
}

/// Rows of two sequences one after the other, and a sequence that there is not.
TEST(CpuAttention, RowsOfSequences) {
  CaseList list;
  AttentionShape shape;
  shape.rows = 6;
  addAttention(list, shape, {1, 0}, {5, 6, 7, 140, 0, -1});
  addAttention(list, shape, {1, 2, 0}, {5, 6, 7, 140, 0, 3});
  expectMatchesReference(list.cases);
}

TEST(CpuAttention, ElementTypes) {
  CaseList list;
  for (const char* element : {"f32", "f16", "bf16"}) {
    AttentionShape shape;
    shape.element = element;
    addAttention(list, shape, {0, 1, 1}, {64, 65, 127});
  }
  expectMatchesReference(list.cases);
}

TEST(CpuAttention, WindowsSoftcapsAndMasks) {
  CaseList list;
  for (const char* attributes :
       {"{window = 1 : i64}", "{window = 70 : i64}", "{window = 1000 : i64}", "{softcap = 2.0}",
        "{causal = false}", "{causal = false, window = 20 : i64}",
        "{softcap = 1.0, window = 33 : i64}"}) {
    AttentionShape shape;
    shape.attributes = attributes;
    addAttention(list, shape, {0, 1, 0}, {5, 149, 64});
  }
  expectMatchesReference(list.cases);
}

/// An attention with what of bias, slopes and sinks has a type, in that order.
static CpuCase& addScored(CaseList& list, const AttentionShape& s, const std::string& bias,
                          const std::string& slopes, const std::string& sinks,
                          const std::vector<int32_t>& positions,
                          const std::vector<int32_t>& sequences = {1}) {
  std::vector<std::string> types = {
      tensorType({s.rows, s.queryHeads, s.width}, s.element),
      tensorType({s.sequences, s.capacity, s.keyHeads, s.width}, s.element),
      tensorType({s.sequences, s.capacity, s.keyHeads, s.valueWidth}, s.element),
      tensorType({static_cast<int64_t>(sequences.size())}, "i32"), tensorType({s.rows}, "i32")};
  std::string operands;
  for (auto [name, type] : {std::pair{"bias", bias}, {"slopes", slopes}, {"sinks", sinks}})
    if (!type.empty()) {
      operands += absl::StrFormat(" %s %%%c", name, 'a' + types.size());
      types.push_back(type);
    }
  CpuCase& test =
      list.add("scored", types, tensorType({s.rows, s.queryHeads, s.valueWidth}, s.element),
               "tenon.attention %a, %b, %c, %d, %e" + operands + " scale 0.25 " + s.attributes);
  test.integers[3] = sequences, test.integers[4] = positions;
  return test;
}

TEST(CpuAttention, BiasSlopesAndSinks) {
  CaseList list;
  for (int64_t biasHeads : {1, 4})
    for (int64_t biasRows : {1, 3})
      for (const char* element : {"f32", "bf16"})
        addScored(list, {}, tensorType({biasHeads, biasRows, 150}, element), "", "", {0, 63, 140});
  std::string ofHeads = tensorType({4}, "f32"), half = tensorType({4}, "f16");
  addScored(list, {}, "", ofHeads, "", {0, 63, 140});
  addScored(list, {}, "", half, "", {0, 64, 149});
  addScored(list, {}, "", "", ofHeads, {0, 63, 140});
  addScored(list, {}, "", half, half, {-1, 63, 140});
  for (const char* attributes : {"{causal = false}", "{window = 70 : i64}", "{softcap = 2.0}",
                                 "{causal = false, window = 20 : i64}"}) {
    AttentionShape shape;
    shape.attributes = attributes, shape.element = "f16";
    addScored(list, shape, tensorType({4, 3, 150}, "f16"), ofHeads, half, {5, 149, 64});
  }
  expectMatchesReference(list.cases);
}

TEST(CpuAttention, BiasOfSequences) {
  CaseList list;
  AttentionShape shape;
  shape.rows = 6, shape.attributes = "{causal = false}";
  for (int64_t sequences : {1, 2})
    for (int64_t heads : {1, 4})
      for (int64_t rows : {1, 3})
        addScored(list, shape, tensorType({sequences, heads, rows, 150}, "f32"), "", "",
                  {0, 0, 0, 0, 0, 0}, {1, 0});
  addScored(list, shape, tensorType({4, 6, 150}, "f32"), "", "", {0, 0, 0, 0, 0, 0}, {1, 0});
  expectMatchesReference(list.cases);
}

/// Keys of another number than the rows, which all see all of them, most of them hidden in turn:
/// blocks of keys at the beginning and at the end, and all.
TEST(CpuAttention, CrossAttentionWithHiddenKeys) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (double hidden : {-infinity, -3.4028234663852886e38, -1e9}) {
    CaseList list;
    AttentionShape shape;
    shape.rows = 4, shape.attributes = "{causal = false}", shape.capacity = 200;
    CpuCase& test = addScored(list, shape, tensorType({1, 4, 200}, "f32"), "", "", {0, 0, 0, 0});
    std::vector<double> bias(4 * 200, hidden);
    for (int key = 0; key < 3; ++key)
      bias[key] = 0;
    for (int key = 150; key < 190; ++key)
      bias[200 + key] = 0.5;
    bias[2 * 200 + 199] = 0;
    if (hidden == -1e9) // beside which f32 has no digits for scores
      bias[3 * 200 + 7] = 0;
    test.floats[5] = bias;
    addScored(list, shape, tensorType({1, 4, 200}, "f32"), "", tensorType({4}, "f32"), {0, 0, 0, 0})
        .floats[5] = bias;
    expectMatchesReference(list.cases);
  }
}

/// An attention whose weights are a second result, of that type, with a bias and sinks where they
/// have types.
static void addWeighed(CaseList& list, const AttentionShape& s, const std::string& weights,
                       const std::string& bias, const std::string& sinks,
                       const std::vector<int32_t>& positions) {
  std::string operands, types;
  std::string arguments =
      absl::StrFormat("%%a: %s, %%b: %s, %%c: %s, %%d: tensor<1xi32>, %%e: %s",
                      tensorType({s.rows, s.queryHeads, s.width}, s.element),
                      tensorType({s.sequences, s.capacity, s.keyHeads, s.width}, s.element),
                      tensorType({s.sequences, s.capacity, s.keyHeads, s.valueWidth}, s.element),
                      tensorType({s.rows}, "i32"));
  for (auto [name, type] : {std::pair{"bias", bias}, {"sinks", sinks}})
    if (!type.empty()) {
      operands += absl::StrFormat(" %s %%%s", name, name);
      arguments += absl::StrFormat(", %%%s: %s", name, type);
    }
  for (absl::string_view argument : absl::StrSplit(arguments, absl::ByString(", %")))
    types += (types.empty() ? "" : ", ") + std::string(argument.substr(argument.find(": ") + 2));
  std::string results = tensorType({s.rows, s.queryHeads, s.valueWidth}, s.element) + ", " +
                        tensorType({s.queryHeads, s.rows, s.capacity}, weights);
  CpuCase test;
  test.name = absl::StrFormat("weighed_%u", list.cases.size());
  test.function = absl::StrFormat(
      "func.func @%s(%s) -> (%s) {\n  %%r:2 = tenon.attention %%a, %%b, "
      "%%c, %%d, %%e%s scale 0.25 %s : (%s) -> (%s)\n  return %%r#0, "
      "%%r#1 : %s\n}",
      test.name, arguments, results, operands, s.attributes, types, results, results);
  test.integers[3] = {1}, test.integers[4] = positions;
  list.cases.push_back(std::move(test));
}

/// Several blocks of keys, a tail of one, fewer keys than a vector; rows that see none.
TEST(CpuAttention, Weights) {
  CaseList list;
  for (int64_t capacity : {5, 64, 150})
    for (const char* attributes : {"", "{causal = false}", "{window = 20 : i64, softcap = 2.0}"})
      for (auto [element, weights] : {std::pair{"f32", "f32"}, {"f16", "f32"}, {"bf16", "bf16"}}) {
        AttentionShape shape;
        shape.capacity = capacity, shape.attributes = attributes, shape.element = element;
        addWeighed(list, shape, weights, "", "", {-1, 3, static_cast<int32_t>(capacity) - 1});
      }
  AttentionShape shape;
  shape.keyHeads = 4;
  addWeighed(list, shape, "f16", tensorType({4, 3, 150}, "f32"), "", {0, 63, 140});
  addWeighed(list, shape, "f32", tensorType({1, 1, 150}, "f16"), tensorType({4}, "f32"),
             {5, 149, 64});
  std::vector<double> hidden(450, -std::numeric_limits<double>::infinity());
  std::fill(hidden.begin(), hidden.begin() + 70, 0.5); // of the first row alone
  addWeighed(list, shape, "f32", tensorType({1, 3, 150}, "f32"), "", {149, 149, 149});
  list.cases.back().floats[5] = hidden;
  addWeighed(list, shape, "f32", tensorType({1, 3, 150}, "f32"), tensorType({4}, "f32"),
             {149, 149, 149});
  list.cases.back().floats[5] = hidden;
  expectMatchesReference(list.cases);
}

// Positions and sequences that no careful caller passes: zeros, or what lies inside the cache.
TEST(CpuAttention, HostileRows) {
  constexpr int32_t least = std::numeric_limits<int32_t>::min();
  constexpr int32_t largest = std::numeric_limits<int32_t>::max();
  for (const char* attributes : {"", "{causal = false}", "{window = 10 : i64}"}) {
    CaseList list;
    AttentionShape shape;
    shape.rows = 9, shape.attributes = attributes;
    addAttention(list, shape, {0, 1, 2, -1, 0, 1, least, largest, 0},
                 {-1, 150, 3, 3, largest, least, 3, 3, 155});
    expectMatchesReference(list.cases);
  }
}

// Huge scores must not overflow on the way.
TEST(CpuAttention, LargeScores) {
  CaseList list;
  addAttention(list, {}, {0}, {10, 100, 149});
  list.cases.back().low = -300, list.cases.back().high = 300;
  expectMatchesReference(list.cases);
}

// The cache: writes, then attention over what was written, all through one state.
TEST(CpuAttention, WritesAndReadsTheCache) {
  for (const char* element : {"f32", "f16"}) {
    SCOPED_TRACE(element);
    std::string state = absl::StrFormat("!tenon.state<2x40x2x24x%s>", element);
    std::string values = tensorType({6, 2, 24}, element), rows = tensorType({6}, "i32");
    std::string query = tensorType({6, 4, 24}, "f32");
    CpuCase test;
    test.name = "cached";
    test.function = absl::StrFormat(
        R"(func.func @cached(%%k: %1$s, %%v: %1$s, %%q: %2$s, %%s: %3$s, %%p: %3$s) -> %2$s {
      %%k0 = tenon.get_state @k : %4$s
      %%v0 = tenon.get_state @v : %4$s
      %%k1 = tenon.kv_write %%k, %%s, %%p into %%k0 : (%1$s, %3$s, %3$s, %4$s) -> %4$s
      %%v1 = tenon.kv_write %%v, %%s, %%p into %%v0 : (%1$s, %3$s, %3$s, %4$s) -> %4$s
      %%r = tenon.attention %%q, %%k1, %%v1, %%s, %%p scale 0.2
          : (%2$s, %4$s, %4$s, %3$s, %3$s) -> %2$s
      return %%r : %2$s
    })",
        values, query, rows, state);
    // Two rows for one place, an inactive row, and rows outside the state.
    test.integers[3] = {0, 1, 0, 0, 2, 1};
    test.integers[4] = {0, 3, 0, 1, 1, 40};
    expectMatchesReference(
        {test}, absl::StrFormat("tenon.state @k : %1$s\ntenon.state @v : %1$s\n", state));
  }
}

// Enough bytes for several tiles, which must agree on who writes last.
TEST(CpuKvWrite, ManyRowsForFewPlaces) {
  std::string state = "!tenon.state<1x8x4x64xf32>";
  std::string values = tensorType({100, 4, 64}, "f32"), query = tensorType({8, 4, 64}, "f32");
  CpuCase test;
  test.name = "crowded";
  test.function = absl::StrFormat(
      R"(func.func @crowded(%%k: %1$s, %%q: %2$s, %%s: tensor<1xi32>, %%p: tensor<100xi32>,
                            %%p1: tensor<8xi32>) -> %2$s {
      %%k0 = tenon.get_state @k : %3$s
      %%k1 = tenon.kv_write %%k, %%s, %%p into %%k0
          : (%1$s, tensor<1xi32>, tensor<100xi32>, %3$s) -> %3$s
      %%r = tenon.attention %%q, %%k1, %%k1, %%s, %%p1 scale 0.2
          : (%2$s, %3$s, %3$s, tensor<1xi32>, tensor<8xi32>) -> %2$s
      return %%r : %2$s
    })",
      values, query, state);
  test.integers[2] = {0};
  test.integers[4] = {0, 1, 2, 3, 4, 5, 6, 7};
  expectMatchesReference({test}, absl::StrFormat("tenon.state @k : %s\n", state));
}

} // namespace tenon::tests
