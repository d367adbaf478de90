// Epilogues of libraries: calls that `split` leaves whole, and that are what the interpreter computes.
#include <gtest/gtest.h>

#include "CompareOnDevice.h"
#include "RegionCases.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ir/interpreter/Interpreter.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

struct LibraryCase {
  std::string input; ///< element type of x and W
  bool tf32;
  bool residual, bias, gelu;
  std::array<int64_t, 3> shape; ///< rows, columns, depth
};

std::string nameOf(const LibraryCase& p) {
  return absl::StrCat(p.input, p.tf32 ? "_tf32" : "", p.residual ? "_residual" : "",
                      p.bias ? "_bias" : "", p.gelu ? "_gelu" : "", "_", p.shape[0], "x",
                      p.shape[1], "x", p.shape[2]);
}

void PrintTo(const LibraryCase& p, std::ostream* out) { *out << nameOf(p); }

/// A scheduled call.
std::string textOf(const LibraryCase& p) {
  std::vector<std::string> chain = {"tenon.matmul %a, %b : ($x, $w)"};
  std::string arguments;
  auto append = [&](const std::string& op) {
    chain.push_back(absl::StrReplaceAll(op, {{"$v", absl::StrCat("%", chain.size() - 1)}}));
  };
  if (p.residual) {
    arguments += ", %c = %r : $y";
    append("tenon.add $v, %c : ($y, $y)");
  }
  if (p.bias) {
    arguments += ", %d = %s : $b";
    append("tenon.add %d, $v : ($b, $y)");
  }
  if (p.gelu)
    append("tenon.gelu_tanh $v : ($y)");
  std::string operations;
  for (auto [index, op] : llvm::enumerate(chain))
    absl::StrAppend(&operations, "    %", index, " = ", op, " -> $y\n");
  auto matrix = [&](int64_t rows, int64_t columns, const std::string& type) {
    return absl::StrCat("tensor<", rows, "x", columns, "x", type, ">");
  };
  const auto [rows, columns, depth] = p.shape;
  return absl::StrReplaceAll(
      absl::StrCat(R"(module attributes {tenon.phase = #tenon.phase<scheduled>} {
func.func @f(%x: $x, %w: $w, %r: $y, %s: $b) -> $y {
  %0 = tenon.kernel (%a = %x : $x, %b = %w : $w)",
                   arguments, R"() -> $y
      schedule #tenon.schedule<"cublaslt", tiles = 1, {)",
                   p.tf32 ? "tf32 = 1 : i64, " : "", R"(workspace_bytes = 33554432 : i64}> {
)",
                   operations, "    tenon.yield %", chain.size() - 1, R"( : $y
  }
  return %0 : $y
}
})"),
      {{"$x", matrix(rows, depth, p.input)},
       {"$w", matrix(columns, depth, p.input)},
       {"$y", matrix(rows, columns, "f32")},
       {"$b", absl::StrCat("tensor<", columns, "xf32>")}});
}

class CudaLibraryEpilogueTest : public ::testing::TestWithParam<LibraryCase> {};

TEST_P(CudaLibraryEpilogueTest, EqualsTheSplitPlanAndTheReference) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string text = textOf(GetParam());
  std::vector<std::vector<std::byte>> bits;
  for (passes::Plan plan : {passes::Plan::Fused, passes::Plan::Split}) {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    auto program = compileRegion(context, text, plan, module);
    ASSERT_TRUE(program.ok()) << program.status() << text;
    ASSERT_EQ(program->functions[0].steps.size(), 1u);
    auto executor = runtime::CudaExecutor::create(*std::move(program), {});
    if (absl::IsNotFound(executor.status()))
      GTEST_SKIP() << "no GPU: " << executor.status();
    ASSERT_TRUE(executor.ok()) << executor.status();
    std::vector<CaseInput> described;
    for (const runtime::Port& port : (*executor)->program().functions[0].inputs)
      described.push_back(
          {port.shape, port.encoding, described.size() == 1 ? Fill::Small : Fill::Gaussian});
    std::vector<ReferenceTensor> inputs = makeInputs(context, described);
    auto outputs = runOnDevice(**executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    bits.push_back(outputs->front());
    auto interpreter = Interpreter::create(*module);
    ASSERT_TRUE(interpreter.ok()) << interpreter.status();
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    expectClose(expected->front(), outputs->front(), GetParam().tf32 ? 1e-3 : 1e-5, "y");
  }
  EXPECT_EQ(bits[0], bits[1]);
}

std::vector<LibraryCase> libraryCases() {
  std::vector<LibraryCase> cases;
  for (auto [input, tf32] :
       {std::pair("f32", false), {"f32", true}, {"f16", false}, {"bf16", false}})
    for (bool residual : {false, true})
      for (bool bias : {false, true})
        for (bool gelu : {false, true})
          for (std::array<int64_t, 3> shape :
               {std::array<int64_t, 3>{24, 72, 96}, {131, 1000, 520}})
            cases.push_back({input, tf32, residual, bias, gelu, shape});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Epilogues, CudaLibraryEpilogueTest, ::testing::ValuesIn(libraryCases()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
} // namespace tenon::testing
