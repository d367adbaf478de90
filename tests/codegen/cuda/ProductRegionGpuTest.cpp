// Regions of products.
#include <limits>

#include "CompareOnDevice.h"
#include "RegionCases.h"
#include "absl/strings/str_format.h"
#include "ir/encoding/Encoding.h"
#include "ir/interpreter/Interpreter.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {
namespace {

/// Products of many rows, whose gate and up share a tile.
const RegionCase manyRowCase = {"gate_up_glu",
                                "%x: tensor<MxKxT>, %v: tensor<NxKxW>, %w: tensor<NxKxW>", R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %v : tensor<NxKxW>, %c = %w : tensor<NxKxW>)
      -> tensor<MxNxT> {
    %p = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxT>
    %q = tenon.matmul %a, %c : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxT>
    %y = tenon.glu silu %p, %q : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %y : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
                                "tensor<MxNxT>"};

const RegionCase productCases[] = {
    {"bias_gelu_residual",
     "%x: tensor<MxKxT>, %w: tensor<NxKxW>, %d: tensor<NxT>, %r: tensor<MxNxT>", R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %w : tensor<NxKxW>, %c = %d : tensor<NxT>,
                     %e = %r : tensor<MxNxT>) -> tensor<MxNxT> {
    %y = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxT>
    %s = tenon.add %y, %c : (tensor<MxNxT>, tensor<NxT>) -> tensor<MxNxT>
    %g = tenon.gelu %s : (tensor<MxNxT>) -> tensor<MxNxT>
    %z = tenon.add %g, %e : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %z : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"norm_product", "%x: tensor<MxKxT>, %g: tensor<KxT>, %w: tensor<NxKxT>", R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %g : tensor<KxT>, %c = %w : tensor<NxKxT>)
      -> tensor<MxNxT> {
    %n = tenon.rms_norm %a, %b eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %y = tenon.matmul %n, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    tenon.yield %y : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"layer_norm_product", "%x: tensor<MxKxT>, %g: tensor<KxT>, %h: tensor<KxT>, %w: tensor<NxKxT>",
     R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %g : tensor<KxT>, %d = %h : tensor<KxT>,
                     %c = %w : tensor<NxKxT>) -> tensor<MxNxT> {
    %n = tenon.layer_norm %a weight %b bias %d eps 1.0e-5
        : (tensor<MxKxT>, tensor<KxT>, tensor<KxT>) -> tensor<MxKxT>
    %y = tenon.matmul %n, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    tenon.yield %y : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"gate_up", "%x: tensor<MxKxT>, %v: tensor<NxKxT>, %w: tensor<NxKxT>", R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %v : tensor<NxKxT>, %c = %w : tensor<NxKxT>)
      -> tensor<MxNxT> {
    %g = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %u = tenon.matmul %a, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %y = tenon.glu silu %g, %u : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %y : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
    {"residual_norm_qkv",
     "%x: tensor<MxKxT>, %r: tensor<MxKxT>, %g: tensor<KxT>, %q: tensor<NxKxT>, "
     "%k: tensor<264xKxT>, %v: tensor<264xKxT>, %d: tensor<264xT>",
     R"(
  %0:4 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %r : tensor<MxKxT>, %c = %g : tensor<KxT>,
                       %e = %q : tensor<NxKxT>, %f = %k : tensor<264xKxT>,
                       %h = %v : tensor<264xKxT>, %i = %d : tensor<264xT>)
      -> (tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>) {
    %s = tenon.add %a, %b : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %n = tenon.rms_norm %s, %c eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %1 = tenon.matmul %n, %e : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %n, %f : (tensor<MxKxT>, tensor<264xKxT>) -> tensor<Mx264xT>
    %3 = tenon.matmul %n, %h : (tensor<MxKxT>, tensor<264xKxT>) -> tensor<Mx264xT>
    %4 = tenon.add %3, %i : (tensor<Mx264xT>, tensor<264xT>) -> tensor<Mx264xT>
    tenon.yield %s, %1, %2, %4 : tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>
  }
  return %0#0, %0#1, %0#2, %0#3
      : tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>)",
     "tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>"},
    {"summed_residual_norm",
     "%x: tensor<Mx3xKxT>, %s: tensor<Mx3xf32>, %r: tensor<MxKxT>, %g: tensor<KxT>, "
     "%q: tensor<NxKxT>, %k: tensor<264xKxT>",
     R"(
  %0:3 = tenon.kernel (%a = %x : tensor<Mx3xKxT>, %b = %s : tensor<Mx3xf32>,
                       %c = %r : tensor<MxKxT>, %d = %g : tensor<KxT>, %e = %q : tensor<NxKxT>,
                       %f = %k : tensor<264xKxT>)
      -> (tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>) {
    %h = tenon.weighted_sum %a, %b : (tensor<Mx3xKxT>, tensor<Mx3xf32>) -> tensor<MxKxT>
    %i = tenon.add %c, %h : (tensor<MxKxT>, tensor<MxKxT>) -> tensor<MxKxT>
    %n = tenon.rms_norm %i, %d eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %1 = tenon.matmul %n, %e : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %n, %f : (tensor<MxKxT>, tensor<264xKxT>) -> tensor<Mx264xT>
    tenon.yield %i, %1, %2 : tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>
  }
  return %0#0, %0#1, %0#2 : tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>)",
     "tensor<MxKxT>, tensor<MxNxT>, tensor<Mx264xT>"},
    {"norm_gate_up_all_outputs",
     "%x: tensor<MxKxT>, %g: tensor<KxT>, %v: tensor<NxKxT>, %w: tensor<NxKxT>", R"(
  %0:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %g : tensor<KxT>, %c = %v : tensor<NxKxT>,
                       %d = %w : tensor<NxKxT>) -> (tensor<MxNxT>, tensor<MxKxT>, tensor<MxNxT>) {
    %n = tenon.rms_norm %a, %b eps 1.0e-5 : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %1 = tenon.matmul %n, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %n, %d : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %3 = tenon.glu gelu_tanh %1, %2 : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %3, %n, %2 : tensor<MxNxT>, tensor<MxKxT>, tensor<MxNxT>
  }
  return %0#0, %0#1, %0#2 : tensor<MxNxT>, tensor<MxKxT>, tensor<MxNxT>)",
     "tensor<MxNxT>, tensor<MxKxT>, tensor<MxNxT>"},
    {"head_argmax", "%x: tensor<MxKxT>, %w: tensor<NxKxW>", R"(
  %0:2 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %w : tensor<NxKxW>)
      -> (tensor<MxNxf32>, tensor<Mxi32>) {
    %1 = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxf32>
    %2 = tenon.argmax %1 : (tensor<MxNxf32>) -> tensor<Mxi32>
    tenon.yield %1, %2 : tensor<MxNxf32>, tensor<Mxi32>
  }
  return %0#0, %0#1 : tensor<MxNxf32>, tensor<Mxi32>)",
     "tensor<MxNxf32>, tensor<Mxi32>"},
};

