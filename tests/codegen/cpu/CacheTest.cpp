// Caches of few bits, and caches of streams without end.

#include <tuple>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

/// A call that writes `rows` rows into caches of `state` and reads them through attention; with a bias
/// of `biasKeys` keys, slopes and sinks where there are any.
static CpuCase cachedCase(int64_t rows, int64_t size, const std::string& element,
                          const std::string& state, int64_t biasKeys = 0) {
  std::string values = tensorType({rows, 2, size}, element), indices = tensorType({rows}, "i32");
  std::string query = tensorType({rows, 4, size}, "f32");
  std::string arguments, operands, types;
  if (biasKeys > 0) {
    std::string bias = tensorType({4, 1, biasKeys}, "f32"), heads = tensorType({4}, "f32");
    arguments = absl::StrFormat(", %%b: %1$s, %%h: %2$s, %%n: %2$s", bias, heads);
    operands = "bias %b slopes %h sinks %n";
    types = absl::StrFormat(", %1$s, %2$s, %2$s", bias, heads);
  }
  CpuCase test;
  test.name = "cached";
  test.function = absl::StrFormat(
      R"(func.func @cached(%%k: %1$s, %%v: %1$s, %%q: %2$s, %%s: %3$s, %%p: %3$s%5$s) -> %2$s {
      %%k0 = tenon.get_state @k : %4$s
      %%v0 = tenon.get_state @v : %4$s
      %%k1 = tenon.kv_write %%k, %%s, %%p into %%k0 : (%1$s, %3$s, %3$s, %4$s) -> %4$s
      %%v1 = tenon.kv_write %%v, %%s, %%p into %%v0 : (%1$s, %3$s, %3$s, %4$s) -> %4$s
      %%r = tenon.attention %%q, %%k1, %%v1, %%s, %%p %6$s scale 0.2
          : (%2$s, %4$s, %4$s, %3$s, %3$s%7$s) -> %2$s
      return %%r : %2$s
    })",
      values, query, indices, state, arguments, operands, types);
  return test;
}

static std::string statesOf(const std::string& state) {
  return absl::StrFormat("tenon.state @k : %1$s\ntenon.state @v : %1$s\n", state);
}

TEST(CpuSmallCache, WritesQuantsAndReadsThem) {
  for (const char* quants : {"int8", "e4m3"})
    for (auto [size, element] : {std::pair{8, "f32"}, {24, "f16"}, {64, "bf16"}, {128, "f32"}}) {
      SCOPED_TRACE(absl::StrFormat("%s %d %s", quants, size, element));
      std::string state =
          absl::StrFormat("!tenon.state<2x40x2x%dx!tenon.block<%s_h%d>>", size, quants, size);
      CpuCase test = cachedCase(6, size, element, state);
      // Two rows for one place, an inactive row, and rows outside the state.
      test.integers[3] = {0, 1, 0, 0, 2, 1};
      test.integers[4] = {0, 3, 0, 1, 1, 40};
      expectMatchesReference({test}, statesOf(state));
    }
}

TEST(CpuSmallCache, HasOperandsOfScores) {
  for (const char* quants : {"int8", "e4m3"}) {
    SCOPED_TRACE(quants);
    std::string state = absl::StrFormat("!tenon.state<2x40x2x24x!tenon.block<%s_h24>>", quants);
    CpuCase test = cachedCase(6, 24, "f32", state, /*biasKeys=*/40);
    test.integers[3] = {0, 1, 0, 0, 1, 1};
    test.integers[4] = {0, 3, -1, 1, 1, 39};
    expectMatchesReference({test}, statesOf(state));
  }
}

// Zeros, the smallest and the largest numbers, and what is no number.
TEST(CpuSmallCache, RoundsAnyNumbers) {
  for (const char* quants : {"int8", "e4m3"})
    for (float scale : {0.0f, 1e-38f, 1e-30f, 1e30f}) {
      SCOPED_TRACE(absl::StrFormat("%s %g", quants, scale));
      std::string state = absl::StrFormat("!tenon.state<1x4x2x8x!tenon.block<%s_h8>>", quants);
      CpuCase test = cachedCase(2, 8, "f32", state);
      test.integers[3] = {0, 0}, test.integers[4] = {0, 1};
      for (unsigned argument : {0, 1})
        for (int i = 0; i < 32; ++i)
          test.floats[argument].push_back(static_cast<float>((i * 7 % 31 - 15)) * scale);
      test.floats[2] = std::vector<double>(64, 0.0);
      expectMatchesReference({test}, statesOf(state));
    }
}

