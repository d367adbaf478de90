// Caches of few bits, caches of streams without end, and paged caches.

#include <limits>
#include <tuple>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "codegen/cpu/CompileForCpu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/codegen/cpu/CpuTest.h"

namespace tenon::tests {

/// A call that writes `rows` rows into caches of `state` and reads them through attention; with a bias
/// of `biasKeys` keys, slopes and sinks where there are any, and a block table of that type where
/// `state` is paged.
static CpuCase cachedCase(int64_t rows, int64_t size, const std::string& element,
                          const std::string& state, int64_t biasKeys = 0,
                          const std::string& table = "") {
  std::string values = tensorType({rows, 2, size}, element), indices = tensorType({rows}, "i32");
  std::string query = tensorType({rows, 4, size}, "f32");
  std::string arguments, operands, types;
  if (biasKeys > 0) {
    std::string bias = tensorType({4, 1, biasKeys}, "f32"), heads = tensorType({4}, "f32");
    arguments = absl::StrFormat(", %%b: %1$s, %%h: %2$s, %%n: %2$s", bias, heads);
    operands = "bias %b slopes %h sinks %n";
    types = absl::StrFormat(", %1$s, %2$s, %2$s", bias, heads);
  }
  std::string use;
  if (!table.empty()) {
    arguments += ", %t: " + table, types += ", " + table;
    use = "block_table %t";
  }
  std::string typeOfTable = table.empty() ? "" : ", " + table;
  CpuCase test;
  test.name = "cached";
  test.function = absl::StrFormat(
      R"(func.func @cached(%%k: %1$s, %%v: %1$s, %%q: %2$s, %%s: %3$s, %%p: %3$s%5$s) -> %2$s {
      %%k0 = tenon.get_state @k : %4$s
      %%v0 = tenon.get_state @v : %4$s
      %%k1 = tenon.kv_write %%k, %%s, %%p into %%k0 %8$s : (%1$s, %3$s, %3$s, %4$s%9$s) -> %4$s
      %%v1 = tenon.kv_write %%v, %%s, %%p into %%v0 %8$s : (%1$s, %3$s, %3$s, %4$s%9$s) -> %4$s
      %%r = tenon.attention %%q, %%k1, %%v1, %%s, %%p %6$s %8$s scale 0.2
          : (%2$s, %4$s, %4$s, %3$s, %3$s%7$s) -> %2$s
      return %%r : %2$s
    })",
      values, query, indices, state, arguments, operands, types, use, typeOfTable);
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
                                     {4, 12, "!tenon.block<int4_h16>"},
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

TEST(CpuGuesses, AcceptedUpToTheFirstThatIsWrong) {
  struct Guesses {
    std::vector<int32_t> chosen, ids, positions;
  };
  const int32_t last = std::numeric_limits<int32_t>::max();
  std::vector<CpuCase> cases;
  for (const Guesses& c : std::vector<Guesses>{{{7}, {3}, {40}},
                                               {{5, 9}, {2, 5}, {11, 12}},
                                               {{5, 9}, {2, 6}, {11, 12}},
                                               {{5, 9, 4, 8}, {2, 5, 9, 3}, {0, 1, 2, 3}},
                                               {{5, 9, 4, 8}, {2, 6, 9, 4}, {0, 1, 2, 3}},
                                               {{5, 9}, {2, 5}, {-1, 0}},
                                               {{5, 9, 1}, {2, 5, 9}, {3, 5, 6}},
                                               {{5, -1}, {2, 5}, {8, 9}},
                                               {{5, 9}, {2, 5}, {last - 1, last}},
                                               {{5, 9}, {2, 5}, {last, -last - 1}}})
    for (bool hasDrafts : {false, true}) {
      CpuCase test{.name = absl::StrFormat("guesses_%u", cases.size()), .function = ""};
      std::string rows = tensorType({static_cast<int64_t>(c.ids.size())}, "i32");
      std::string next = tensorType({hasDrafts ? 2 : 1}, "i32");
      test.function = absl::StrFormat(
          R"(func.func @%1$s(%%c: %2$s, %%i: %2$s, %%p: %2$s, %%d: %2$s) -> (%2$s, %3$s, %3$s) {
          %%r:3 = tenon.accept %%c, %%i, %%p %4$s : (%2$s, %2$s, %2$s%5$s) -> (%2$s, %3$s, %3$s)
          return %%r#0, %%r#1, %%r#2 : %2$s, %3$s, %3$s
        })",
          test.name, rows, next, hasDrafts ? "drafts %d" : "", hasDrafts ? ", " + rows : "");
      test.integers = {{0, c.chosen}, {1, c.ids}, {2, c.positions}, {3, c.positions}};
      cases.push_back(std::move(test));
    }
  expectMatchesReference(cases);
}