/// The halves of a parallel block.
const RegionCase parallelCases[] = {
    {"parallel_products",
     "%x: tensor<MxKxT>, %g: tensor<KxT>, %h: tensor<KxT>, %l: tensor<KxT>, %q: tensor<NxKxT>, "
     "%k: tensor<264xKxT>, %u: tensor<520xKxT>, %d: tensor<520xT>",
     R"(
  %0:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %g : tensor<KxT>, %c = %h : tensor<KxT>,
                       %e = %l : tensor<KxT>, %f = %q : tensor<NxKxT>, %i = %k : tensor<264xKxT>,
                       %j = %u : tensor<520xKxT>, %m = %d : tensor<520xT>)
      -> (tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx520xT>) {
    %n = tenon.layer_norm %a weight %b bias %c eps 1.0e-5
        : (tensor<MxKxT>, tensor<KxT>, tensor<KxT>) -> tensor<MxKxT>
    %1 = tenon.matmul %n, %f : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %n, %i : (tensor<MxKxT>, tensor<264xKxT>) -> tensor<Mx264xT>
    %o = tenon.layer_norm %a weight %e eps 1.0e-5
        : (tensor<MxKxT>, tensor<KxT>) -> tensor<MxKxT>
    %3 = tenon.matmul %o, %j : (tensor<MxKxT>, tensor<520xKxT>) -> tensor<Mx520xT>
    %4 = tenon.add %3, %m : (tensor<Mx520xT>, tensor<520xT>) -> tensor<Mx520xT>
    %5 = tenon.gelu %4 : (tensor<Mx520xT>) -> tensor<Mx520xT>
    tenon.yield %1, %2, %5 : tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx520xT>
  }
  return %0#0, %0#1, %0#2 : tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx520xT>)",
     "tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx520xT>"},
    {"parallel_residual",
     "%x: tensor<MxKxT>, %h: tensor<Mx1544xT>, %w: tensor<NxKxT>, %v: tensor<Nx1544xT>, "
     "%d: tensor<NxT>, %r: tensor<MxNxT>",
     R"(
  %0 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %w : tensor<NxKxT>, %c = %h : tensor<Mx1544xT>,
                     %e = %v : tensor<Nx1544xT>, %f = %d : tensor<NxT>, %g = %r : tensor<MxNxT>)
      -> tensor<MxNxT> {
    %1 = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %c, %e : (tensor<Mx1544xT>, tensor<Nx1544xT>) -> tensor<MxNxT>
    %3 = tenon.add %2, %f : (tensor<MxNxT>, tensor<NxT>) -> tensor<MxNxT>
    %4 = tenon.add %3, %1 : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    %5 = tenon.add %4, %g : (tensor<MxNxT>, tensor<MxNxT>) -> tensor<MxNxT>
    tenon.yield %5 : tensor<MxNxT>
  }
  return %0 : tensor<MxNxT>)",
     "tensor<MxNxT>"},
};

