// Products of one row with quantised blocks, x in the registers of a block's warps.
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

/// Two groups of products, y = x · Wᵀ + r and z = x · Vᵀ.
constexpr const char* sums = R"(
    %p = tenon.matmul %a, %b : (X, W) -> Y
    %y = tenon.add %p, %d : (Y, Y) -> Y
    %z = tenon.matmul %a, %c : (X, W) -> Y
    tenon.yield %y, %z : Y, Y)";
/// The same of the norm of a sum, which is a result too.
constexpr const char* normed = R"(
    %s = tenon.add %a, %e : (X, X) -> X
    %n = tenon.rms_norm %s, %g eps 1.0e-5 order <chunk = 256, lanes = 256, tree = halving>
        : (X, G) -> X
    %p = tenon.matmul %n, %b : (X, W) -> Y
    %y = tenon.add %p, %d : (Y, Y) -> Y
    %z = tenon.matmul %n, %c : (X, W) -> Y
    tenon.yield %s, %y, %z : X, Y, Y)";
/// Two products of a line, of a norm, with a gate.
constexpr const char* gated = R"(
    %n = tenon.rms_norm %a, %g eps 1.0e-5 order <chunk = 256, lanes = 256, tree = halving>
        : (X, G) -> X
    %p = tenon.matmul %n, %b : (X, W) -> Y
    %q = tenon.matmul %n, %c : (X, W) -> Y
    %y = tenon.glu silu %p, %q : (Y, Y) -> Y
    %z = tenon.add %y, %d : (Y, Y) -> Y
    tenon.yield %y, %z : Y, Y)";

/// Two groups of products of an activation.
constexpr const char* activated = R"(
    %s = tenon.silu %a : (X) -> X
    %p = tenon.matmul %s, %b : (X, W) -> Y
    %y = tenon.add %p, %d : (Y, Y) -> Y
    %z = tenon.matmul %s, %c : (X, W) -> Y
    tenon.yield %y, %z : Y, Y)";
/// The first and the gated one with x in another order, which has places outside of x, too.
constexpr const char* reorderedSums = R"(
    %s = tenon.gather %a, %o along 1 : (X, I) -> X
    %p = tenon.matmul %s, %b : (X, W) -> Y
    %y = tenon.add %p, %d : (Y, Y) -> Y
    %z = tenon.matmul %s, %c : (X, W) -> Y
    tenon.yield %y, %z : Y, Y)";
constexpr const char* reorderedGated = R"(
    %n = tenon.rms_norm %a, %g eps 1.0e-5 order <chunk = 256, lanes = 256, tree = halving>
        : (X, G) -> X
    %s = tenon.gather %n, %o along 1 : (X, I) -> X
    %p = tenon.matmul %s, %b : (X, W) -> Y
    %q = tenon.matmul %s, %c : (X, W) -> Y
    %y = tenon.glu silu %p, %q : (Y, Y) -> Y
    %z = tenon.add %y, %d : (Y, Y) -> Y
    tenon.yield %y, %z : Y, Y)";

struct RowProduct {
  const char* name;
  const char* encoding;
  const char* input;
  int depth, threads;
  const char* region;
  int columns = 104; ///< 7 tiles, the last one of 8 lines
};

/// How blocks take it: all of them, then the stages of their rings, of one or two batches.
struct RowBlocks {
  int tiles, stages, batches, onWay;
};

std::string textOf(const RowProduct& product, const RowBlocks& blocks) {
  std::string text = absl::StrFormat(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>} {
func.func @f(%%x: X, %%h: X, %%w: G, %%u: W, %%v: W, %%r: Y, %%i: I) -> (RESULTS) {
  %%0:COUNT = tenon.kernel (%%a = %%x : X, %%e = %%h : X, %%g = %%w : G, %%b = %%u : W, %%c = %%v : W,
      %%d = %%r : Y, %%o = %%i : I) -> (RESULTS) schedule #tenon.schedule<"held_block_gemv", tiles = %d, {
        threads = %d : i64, stages = %d : i64, %son_way = %d : i64}> {%s
  }
  return RETURNED : RESULTS
}
})",
      blocks.tiles, product.threads, blocks.stages,
      blocks.batches == 1 ? "" : "batches = 2 : i64, ", blocks.onWay, product.region);
  const bool yieldsSum = product.region == normed;
  text = absl::StrReplaceAll(text, {{"RESULTS", yieldsSum ? "X, Y, Y" : "Y, Y"},
                                    {"COUNT", yieldsSum ? "3" : "2"},
                                    {"RETURNED", yieldsSum ? "%0#0, %0#1, %0#2" : "%0#0, %0#1"}});
  return absl::StrReplaceAll(
      text, {{"X", absl::StrFormat("tensor<1x%dx%s>", product.depth, product.input)},
             {"I", absl::StrFormat("tensor<1x%dxi32>", product.depth)},
             {"G", absl::StrFormat("tensor<%dx%s>", product.depth, product.input)},
             {"W", absl::StrFormat("tensor<%dx%dx!tenon.block<%s>>", product.columns, product.depth,
                                   product.encoding)},
             {"Y", absl::StrFormat("tensor<1x%dx%s>", product.columns, product.input)}});
}

