// Tiles of hopper_gemm: those of one order of K give the same bits, also where the blocks of a cluster
// share the depth.
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
#include "support/Status.h"

namespace tenon::testing {
namespace {

/// A tile of `hopper_gemm` by its parameters, K in `split` parts, in `tiles` blocks.
struct GemmTile {
  int split, tiles;
  const char* parameters; ///< `name = value` each, with commas between
};

/// "a = 1, b = 2" as attributes, "a = 1 : i64, b = 2 : i64".
std::string attributes(const std::string& parameters) {
  return absl::StrReplaceAll(parameters, {{",", " : i64,"}}) + " : i64";
}

/// What stands behind the product p = x · Wᵀ: r, of its shape; a gate of another product of x; a bias
/// of its columns and two of its shape.
enum class Behind : uint8_t { Residual, Gate, Residuals };

struct BehindText {
  const char *arguments, *operands, *body;
};

BehindText textOf(Behind behind) {
  switch (behind) {
  case Behind::Residual:
    return {"%r: Y", "%c = %r : Y", "%y = tenon.add %p, %c : (Y, Y) -> Y"};
  case Behind::Gate:
    return {"%r: W", "%c = %r : W",
            "%q = tenon.matmul %a, %c ORDER : (X, W) -> Y\n"
            "    %y = tenon.glu silu %p, %q : (Y, Y) -> Y"};
  case Behind::Residuals:
    return {"%r: Y, %s: Y, %t: BIAS", "%c = %r : Y, %d = %s : Y, %e = %t : BIAS",
            "%q = tenon.add %p, %e : (Y, BIAS) -> Y\n"
            "    %u = tenon.add %c, %q : (Y, Y) -> Y\n"
            "    %y = tenon.add %u, %d : (Y, Y) -> Y"};
  }
  return {};
}

/// y [rows, columns] of x [rows, depth] and W [columns, depth].
std::string productIn(const GemmTile& tile, int rows, int columns, int depth, Behind behind) {
  constexpr int stage = 64;
  int stages = (depth + stage - 1) / stage;
  int64_t chunk = (stages + tile.split - 1) / tile.split * stage;
  std::string order, split;
  if (tile.split > 1) {
    order = absl::StrFormat("order <chunk = %d, lanes = 16, tree = tensor_cores>", chunk);
    split = absl::StrFormat("split = %d : i64, ", tile.split);
  }
  BehindText behindText = textOf(behind);
  std::string text = absl::StrFormat(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>} {
func.func @f(%%x: X, %%w: W, %s) -> Y {
  %%0 = tenon.kernel (%%a = %%x : X, %%b = %%w : W, %s) -> Y
      schedule #tenon.schedule<"hopper_gemm", tiles = %d, {%s, %sstages = 3 : i64}> {
    %%p = tenon.matmul %%a, %%b ORDER : (X, W) -> Y
    %s
    tenon.yield %%y : Y
  }
  return %%0 : Y
}
})",
      behindText.arguments, behindText.operands, tile.tiles, attributes(tile.parameters), split,
      behindText.body);
  text = absl::StrReplaceAll(
      text, {{"ORDER", order}, {"BIAS", absl::StrFormat("tensor<%dxf32>", columns)}});
  return absl::StrReplaceAll(text, {{"X", absl::StrFormat("tensor<%dx%dxbf16>", rows, depth)},
                                    {"W", absl::StrFormat("tensor<%dx%dxbf16>", columns, depth)},
                                    {"Y", absl::StrFormat("tensor<%dx%dxbf16>", rows, columns)}});
}

/// What the device computes by a module of one function, which should be what the interpreter does;
/// NotFound where there is no GPU.
absl::StatusOr<std::vector<std::byte>> runCompared(mlir::MLIRContext& context,
                                                   const std::string& text) {
  TENON_ASSIGN_OR_RETURN(auto module, frontends::parseModuleText(context, text, "product"));
  (*module)->setAttr(TenonDialect::targetAttrName, findTarget(&context, "h200"));
  TENON_RETURN_IF_ERROR(passes::runPipeline(*module, {}));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, codegen::compileForCuda(*module, {}));
  TENON_ASSIGN_OR_RETURN(auto executor, runtime::CudaExecutor::create(std::move(program), {}));
  std::vector<CaseInput> described;
  for (const runtime::Port& port : executor->program().functions[0].inputs)
    described.push_back({port.shape, port.encoding, Fill::Small});
  std::vector<ReferenceTensor> inputs = makeInputs(context, described);
  TENON_ASSIGN_OR_RETURN(auto outputs, runOnDevice(*executor, inputs));
  TENON_ASSIGN_OR_RETURN(auto interpreter, Interpreter::create(*module));
  TENON_ASSIGN_OR_RETURN(auto expected, interpreter->run("f", inputs));
  expectClose(expected.front(), outputs.front(), toleranceOf("bf16"), "y");
  return std::move(outputs.front());
}