/// Groups of products of what lies in memory: of one input, of two.
const RegionCase groupCases[] = {
    {"qkv_bias",
     "%x: tensor<MxKxT>, %q: tensor<NxKxW>, %k: tensor<264xKxW>, %v: tensor<264xKxW>, "
     "%d: tensor<264xT>",
     R"(
  %0:3 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %q : tensor<NxKxW>, %c = %k : tensor<264xKxW>,
                       %e = %v : tensor<264xKxW>, %f = %d : tensor<264xT>)
      -> (tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>) {
    %1 = tenon.matmul %a, %b : (tensor<MxKxT>, tensor<NxKxW>) -> tensor<MxNxT>
    %2 = tenon.matmul %a, %c : (tensor<MxKxT>, tensor<264xKxW>) -> tensor<Mx264xT>
    %3 = tenon.add %2, %f : (tensor<Mx264xT>, tensor<264xT>) -> tensor<Mx264xT>
    %4 = tenon.matmul %a, %e : (tensor<MxKxT>, tensor<264xKxW>) -> tensor<Mx264xT>
    tenon.yield %1, %3, %4 : tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>
  }
  return %0#0, %0#1, %0#2 : tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>)",
     "tensor<MxNxT>, tensor<Mx264xT>, tensor<Mx264xT>"},
    {"query_up",
     "%x: tensor<MxKxT>, %y: tensor<MxKxT>, %q: tensor<NxKxT>, %u: tensor<520xKxT>, "
     "%d: tensor<520xT>",
     R"(
  %0:2 = tenon.kernel (%a = %x : tensor<MxKxT>, %b = %y : tensor<MxKxT>, %c = %q : tensor<NxKxT>,
                       %e = %u : tensor<520xKxT>, %f = %d : tensor<520xT>)
      -> (tensor<MxNxT>, tensor<Mx520xT>) {
    %1 = tenon.matmul %a, %c : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
    %2 = tenon.matmul %b, %e : (tensor<MxKxT>, tensor<520xKxT>) -> tensor<Mx520xT>
    %3 = tenon.add %2, %f : (tensor<Mx520xT>, tensor<520xT>) -> tensor<Mx520xT>
    %4 = tenon.gelu %3 : (tensor<Mx520xT>) -> tensor<Mx520xT>
    tenon.yield %1, %4 : tensor<MxNxT>, tensor<Mx520xT>
  }
  return %0#0, %0#1 : tensor<MxNxT>, tensor<Mx520xT>)",
     "tensor<MxNxT>, tensor<Mx520xT>"},
};

/// Of equal elements the lowest index counts and a row with a NaN has none, whichever block is done
/// last; what a call leaves after does not change the next.
class CudaSearchTest : public ::testing::TestWithParam<int64_t> {}; // rows

