// Products whose depth the blocks of a cluster share.
#include <map>

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

/// A tile of `hopper_gemm` by its parameters, K in `split` parts, in `tiles` blocks.
struct SplitTile {
  int split, tiles;
  const char* parameters;
};

/// y [33, 264] = x · Wᵀ + r, or two products with a gate, over 1,000 elements of K, 16 stages.
std::string splitProduct(const SplitTile& tile, bool gated) {
  int64_t chunk = (16 + tile.split - 1) / tile.split * 64;
  std::string text = absl::StrFormat(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>} {
func.func @f(%%x: X, %%w: W, %%r: OTHER) -> Y {
  %%0 = tenon.kernel (%%a = %%x : X, %%b = %%w : W, %%c = %%r : OTHER) -> Y
      schedule #tenon.schedule<"hopper_gemm", tiles = %d, {%s, split = %d : i64, stages = 3 : i64}> {
    %%p = tenon.matmul %%a, %%b ORDER : (X, W) -> Y
    BEHIND
    tenon.yield %%y : Y
  }
  return %%0 : Y
}
})",
      tile.tiles, tile.parameters, tile.split);
  std::string order = absl::StrFormat("order <chunk = %d, lanes = 16, tree = tensor_cores>", chunk);
  return absl::StrReplaceAll(
      text, {{"BEHIND", gated ? "%q = tenon.matmul %a, %c " + order +
                                    " : (X, W) -> Y\n    %y = tenon.glu silu %p, %q : (Y, Y) -> Y"
                              : "%y = tenon.add %p, %c : (Y, Y) -> Y"},
             {"ORDER", order},
             {"OTHER", gated ? "W" : "Y"}});
}

class CudaSplitTest : public ::testing::TestWithParam<bool> {};

/// Tiles of one split of K, whatever their shape, cluster and place of W, give the same bits; all are
/// right.
TEST_P(CudaSplitTest, AddsPartsOfKInOneOrderInEveryTile) {
  const bool gated = GetParam();
  const std::vector<SplitTile> plain = {
      {2, 10,
       "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, ping_pong = 1, weight_rows = 1 : "
       "i64"},
      {2, 12,
       "blocks = 1, columns = 48, cluster_a = 2, cluster_b = 1, ping_pong = 1, weight_rows = 1 : "
       "i64"},
      {2, 12, "blocks = 1, columns = 64, cluster_a = 1, cluster_b = 2 : i64"},
      {3, 9, "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1 : i64"},
      {3, 15, "blocks = 1, columns = 64, cluster_a = 1, cluster_b = 1, ping_pong = 1 : i64"},
      {8, 24, "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1 : i64"},
      {8, 24, "blocks = 1, columns = 128, cluster_a = 1, cluster_b = 1 : i64"}};
  const std::vector<SplitTile> joined = {
      {4, 12, "blocks = 2, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1 : i64"},
      {4, 20, "blocks = 1, columns = 128, cluster_a = 1, cluster_b = 1, ping_pong = 1 : i64"}};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::map<int, std::vector<std::byte>> bits;
  for (const SplitTile& tile : gated ? joined : plain) {
    SCOPED_TRACE(absl::StrFormat("split %d, %s", tile.split, tile.parameters));
    std::string text = absl::StrReplaceAll(splitProduct(tile, gated),
                                           {{"X", "tensor<33x1000xbf16>"},
                                            {"W", "tensor<264x1000xbf16>"},
                                            {"Y", "tensor<33x264xbf16>"},
                                            {" = 1,", " = 1 : i64,"},
                                            {" = 2,", " = 2 : i64,"},
                                            {"columns = 48,", "columns = 48 : i64,"},
                                            {"columns = 64,", "columns = 64 : i64,"},
                                            {"columns = 128,", "columns = 128 : i64,"}});
    auto module = frontends::parseModuleText(context, text, "split");
    ASSERT_TRUE(module.ok()) << module.status() << text;
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
    auto interpreter = Interpreter::create(**module);
    ASSERT_TRUE(interpreter.ok()) << interpreter.status();
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    expectClose(expected->front(), outputs->front(), toleranceOf("bf16"), "y");
    auto [same, isFirst] = bits.try_emplace(tile.split, outputs->front());
    EXPECT_EQ(same->second, outputs->front());
  }
}

INSTANTIATE_TEST_SUITE_P(Products, CudaSplitTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "gated" : "sum"; });

} // namespace
} // namespace tenon::testing