/// Chunks of a stream, each written and attended from, in one call; with logits that join the softmax
/// where `hasSinks`.
static CpuCase streamCase(const std::string& state, int64_t chunks, int64_t rows, int64_t window,
                          bool hasSinks = false) {
  std::string indices = tensorType({rows}, "i32"), one = "tensor<1xi32>";
  std::string values = tensorType({rows, 2, 16}, "f32");
  std::string queries = tensorType({3 * rows, 4, 16}, "f32");
  std::string result = tensorType({rows, 4, 16}, "f32");
  CpuCase test;
  test.name = "stream";
  std::string arguments = "%s: " + one, body, results, types;
  test.integers[0] = {0};
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    int64_t before = chunk - 1;
    arguments += absl::StrFormat(", %%k%1$d: %2$s, %%v%1$d: %2$s, %%q%1$d: %3$s, %%p%1$d: %4$s",
                                 chunk, values, queries, indices);
    std::string keysBefore = chunk == 0 ? "%k" : absl::StrFormat("%%ks%d", before);
    std::string valuesBefore = chunk == 0 ? "%v" : absl::StrFormat("%%vs%d", before);
    body += absl::StrFormat(
        R"(
      %%ks%1$d = tenon.kv_write %%k%1$d, %%s, %%p%1$d into %2$s : (%4$s, %8$s, %6$s, %7$s) -> %7$s
      %%vs%1$d = tenon.kv_write %%v%1$d, %%s, %%p%1$d into %3$s : (%4$s, %8$s, %6$s, %7$s) -> %7$s
      %%r%1$d = tenon.attention %%q%1$d, %%ks%1$d, %%vs%1$d, %%s, %%p%1$d%11$s scale 0.2
          {window = %9$d : i64} : (%5$s, %7$s, %7$s, %8$s, %6$s%12$s) -> %10$s)",
        chunk, keysBefore, valuesBefore, values, queries, indices, state, one, window, result,
        hasSinks ? " sinks %n" : "", hasSinks ? ", tensor<4xf32>" : "");
    results += absl::StrFormat("%s%%r%d", chunk == 0 ? "" : ", ", chunk);
    types += (chunk == 0 ? "" : ", ") + result;
    for (int64_t row = 0; row < rows; ++row)
      test.integers[4 * chunk + 4].push_back(static_cast<int32_t>(chunk * rows + row));
  }
  if (hasSinks)
    arguments += ", %n: tensor<4xf32>";
  test.function = absl::StrFormat(R"(func.func @stream(%s) -> (%s) {
      %%k = tenon.get_state @k : %s
      %%v = tenon.get_state @v : %s%s
      return %s : %s
    })",
                                  arguments, types, state, state, body, results, types);
  return test;
}

// Chunks of three rows of a window of 10 go around rings of 12 places and more.
TEST(CpuStream, RingsKeepTheFirstAndTheLast) {
  for (auto [kept, ring, element] : {std::tuple{0, 12, "f32"},
                                     {1, 15, "!tenon.block<e4m3_h16>"},
                                     {4, 12, "!tenon.block<int8_h16>"},
                                     {4, 70, "f32"}}) {
    SCOPED_TRACE(absl::StrFormat("%d %d %s", kept, ring, element));
    std::string state =
        absl::StrFormat("!tenon.state<1x%dx2x16x%s, ring<%d>>", kept + ring, element, kept);
    expectMatchesReference({streamCase(state, 12, 3, 10)}, statesOf(state));
  }
}

// The logits that a model has learned join the denominator once, whatever ranges the keys are.
TEST(CpuStream, RingsHaveSinks) {
  std::string state = "!tenon.state<1x16x2x16xf32, ring<4>>";
  expectMatchesReference({streamCase(state, 12, 3, 10, /*hasSinks=*/true)}, statesOf(state));
}

// A window that is longer than a block of keys, far on in a stream.
TEST(CpuStream, LongWindowsAfterManyTokens) {
  std::string state = "!tenon.state<1x155x2x16xf32, ring<4>>";
  CpuCase test = streamCase(state, 24, 8, 144);
  expectMatchesReference({test}, statesOf(state));
  for (auto& [argument, positions] : test.integers)
    if (argument > 0)
      for (int32_t& position : positions)
        position += 2'000'000'000;
  expectMatchesReference({test}, statesOf(state));
}

TEST(CpuStream, PlacesOfKeysAndQueries) {
  CaseList list;
  for (int64_t views : {1, 3}) {
    CpuCase& test =
        list.add("places", {tensorType({7}, "i32")}, tensorType({7 * views}, "i32"),
                 absl::StrFormat("tenon.ring_places %%a kept 2 ring 6 window 4 views %d", views));
    test.integers[0] = {-1, 0, 1, 2, 7, 8, 2147483647};
  }
  expectMatchesReference(list.cases);
}

} // namespace tenon::tests
