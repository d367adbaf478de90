// ggml's operator cases through graphs of Tenon's operations: by the interpreter and on the CPU,
// each within the tolerance of ggml's own test.

#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "ir/interpreter/Interpreter.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tests/conformance/GgmlGraph.h"
#include "tests/conformance/GgmlModule.h"
#ifdef TENON_CPU
#include "codegen/cpu/CompileForCpu.h"
#include "ir/Targets.h"
#include "passes/Pipeline.h"
#include "tests/codegen/cpu/CpuTest.h"
#endif

namespace tenon::conformance {
namespace {

void expectWithin(const GgmlRow& row, std::vector<double> actual) {
  double found = distance(row, std::move(actual));
  EXPECT_LE(found, row.maxNmse) << "row " << row.number << ": " << row.op << " " << row.vars;
}

class GgmlOps : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    auto built = GgmlModule::build(rowsOf(GetParam()));
    ASSERT_THAT(built, tests::IsOk());
    cases = *std::move(built);
  }

  std::unique_ptr<GgmlModule> cases;
};

TEST_P(GgmlOps, InterpreterAgrees) {
  auto interpreter = Interpreter::create(*cases->module);
  ASSERT_THAT(interpreter, tests::IsOk());
  for (auto [row, inputs] : llvm::zip_equal(cases->rows, cases->inputs)) {
    auto results = (*interpreter)->run(absl::StrFormat("row_%d", row->number), inputs);
    ASSERT_THAT(results, tests::IsOk()) << row->vars;
    expectWithin(*row, results->front().toVector());
  }
}

#ifdef TENON_CPU
TEST_P(GgmlOps, CpuAgrees) {
  passes::PipelineOptions options;
  options.target = findTarget(&cases->context, tests::hostTargets().back());
  ASSERT_THAT(passes::runPipeline(*cases->module, options), tests::IsOk());
  auto program = codegen::compileForCpu(*cases->module, {});
  ASSERT_THAT(program, tests::IsOk());
  for (size_t i = 0; i < cases->rows.size(); ++i) {
    auto outputs = tests::runFunction(*program, i, cases->inputs[i], 2);
    ASSERT_THAT(outputs, tests::IsOk());
    const GgmlTensor& result = cases->rows[i]->result;
    std::vector<double> actual(result.elements());
    findEncoding(result.type)->decode(outputs->front(), actual);
    expectWithin(*cases->rows[i], std::move(actual));
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Rows, GgmlOps, ::testing::ValuesIn(mappedOperators()),
                         [](const auto& info) { return info.param; });

/// `OP: reason: rows 1, 2, 3 (3)` for what does not map, in the order of the names.
std::string listUnmapped() {
  std::map<std::pair<std::string, std::string>, std::vector<int>> unmapped;
  for (const GgmlRow& row : ggmlRows())
    if (std::optional<std::string> reason = whyUnmapped(row))
      unmapped[{row.op, *reason}].push_back(row.number);
  std::string text;
  for (const auto& [key, numbers] : unmapped)
    text += absl::StrFormat("%s: %s: %d rows: %s\n", key.first, key.second, numbers.size(),
                            absl::StrJoin(numbers, " "));
  return text;
}

TEST(GgmlRows, ThoseThatDoNotMapAreListed) {
  EXPECT_EQ(listUnmapped(), tests::readFile(TENON_TEST_DATA "/ggml-ops/unmapped.txt"));
}

TEST(GgmlRows, MappedOnesHaveData) {
  size_t mapped = 0;
  for (const GgmlRow& row : ggmlRows()) {
    bool maps = !whyUnmapped(row);
    mapped += maps;
    EXPECT_EQ(row.result.bytes.empty(), !maps) << "row " << row.number;
  }
  EXPECT_EQ(ggmlRows().size(), 731u);
  EXPECT_EQ(mapped, 545u);
}

TEST(GgmlDistance, SeesEveryDifference) {
  float expected[] = {3, 4, INFINITY};
  GgmlRow row;
  row.result = {"f32", {3, 1, 1, 1}, std::as_bytes(std::span(expected))};
  EXPECT_EQ(distance(row, {3, 4, INFINITY}), 0);
  EXPECT_DOUBLE_EQ(distance(row, {3, 4.5, INFINITY}), 0.25 / 25);
  EXPECT_EQ(distance(row, {3, 4, -INFINITY}), INFINITY);
  EXPECT_EQ(distance(row, {3, NAN, INFINITY}), INFINITY);
  EXPECT_EQ(distance(row, {3, 4}), INFINITY);
}

} // namespace
} // namespace tenon::conformance