/// Rows of two sequences in turn, from positions 0 and 30 on; an inactive one, and rows outside of the
/// cache or for one place.
static void fillRows(CpuCase& test, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) {
    test.integers[3].push_back(static_cast<int32_t>(row % 2));
    test.integers[4].push_back(static_cast<int32_t>(row / 2 + row % 2 * 30));
  }
  test.integers[4][4] = -1, test.integers[3][5] = 2, test.integers[3][6] = -1;
  test.integers[4][8] = 1000, test.integers[4][11] = test.integers[4][9];
}

TEST(CpuPages, WrittenAndRead) {
  for (auto [page, size, element] : {std::tuple{16, 24, "f32"},
                                     {32, 8, "f16"},
                                     {64, 64, "bf16"},
                                     {128, 16, "f32"},
                                     {16, 24, "!tenon.block<int8_h24>"},
                                     {64, 16, "!tenon.block<e4m3_h16>"},
                                     {32, 24, "!tenon.block<int4_h24>"}}) {
    SCOPED_TRACE(absl::StrFormat("%d %d %s", page, size, element));
    std::string state =
        absl::StrFormat("!tenon.state<9x2x%dx%dx%s, paged<%d>>", page, size, element, page);
    std::string values = std::string(element).starts_with("!") ? "f32" : element;
    CpuCase test = cachedCase(100, size, values, state, 0, "tensor<2x4xi32>");
    fillRows(test, 100);
    test.integers[5] = {8, 2, 5, 0, 1, 7, 3, 6};
    expectMatchesReference({test}, statesOf(state));
    // A position without a page, and pages outside the pool.
    test.integers[5] = {8, -1, 5, 0, 2147483647, 9, 3, 6};
    expectMatchesReference({test}, statesOf(state));
  }
}

TEST(CpuPages, HaveOperandsOfScores) {
  std::string state = "!tenon.state<9x2x16x24xf32, paged<16>>";
  CpuCase test = cachedCase(40, 24, "f32", state, /*biasKeys=*/64, "tensor<2x4xi32>");
  fillRows(test, 40);
  test.integers[8] = {8, 2, 5, 0, 1, 7, 3, 6};
  expectMatchesReference({test}, statesOf(state));
}

// Pages change where heads lie, and nothing of what is computed.
TEST(CpuPages, EqualDenseCachesInEveryBit) {
  for (auto [page, element] :
       {std::pair{16, "f32"}, {32, "bf16"}, {64, "!tenon.block<int8_h24>"}, {128, "f16"}}) {
    SCOPED_TRACE(absl::StrFormat("%d %s", page, element));
    std::string values = std::string(element).starts_with("!") ? "f32" : element;
    int64_t blocks = 256 / page;
    std::string dense = absl::StrFormat("!tenon.state<2x256x2x24x%s>", element);
    std::string paged = absl::StrFormat("!tenon.state<%dx2x%dx24x%s, paged<%d>>", 2 * blocks + 1,
                                        page, element, page);
    CpuCase cases[] = {cachedCase(400, 24, values, dense),
                       cachedCase(400, 24, values, paged, 0, tensorType({2, blocks}, "i32"))};
    std::vector<std::vector<std::vector<std::byte>>> results;
    for (CpuCase& test : cases) {
      fillRows(test, 400);
      // The pages from the last one on, in turn for the two sequences.
      for (int64_t s = 0; s < 2; ++s)
        for (int64_t block = 0; block < blocks; ++block)
          test.integers[5].push_back(static_cast<int32_t>(2 * (blocks - block) - s));
      std::unique_ptr<mlir::MLIRContext> context = makeContext();
      auto module = planModule(*context, statesOf(&test == cases ? dense : paged) + test.function,
                               hostTargets().back());
      ASSERT_TRUE(module.ok()) << module.status();
      auto function = *(*module)->getOps<mlir::func::FuncOp>().begin();
      std::vector<ReferenceTensor> inputs = makeInputs(test, function.getFunctionType());
      auto program = codegen::compileForCpu(**module, {});
      ASSERT_TRUE(program.ok()) << program.status();
      auto outputs = runFunction(*program, 0, inputs, /*threads=*/2);
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      results.push_back(*outputs);
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

} // namespace tenon::tests