TEST_P(CudaSearchTest, AmongEqualElementsAndNan) {
  constexpr int64_t depth = 256, columns = 1000;
  const int64_t rows = GetParam();
  std::string text = absl::StrFormat(
      R"(module attributes {tenon.phase = #tenon.phase<fused>} {
func.func @f(%%x: tensor<%1$dx%2$dxf16>, %%w: tensor<%3$dx%2$dxf16>) -> tensor<%1$dxi32> {
  %%0 = tenon.kernel (%%a = %%x : tensor<%1$dx%2$dxf16>, %%b = %%w : tensor<%3$dx%2$dxf16>)
      -> tensor<%1$dxi32> {
    %%1 = tenon.matmul %%a, %%b : (tensor<%1$dx%2$dxf16>, tensor<%3$dx%2$dxf16>)
        -> tensor<%1$dx%3$dxf32>
    %%2 = tenon.argmax %%1 : (tensor<%1$dx%3$dxf32>) -> tensor<%1$dxi32>
    tenon.yield %%2 : tensor<%1$dxi32>
  }
  return %%0 : tensor<%1$dxi32>
}
})",
      rows, depth, columns);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  auto program = compileRegion(context, text, passes::Plan::Fused, module);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->functions[0].steps.size(), 1u);
  auto executor = runtime::CudaExecutor::create(*std::move(program), {});
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_TRUE(executor.ok()) << executor.status();
  auto interpreter = Interpreter::create(*module);
  ASSERT_TRUE(interpreter.ok()) << interpreter.status();
  double nan = std::numeric_limits<double>::quiet_NaN();
  for (double sign : {1.0, -1.0}) {
    CaseInput x = {{rows, depth}, "f16", Fill::Listed}, w = {{columns, depth}, "f16", Fill::Listed};
    for (int64_t i = 0; i < rows * depth; ++i) // row 1 is NaN
      x.values.push_back(i / depth == 1 ? nan : sign * static_cast<double>(i % 7 - 3));
    for (int64_t i = 0; i < columns * depth; ++i) // every 97th column alike
      w.values.push_back(static_cast<double>((i / depth % 97 + i % 5) % 11));
    std::vector<ReferenceTensor> inputs = makeInputs(context, {x, w});
    auto expected = (*interpreter)->run("f", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    auto outputs = runOnDevice(**executor, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    expectClose(expected->front(), outputs->front(), 0, "indices");
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, CudaSearchTest, ::testing::Values(3, 20, 64));

std::vector<RegionParameters> productRegions() {
  std::vector<RegionParameters> all;
  for (const RegionCase& region : productCases)
    for (const char* type : {"f32", "f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{1, 2048, 2048}, {1, 2560, 2560}, {2, 1100, 3072}, {5, 528, 1032}})
        all.push_back({&region, type, rows, columns, depth});
  for (const RegionCase& region : parallelCases)
    for (const char* type : {"f32", "f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{1, 2560, 2560}, {1, 1100, 1032}, {2, 528, 776}, {3, 528, 1032}})
        all.push_back({&region, type, rows, columns, depth});
  for (const RegionCase& region : parallelCases)
    for (const char* type : {"f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{4, 2560, 2560}, {3, 2147, 7168}, {16, 1100, 776}, {9, 1100, 3848}})
        all.push_back({&region, type, rows, columns, depth}); // the second: tiles of fewer lines
  for (const RegionCase& region :
       llvm::ArrayRef(productCases).take_front(4)) // in memory, or a norm
    for (const char* type : {"f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{8, 6144, 2048}, {16, 1100, 1032}, {4, 2147, 3976}, {16, 1100, 4096}})
        all.push_back({&region, type, rows, columns, depth}); // the last two: x in registers
  for (const RegionCase* region : {&productCases[0], &manyRowCase, &groupCases[0]})
    for (const char* type : {"f16", "bf16"})
      for (auto [rows, columns, depth] : {std::tuple{17, 2560, 2560},
                                          {33, 528, 1032},
                                          {150, 1104, 776},
                                          {700, 257, 520},
                                          {2048, 3072, 1024}})
        all.push_back({region, type, rows, columns, depth});
  // Warpgroups make factors of blocks: tiles with empty lines and rows, K in parts, several tiles
  // of rows.
  for (const RegionCase* region : {&productCases[0], &manyRowCase, &groupCases[0]})
    for (auto [blocks, type] : {std::pair{"q4_k", "f16"},
                                {"q4_k", "bf16"},
                                {"q6_k", "f16"},
                                {"q8_0", "bf16"},
                                {"q5_1", "f16"},
                                {"int4_g128_f16_zero", "f16"}})
      for (auto [rows, columns, depth] : {std::tuple{17, 2560, 2560},
                                          {40, 528, 768},
                                          {150, 1104, 2048},
                                          {300, 264, 512},
                                          {700, 2000, 1024}})
        if (findEncoding(blocks)->bytesFor(depth) % 16 == 0) // else no lines of whole chunks
          all.push_back({region, type, rows, columns, depth, blocks});
  for (const RegionCase& region : productCases)
    if (region.name == std::string("head_argmax")) {
      for (const char* type : {"f16", "bf16"})
        all.push_back({&region, type, 11, 1100, 4096});
      all.push_back({&region, "f16", 1, 40000, 1024, "q8_0"}); // 303 lines a block
      // By warpgroups: empty rows and lines, x as rows of A, K in parts, several tiles a block,
      // blocks of quants.
      for (auto [rows, columns, depth] :
           {std::tuple{33, 528, 1032}, {64, 257, 520}, {17, 2560, 2560}, {48, 40000, 256}})
        for (const char* type : {"f16", "bf16"})
          all.push_back({&region, type, rows, columns, depth});
      all.push_back({&region, "bf16", 40, 1104, 2048, "q4_k"});
    }
  for (const RegionCase& region : groupCases)
    for (const char* type : {"f16", "bf16"})
      for (auto [rows, columns, depth] :
           {std::tuple{8, 1100, 1032}, {16, 1100, 776}, {9, 1100, 3848}})
        all.push_back({&region, type, rows, columns, depth});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Products, CudaRegionTest, ::testing::ValuesIn(productRegions()),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
} // namespace tenon::testing