class CudaHeldRowTest : public ::testing::TestWithParam<RowProduct> {};

/// Any number of blocks and stages gives the same bits, which are right: of more tiles a block than
/// stages, and of fewer.
TEST_P(CudaHeldRowTest, AddsAlikeInAnyBlocks) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::vector<std::byte>> first;
  for (const RowBlocks& blocks :
       {RowBlocks{2, 4, 1, 2}, {3, 2, 2, 3}, {13, 4, 2, 1}, {13, 4, 1, 1}}) {
    std::string text = textOf(GetParam(), blocks);
    SCOPED_TRACE(text);
    auto module = frontends::parseModuleText(context, text, "row");
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
      described.push_back({port.shape, port.encoding,
                           port.encoding == "i32" ? Fill::Index : Fill::Small, -9,
                           GetParam().depth + 9});
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
      expectClose((*expected)[i], (*outputs)[i], toleranceOf(GetParam().input), absl::StrCat(i));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Products, CudaHeldRowTest,
    ::testing::Values(
        RowProduct{"q4_k_of_two_groups", "q4_k", "f16", 1024, 288, sums},
        RowProduct{"q4_k_normed", "q4_k", "f16", 4096, 544, normed},
        RowProduct{"q4_k_gated_bf16", "q4_k", "bf16", 2048, 288, gated},
        RowProduct{"q4_k_of_three_parts_bf16", "q4_k", "bf16", 11008, 512, normed},
        RowProduct{"q5_k_of_two_parts", "q5_k", "f16", 4096, 288, sums},
        RowProduct{"q5_k_gated", "q5_k", "f16", 1536, 224, gated},
        RowProduct{"q8_0_of_two_parts", "q8_0", "f16", 4352, 320, gated},
        RowProduct{"q8_0_of_three_parts_bf16", "q8_0", "bf16", 6144, 288, normed},
        RowProduct{"q8_0", "q8_0", "f16", 2048, 288, sums},
        // More lines a block than threads multiply, 256, and than it has.
        RowProduct{"q8_0_of_270_lines", "q8_0", "f16", 2048, 288, sums, 540},
        RowProduct{"q4_k_of_300_lines", "q4_k", "f16", 1024, 288, normed, 600},
        RowProduct{"q4_k_activated", "q4_k", "f16", 11008, 512, activated},
        RowProduct{"q4_0", "q4_0", "f16", 2048, 288, gated},
        RowProduct{"q4_0_of_three_parts_bf16", "q4_0", "bf16", 11008, 512, normed},
        RowProduct{"groups_of_32", "int4_g32_bf16", "bf16", 1024, 288, sums},
        RowProduct{"groups_of_32_zero", "int4_g32_f16_zero", "f16", 1024, 288, sums},
        RowProduct{"groups_of_32_min", "int4_g32_f16_min", "f16", 1024, 288, sums},
        RowProduct{"groups_of_64_zero", "int4_g64_bf16_zero", "bf16", 2048, 288, gated},
        RowProduct{"groups_of_64_min", "int4_g64_f16_min", "f16", 768, 224, sums},
        RowProduct{"wide_groups", "int4_g128x8_f16", "f16", 4096, 544, normed},
        RowProduct{"wide_groups_of_two_parts", "int4_g128x8_bf16", "bf16", 5120, 416, gated},
        RowProduct{"wide_groups_zero", "int4_g128x8_f16_zero", "f16", 6144, 416, sums},
        RowProduct{"four_wide_groups", "int4_g128x4_bf16_zero", "bf16", 3584, 480, gated},
        RowProduct{"two_wide_groups", "int4_g128x2_f16_zero", "f16", 768, 224, sums},
        RowProduct{"e4m3_of_32", "e4m3_g32_f32", "f16", 2048, 288, sums},
        RowProduct{"e4m3_of_64_bf16", "e4m3_g64_f32", "bf16", 1024, 288, normed},
        RowProduct{"e4m3_of_128", "e4m3_g128_f32", "f16", 4096, 288, gated},
        RowProduct{"reordered", "int4_g128x8_f16", "f16", 4096, 544, reorderedGated},
        RowProduct{"reordered_bf16", "q4_0", "bf16", 1024, 288, reorderedSums},
        RowProduct{"reordered_of_four_parts", "int4_g128x8_f16", "f16", 14336, 544, reorderedSums},
        RowProduct{"reordered_of_three_parts_bf16", "q4_k", "bf16", 11008, 512, reorderedGated}),
    [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tenon::testing
