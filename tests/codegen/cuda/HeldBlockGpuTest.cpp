// Products of few rows with blocks, x in the registers of a block's warps.
#include <gtest/gtest.h>

#include "CompareOnDevice.h"
#include "RegionCases.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

struct HeldProduct {
  const char* name;
  const char* encoding;
  int rows, depth, threads, cluster;
  bool gated;
};

/// How blocks take it: all of them, then the stages of their rings.
struct HeldBlocks {
  int tiles, stages, early;
};

constexpr int columns = 232; // 15 tiles, the last one of 8 lines

/// Two groups of products, y [rows, 232] = x · Wᵀ + r and z = x · Vᵀ; or y of two products with a
/// gate.
std::string textOf(const HeldProduct& product, const HeldBlocks& blocks) {
  const char* const sums = R"(
    %p = tenon.matmul %a, %b : (X, W) -> Y
    %y = tenon.add %p, %d : (Y, Y) -> Y
    %z = tenon.matmul %a, %c : (X, W) -> Y
    tenon.yield %y, %z : Y, Y)";
  const char* const gated = R"(
    %p = tenon.matmul %a, %b : (X, W) -> Y
    %q = tenon.matmul %a, %c : (X, W) -> Y
    %y = tenon.glu silu %p, %q : (Y, Y) -> Y
    %z = tenon.add %y, %d : (Y, Y) -> Y
    tenon.yield %y, %z : Y, Y)";
  return absl::StrReplaceAll(
      absl::StrFormat(
          R"(module attributes {tenon.phase = #tenon.phase<scheduled>} {
func.func @f(%%x: X, %%v: W, %%w: W, %%r: Y) -> (Y, Y) {
  %%0, %%1 = tenon.kernel (%%a = %%x : X, %%b = %%v : W, %%c = %%w : W, %%d = %%r : Y) -> (Y, Y)
      schedule #tenon.schedule<"held_block_gemm", tiles = %d, {threads = %d : i64,
        stages = %d : i64, early = %d : i64, cluster_blocks = %d : i64}> {%s
  }
  return %%0, %%1 : Y, Y
}
})",
          blocks.tiles, product.threads, blocks.stages, blocks.early, product.cluster,
          product.gated ? gated : sums),
      {{"X", absl::StrFormat("tensor<%dx%dxf16>", product.rows, product.depth)},
       {"W", absl::StrFormat("tensor<%dx%dx!tenon.block<%s>>", columns, product.depth,
                             product.encoding)},
       {"Y", absl::StrFormat("tensor<%dx%dxf16>", product.rows, columns)}});
}

class CudaHeldBlockTest : public ::testing::TestWithParam<HeldProduct> {};

/// Any number of blocks and stages gives the same bits, which are right: of more tiles a block than
/// stages, and of fewer.
TEST_P(CudaHeldBlockTest, AddsAlikeInAnyBlocks) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::vector<std::byte>> first;
  const int cluster = GetParam().cluster;
  for (const HeldBlocks& blocks :
       {HeldBlocks{2 * cluster, 3, 2}, {7 * cluster, 4, 4}, {15 * cluster, 2, 1}}) {
    std::string text = textOf(GetParam(), blocks);
    SCOPED_TRACE(text);
    auto module = frontends::parseModuleText(context, text, "held");
    ASSERT_TRUE(module.ok()) << module.status();
    (**module)->setAttr(TenonDialect::targetAttrName, findTarget(&context, "h200"));
    absl::Status planned = passes::runPipeline(**module, {});
    ASSERT_TRUE(planned.ok()) << planned;
    auto program = codegen::compileForCuda(**module, {});
    ASSERT_TRUE(program.ok()) << program.status();
    auto executor = runtime::CudaExecutor::create(*std::move(program), {});
    if (absl::IsNotFound(executor.status()))
      GTEST_SKIP() << "no GPU: " << executor.status();
    ASSERT_TRUE(executor.ok()) << executor.status();
    std::vector<CaseInput> described;
    for (const runtime::Port& port : (*executor)->program().functions[0].inputs)
      described.push_back({port.shape, port.encoding, Fill::Small});
    std::vector<ReferenceTensor> inputs = makeInputs(context, described);
    auto outputs = runOnDevice(**executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    if (!first.empty()) {
      EXPECT_EQ(first, *outputs);
      continue;
    }
    first = *outputs;
    auto interpreter = Interpreter::create(**module);
    ASSERT_TRUE(interpreter.ok()) << interpreter.status();
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (size_t i = 0; i < expected->size(); ++i)
      expectClose((*expected)[i], (*outputs)[i], toleranceOf("f16"), i == 0 ? "y" : "z");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Products, CudaHeldBlockTest,
    ::testing::Values(HeldProduct{"q4_k_8", "q4_k", 8, 1024, 128, 1, false},
                      HeldProduct{"q5_k_3", "q5_k", 3, 1536, 192, 1, false},
                      HeldProduct{"q4_k_16", "q4_k", 16, 2048, 256, 1, false},
                      HeldProduct{"q5_k_11_gated", "q5_k", 11, 2304, 288, 1, true},
                      HeldProduct{"q4_k_2_gated", "q4_k", 2, 4096, 512, 1, true},
                      HeldProduct{"q4_k_9_of_a_cluster", "q4_k", 9, 4352, 288, 2, true}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tenon::testing