/// Runs each tile; those of one split of K should give the same bits.
void expectSameBits(const std::vector<GemmTile>& tiles, int rows, int columns, int depth,
                    Behind behind) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::map<int, std::vector<std::byte>> bits;
  for (const GemmTile& tile : tiles) {
    SCOPED_TRACE(absl::StrFormat("split %d, %s", tile.split, tile.parameters));
    auto result = runCompared(context, productIn(tile, rows, columns, depth, behind));
    if (absl::IsNotFound(result.status()))
      GTEST_SKIP() << "no GPU: " << result.status();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(bits.try_emplace(tile.split, *result).first->second, *result);
  }
}

class CudaSplitTest : public ::testing::TestWithParam<Behind> {};

/// Tiles of one split of K, whatever their shape, cluster and place of W, give the same bits; all are
/// right.
TEST_P(CudaSplitTest, AddsPartsOfKInOneOrderInEveryTile) {
  const bool gated = GetParam() == Behind::Gate;
  const std::vector<GemmTile> plain = {
      {2, 10,
       "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, ping_pong = 1, weight_rows = 1"},
      {2, 12,
       "blocks = 1, columns = 48, cluster_a = 2, cluster_b = 1, ping_pong = 1, weight_rows = 1"},
      {2, 12, "blocks = 1, columns = 64, cluster_a = 1, cluster_b = 2"},
      {3, 9, "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1"},
      {3, 15, "blocks = 1, columns = 64, cluster_a = 1, cluster_b = 1, ping_pong = 1"},
      {8, 24, "blocks = 1, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1"},
      {8, 24, "blocks = 1, columns = 128, cluster_a = 1, cluster_b = 1"}};
  const std::vector<GemmTile> joined = {
      {4, 12, "blocks = 2, columns = 48, cluster_a = 1, cluster_b = 1, weight_rows = 1"},
      {4, 20, "blocks = 1, columns = 128, cluster_a = 1, cluster_b = 1, ping_pong = 1"}};
  expectSameBits(gated ? joined : plain, /*rows=*/33, /*columns=*/264, /*depth=*/1000, GetParam());
}

/// So do tiles of more than 128 sums a thread, of which blocks have several one after the other.
TEST_P(CudaSplitTest, WideTilesGiveTheBitsOfNarrowOnes) {
  const bool gated = GetParam() == Behind::Gate;
  const std::vector<GemmTile> plain = {
      {1, 4, "blocks = 1, columns = 64, cluster_a = 1, cluster_b = 1"},
      {1, 3, "blocks = 2, columns = 192, cluster_a = 1, cluster_b = 1, ping_pong = 1"},
      {1, 4, "blocks = 2, columns = 160, cluster_a = 2, cluster_b = 1, ping_pong = 1"},
      {1, 2, "blocks = 2, columns = 192, cluster_a = 1, cluster_b = 2"},
      {1, 2, "blocks = 2, columns = 176, cluster_a = 1, cluster_b = 1, weight_rows = 1"}};
  const std::vector<GemmTile> joined = {
      {1, 4, "blocks = 1, columns = 64, cluster_a = 1, cluster_b = 1"},
      {1, 4, "blocks = 2, columns = 192, cluster_a = 2, cluster_b = 1, ping_pong = 1"},
      {1, 4, "blocks = 2, columns = 160, cluster_a = 1, cluster_b = 2"},
      {1, 4, "blocks = 2, columns = 192, cluster_a = 1, cluster_b = 1, weight_rows = 1"}};
  expectSameBits(gated ? joined : plain, /*rows=*/400, /*columns=*/520, /*depth=*/328, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Products, CudaSplitTest,
                         ::testing::Values(Behind::Residual, Behind::Gate, Behind::Residuals),
                         [](const auto& info) {
                           return info.param == Behind::Residual ? "sum"
                                  : info.param == Behind::Gate   ? "gated"
                                                                 : "sums";
                         });

} // namespace
} // namespace tenon::testing
