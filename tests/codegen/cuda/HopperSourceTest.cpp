// Sources of products and attention of many rows by warpgroups, and schedules of such that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "SourceText.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace tenon::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// x · Wᵀ + r with W a weight of the model.
std::string sumAfterGemm(int rows, int columns = 2048, int depth = 1024) {
  return absl::StrReplaceAll(R"(
tenon.file @m "m.gguf" bytes 1073741824 fingerprint 0
tenon.weight @w : W from [#tenon.range<@m, offset = 0, bytes = BYTES>]
func.func @f(%x: X, %r: Y) -> Y {
  %w = tenon.get_weight @w : W
  %p = tenon.matmul %x, %w : (X, W) -> Y
  %y = tenon.add %p, %r : (Y, Y) -> Y
  return %y : Y
})",
                             {{"BYTES", absl::StrFormat("%d", columns * depth * 2)},
                              {"X", absl::StrFormat("tensor<%dx%dxbf16>", rows, depth)},
                              {"W", absl::StrFormat("tensor<%dx%dxbf16>", columns, depth)},
                              {"Y", absl::StrFormat("tensor<%dx%dxbf16>", rows, columns)}});
}

TEST(CudaSource, WarpgroupsMultiplyManyRowsOnHopperAlone) {
  for (auto [rows, target, isTheirs] : {std::tuple(16, "h200", false),
                                        {17, "h200", true},
                                        {512, "h200", true},
                                        {512, "a100", false}}) {
    auto kernels = printText(sumAfterGemm(rows), target, /*stamps=*/false, passes::Plan::Fused);
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    EXPECT_EQ(kernels->front().source.find("HopperGemm<Config>") != std::string::npos, isTheirs)
        << rows << " rows on " << target;
  }
}

/// Stages of W are on their way before the kernel waits, x and the residual are read after.
TEST(CudaSource, TilesOfWeightsAreOnTheirWayBeforeTheKernelWaits) {
  auto kernels = printText(sumAfterGemm(512), "h200", /*stamps=*/false, passes::Plan::Fused);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  size_t start = source.find("gemm.start("), wait = source.find("griddepcontrol.wait");
  ASSERT_NE(start, std::string::npos) << source;
  ASSERT_NE(wait, std::string::npos);
  EXPECT_LT(start, wait);
  EXPECT_LT(wait, source.find("loadPacked(operands."));
  EXPECT_LT(wait, source.find("gemm.run("));
  EXPECT_THAT(source, HasSubstr("const __grid_constant__ TensorMap map1"));
}

/// Runs of eight that reach past the end of a row are loaded and stored element by element.
TEST(CudaSource, WarpgroupsGuardRowsOfOddLengths) {
  auto kernels = printText(sumAfterGemm(512, 1001), "h200", /*stamps=*/false, passes::Plan::Fused);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_THAT(kernels->front().source, HasSubstr("storePart("));
  EXPECT_THAT(kernels->front().source, Not(HasSubstr("loadPacked(operands.")));
}

/// Gate and up share a tile.
TEST(CudaSource, WarpgroupsJoinGateAndUp) {
  for (int rows : {32, 512}) {
    auto kernels = printText(absl::StrReplaceAll(
        R"(
module attributes {tenon.phase = #tenon.phase<fused>} {
  func.func @f(%x: X, %v: W, %w: W) -> Y {
    %0 = tenon.kernel (%a = %x : X, %b = %v : W, %c = %w : W) -> Y {
      %p = tenon.matmul %a, %b : (X, W) -> Y
      %q = tenon.matmul %a, %c : (X, W) -> Y
      %y = tenon.glu silu %p, %q : (Y, Y) -> Y
      tenon.yield %y : Y
    }
    return %0 : Y
  }
})",
        {{"X", absl::StrFormat("tensor<%dx1024xf16>", rows)},
         {"W", "tensor<4096x1024xf16>"},
         {"Y", absl::StrFormat("tensor<%dx4096xf16>", rows)}}));
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    ASSERT_EQ(kernels->size(), 1u);
    EXPECT_THAT((*kernels)[0].source, HasSubstr("gemms = 2;"));
    EXPECT_THAT((*kernels)[0].source, HasSubstr("{&map1, &map2}"));
  }
}

/// Q, K and V stand side by side in one kernel, each with its width and its epilogue, which share the
/// place of what they load.
TEST(CudaSource, WarpgroupsMultiplyGroupsOfOneInput) {
  for (int rows : {32, 512}) {
    auto kernels = printText(absl::StrReplaceAll(
        R"(
module attributes {tenon.phase = #tenon.phase<fused>} {
  func.func @f(%x: X, %v: W, %w: V, %u: V, %d: tensor<4096xf16>, %e: tensor<520xf16>) -> (Y, Z, Z) {
    %0:3 = tenon.kernel (%a = %x : X, %b = %v : W, %c = %w : V, %g = %u : V,
                         %h = %d : tensor<4096xf16>, %i = %e : tensor<520xf16>) -> (Y, Z, Z) {
      %p = tenon.matmul %a, %b : (X, W) -> Y
      %q = tenon.matmul %a, %c : (X, V) -> Z
      %r = tenon.matmul %a, %g : (X, V) -> Z
      %y = tenon.add %p, %h : (Y, tensor<4096xf16>) -> Y
      %z = tenon.add %q, %i : (Z, tensor<520xf16>) -> Z
      tenon.yield %y, %z, %r : Y, Z, Z
    }
    return %0#0, %0#1, %0#2 : Y, Z, Z
  }
})",
        {{"X", absl::StrFormat("tensor<%dx1024xf16>", rows)},
         {"W", "tensor<4096x1024xf16>"},
         {"V", "tensor<520x1024xf16>"},
         {"Y", absl::StrFormat("tensor<%dx4096xf16>", rows)},
         {"Z", absl::StrFormat("tensor<%dx520xf16>", rows)}}));
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    ASSERT_EQ(kernels->size(), 1u);
    const std::string& source = (*kernels)[0].source;
    EXPECT_THAT(source, HasSubstr("groups = 3"));
    EXPECT_THAT(source, HasSubstr("{{&map1}, {&map2}, {&map3}}"));
    EXPECT_THAT(source, HasSubstr("int firstTile(int group) { return group == 2 ? "));
    EXPECT_THAT(source, HasSubstr("Packed<8, F16> of0;"));
    EXPECT_THAT(source, Not(HasSubstr("Packed<8, F16> of1;")));
  }
}

/// A scheduled module of one product in one kernel of hopper_gemm.
std::string hopper(const std::string& parameters, const std::string& order = "",
                   const char* feature = "sm_90a", int tiles = 2) {
  return absl::StrReplaceAll(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>,
      tenon.target = #tenon.target<"t", cuda, features = ["FEATURE"], {sms = 132 : i64}>} {
  func.func @f(%x: tensor<256x512xf16>, %w: tensor<256x512xf16>) -> tensor<256x256xf16> {
    %0 = tenon.kernel (%a = %x : tensor<256x512xf16>, %b = %w : tensor<256x512xf16>)
        -> tensor<256x256xf16> schedule #tenon.schedule<"hopper_gemm", tiles = TILES, {PARAMETERS}> {
      %y = tenon.matmul %a, %b ORDER : (tensor<256x512xf16>, tensor<256x512xf16>) -> tensor<256x256xf16>
      tenon.yield %y : tensor<256x256xf16>
    }
    return %0 : tensor<256x256xf16>
  }
})",
      {{"FEATURE", feature},
       {"TILES", absl::StrFormat("%d", tiles)},
       {"PARAMETERS", parameters},
       {"ORDER", order}});
}

std::string tile(int blocks, int columns, int clusterA = 1, int clusterB = 1, int stages = 4) {
  return absl::StrFormat(
      "blocks = %d : i64, columns = %d : i64, cluster_a = %d : i64, cluster_b = %d "
      ": i64, stages = %d : i64",
      blocks, columns, clusterA, clusterB, stages);
}

std::string splitTile(int split, int blocks = 1, int columns = 64, int clusterA = 1,
                      const char* more = "") {
  return tile(blocks, columns, clusterA) + absl::StrFormat(", split = %d : i64", split) + more;
}
constexpr const char* inTwo = "order <chunk = 256, lanes = 16, tree = tensor_cores>";

/// A kernel whose tiles are few splits K, and says so in its order.
TEST(CudaSource, WarpgroupsSplitKWhereTilesAreFew) {
  constexpr int depth = 8192;
  for (auto [rows, columns, isSplit] :
       {std::tuple(32, 2048, true), {64, 2048, true}, {2048, 2048, false}, {64, 16384, false}}) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = frontends::parseModuleText(context, sumAfterGemm(rows, columns, depth), "test");
    ASSERT_TRUE(module.ok()) << module.status();
    passes::PipelineOptions options = {.upTo = Phase::Scheduled,
                                       .target = findTarget(&context, "h200")};
    options.fusion.plan = passes::Plan::Fused;
    ASSERT_TRUE(passes::runPipeline(**module, options).ok());
    (*module)->walk([&, isSplit = isSplit](MatmulOp op) {
      auto kernel = op->getParentOfType<KernelOp>();
      EXPECT_EQ(kernel.getScheduleAttr().getEmitter(), "hopper_gemm");
      int64_t split = kernel.getScheduleAttr().getParameter("split").value_or(1);
      EXPECT_EQ(split > 1, isSplit) << op;
      OrderAttr order = op.getOrderAttr();
      ASSERT_EQ(order != nullptr, isSplit) << op;
      if (order)
        EXPECT_EQ(order.getChunk(), llvm::divideCeil(depth / 64, split) * 64) << op; // whole stages
    });
  }
}

/// Sums of parts of K come together through the other blocks' shared memory; without parts nothing of it
/// is there.
TEST(CudaSource, PartsOfKComeTogetherInTheCluster) {
  auto kernels = printText(hopper(splitTile(2), inTwo, "sm_90a", 16));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_THAT(kernels->front().source, HasSubstr("clusterB = 1, split = 2;"));
  EXPECT_THAT(kernels->front().source, HasSubstr("__cluster_dims__(2, 1, 1)"));
  auto whole = printText(hopper(tile(1, 64)));
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_THAT(whole->front().source, HasSubstr("split = 1;"));
}

TEST(CudaSource, RefusesTilesThatWarpgroupsCannotHave) {
  const char* impossible = "expects a tile that warpgroups can have";
  for (auto [text, message] :
       {std::pair(hopper(tile(3, 64)), impossible),
        {hopper(tile(1, 72)), impossible},
        {hopper(tile(1, 272)), impossible},
        {hopper(tile(2, 208)), impossible},
        {hopper(tile(1, 64, 4)), impossible},
        {hopper(tile(1, 64, 1, 1, 1)), "expects 2 to 32 stages, but got 1"},
        {hopper(tile(1, 64, 1, 1, 33)), "expects 2 to 32 stages, but got 33"},
        {hopper(tile(1, 64), "", "sm_90a", 9), "at most 8 of them, but got 9 blocks"},
        {hopper(tile(1, 64, 2), "", "sm_90a", 3), "expects whole clusters of 2 blocks"},
        {hopper(tile(1, 64), "order <chunk = 0, lanes = 32, tree = halving>"),
         "expects no order on tensor cores"},
        {hopper(splitTile(9), inTwo), "expects 2 to 8 split, but got 9"},
        {hopper(splitTile(8, 1, 64, 2), inTwo), impossible},
        {hopper(splitTile(8, 1, 64, 1, ", ping_pong = 1 : i64"), inTwo), impossible},
        {hopper(splitTile(7), "order <chunk = 128, lanes = 16, tree = tensor_cores>", "sm_90a", 56),
         "expects parts of at least one stage of K, but got 7 parts of 512 elements"},
        {hopper(splitTile(2), inTwo, "sm_90a", 8),
         "expects a block for each of 2 parts of a tile, 16, but got 8 blocks"},
        {hopper(splitTile(2), "", "sm_90a", 16), "of K in 2 parts on tensor cores, but got none"},
        {hopper(splitTile(2), "order <chunk = 128, lanes = 16, tree = tensor_cores>", "sm_90a", 16),
         "of K in 2 parts on tensor cores, but got #tenon.order<chunk = 128"},
        {hopper(tile(1, 64), "", "sm_100a"), "expects sm_90a for the emitter hopper_gemm"}}) {
    auto kernels = printText(text);
    ASSERT_FALSE(kernels.ok()) << message;
    EXPECT_THAT(std::string(kernels.status().message()), HasSubstr(message));
  }
  auto kernels = printText(hopper(tile(1, 64)));
  EXPECT_TRUE(kernels.ok()) << kernels.status();
}

/// Residuals are loaded before what is behind the products is computed, then biases as registers
/// allow, in chunks of 32 columns where sums take most of them.
TEST(CudaSource, EpiloguesLoadResidualsBeforeBiases) {
  auto sourceOf = [](const std::string& parameters) {
    std::string text = absl::StrReplaceAll(
        R"(
module attributes {tenon.phase = #tenon.phase<scheduled>} {
  func.func @f(%x: T, %w: T, %s: tensor<256xf32>, %t: Y, %u: Y) -> Y {
    %0 = tenon.kernel (%a = %x : T, %b = %w : T, %c = %s : tensor<256xf32>, %d = %t : Y, %e = %u : Y)
        -> Y schedule #tenon.schedule<"hopper_gemm", tiles = 2, {PARAMETERS}> {
      %p = tenon.matmul %a, %b : (T, T) -> Y
      %q = tenon.add %p, %c : (Y, tensor<256xf32>) -> Y
      %r = tenon.add %d, %q : (Y, Y) -> Y
      %y = tenon.add %r, %e : (Y, Y) -> Y
      tenon.yield %y : Y
    }
    return %0 : Y
  }
})",
        {{"PARAMETERS", parameters}, {"T", "tensor<256x512xf16>"}, {"Y", "tensor<256x256xf16>"}});
    auto kernels = printText(text);
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    return kernels.ok() ? kernels->front().source : "";
  };
  std::string small = sourceOf(tile(1, 160));
  EXPECT_THAT(small, HasSubstr("int chunk = 64;"));
  EXPECT_THAT(small, HasSubstr("Packed<8, F16> of0;\n    Packed<8, F16> of1;\n"
                               "    Packed<8, float> of2;\n"));
  std::string large = sourceOf(tile(2, 160));
  EXPECT_THAT(large, HasSubstr("int chunk = 32;"));
  EXPECT_THAT(large, HasSubstr("Packed<8, F16> of0;\n"));
  EXPECT_THAT(large, Not(HasSubstr(" of1;")));
}

/// The same with block-quantised weights [256, depth].
std::string hopperOfBlocks(const std::string& parameters, const char* encoding = "q4_k",
                           int depth = 512) {
  std::string weight = absl::StrFormat("tensor<256x%dx!tenon.block<%s>>", depth, encoding);
  std::string input = absl::StrFormat("tensor<256x%dxf16>", depth);
  return absl::StrReplaceAll(hopper(parameters),
                             {{"%w: tensor<256x512xf16>", "%w: " + weight},
                              {"%b = %w : tensor<256x512xf16>", "%b = %w : " + weight},
                              {", tensor<256x512xf16>) ->", ", " + weight + ") ->"},
                              {"tensor<256x512xf16>", input}});
}

/// Block-quantised weights lie in a ring of their own, by their addresses.
TEST(CudaSource, WarpgroupsMakeFactorsOfBlocks) {
  const std::string pieces = ", pieces = 2 : i64, weight_rows = 1 : i64";
  auto kernels = printText(hopperOfBlocks(tile(1, 64) + pieces));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  EXPECT_THAT(source, HasSubstr("using Encoding = Q4_K;"));
  EXPECT_THAT(source, HasSubstr("int ringPieces = 2;"));
  EXPECT_THAT(source, HasSubstr("int lineBytes = 288;"));
  EXPECT_THAT(source, HasSubstr("{{reinterpret_cast<const unsigned char*>("));
  EXPECT_THAT(source, Not(HasSubstr("map1")));

  const char* impossible = "expects a tile that warpgroups can have";
  const char* lines = "whole pieces of 256 elements and whole runs of 16 bytes, but got tensor<";
  for (auto [parameters, encoding, depth, message] :
       {std::tuple(tile(1, 64) + ", pieces = 2 : i64", "q4_k", 512, impossible),
        {tile(1, 64), "q4_k", 512, impossible},
        {tile(1, 64, 1, 2) + pieces, "q4_k", 512, impossible},
        {tile(1, 64) + ", pieces = 1 : i64", "q4_k", 512, "expects 2 to 32 pieces, but got 1"},
        {tile(1, 64) + pieces, "q8_0", 288, lines},
        {tile(1, 64) + pieces, "q6_k", 512, lines}}) {
    auto refused = printText(hopperOfBlocks(parameters, encoding, depth));
    ASSERT_FALSE(refused.ok()) << message;
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr(message));
  }
  auto plain = printText(hopper(tile(1, 64) + pieces));
  ASSERT_FALSE(plain.ok());
  EXPECT_THAT(std::string(plain.status().message()), HasSubstr(impossible));
}

/// Attention of `rows` rows of 32 heads over 1,024 keys of 8.
std::string attention(int rows, int size = 64) {
  return absl::StrReplaceAll(R"(
func.func @f(%q: Q, %k: K, %v: K, %s: tensor<1xi32>, %p: P) -> Q {
  %y = tenon.attention %q, %k, %v, %s, %p scale 0.125 : (Q, K, K, tensor<1xi32>, P) -> Q
  return %y : Q
})",
                             {{"Q", absl::StrFormat("tensor<%dx32x%dxf16>", rows, size)},
                              {"K", absl::StrFormat("tensor<1x1024x8x%dxf16>", size)},
                              {"P", absl::StrFormat("tensor<%dxi32>", rows)}});
}

TEST(CudaSource, WarpgroupsAttendToManyRowsOnHopperAlone) {
  for (auto [rows, target, isTheirs] : {std::tuple(16, "h200", false),
                                        {17, "h200", true},
                                        {512, "h200", true},
                                        {512, "a100", false},
                                        {512, "b200", false}}) {
    auto kernels = printText(attention(rows), target);
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    EXPECT_EQ(kernels->front().source.find("HopperAttention<Config>") != std::string::npos,
              isTheirs)
        << rows << " rows on " << target;
  }
}

/// Three warpgroups where tiles of 192 rows are many rounds.
TEST(CudaSource, MoreRowsTakeMoreWarpgroups) {
  for (auto [rows, size, config] : {std::tuple(1024, 64, "keys = 128, heads = 4, consumers = 2;"),
                                    {2048, 64, "keys = 128, heads = 4, consumers = 3;"},
                                    {2048, 128, "keys = 128, heads = 4, consumers = 2;"},
                                    {4096, 128, "keys = 80, heads = 4, consumers = 3;"},
                                    {4096, 256, "keys = 80, heads = 4, consumers = 2;"}}) {
    auto kernels = printText(attention(rows, size), "h200");
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    EXPECT_THAT(kernels->front().source, HasSubstr(config));
  }
}

/// Barriers are ready before the kernel waits; queries, keys and positions are read after.
TEST(CudaSource, WarpgroupsAttendBehindTheWait) {
  auto kernels = printText(attention(512), "h200");
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  size_t wait = source.find("griddepcontrol.wait");
  ASSERT_NE(wait, std::string::npos) << source;
  EXPECT_LT(source.find("attention.start("), wait);
  EXPECT_LT(wait, source.find("attention.run("));
  EXPECT_THAT(source, HasSubstr("const __grid_constant__ TensorMap map2"));
}

/// A scheduled module of attention in one kernel of hopper_attention.
std::string scheduledAttention(const std::string& parameters, int tiles = 8,
                               const char* feature = "sm_90a") {
  return absl::StrReplaceAll(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>,
      tenon.target = #tenon.target<"t", cuda, features = ["FEATURE"], {sms = 132 : i64}>} {
  func.func @f(%q: Q, %k: K, %v: K, %s: tensor<COUNTxi32>, %p: tensor<100xi32>) -> Q {
    %0 = tenon.kernel (%a = %q : Q, %b = %k : K, %c = %v : K, %d = %s : tensor<COUNTxi32>,
        %e = %p : tensor<100xi32>) -> Q
        schedule #tenon.schedule<"hopper_attention", tiles = TILES, {PARAMETERS}> {
      %y = tenon.attention %a, %b, %c, %d, %e scale 0.125
          : (Q, K, K, tensor<COUNTxi32>, tensor<100xi32>) -> Q
      tenon.yield %y : Q
    }
    return %0 : Q
  }
})",
      {{"FEATURE", feature},
       {"TILES", absl::StrFormat("%d", tiles)},
       {"PARAMETERS", parameters},
       {"Q", "tensor<100x8x64xf16>"},
       {"K", "tensor<1x512x2x64xf16>"}});
}

std::string attentionTile(int consumers, int heads, int keys, int stages, int queryStages) {
  return absl::StrFormat("consumers = %d : i64, heads_per_tile = %d : i64, keys_per_block = %d : "
                         "i64, stages = %d : i64, query_stages = %d : i64",
                         consumers, heads, keys, stages, queryStages);
}

TEST(CudaSource, RefusesAttentionThatWarpgroupsCannotHave) {
  const char* impossible = "expects a tile that warpgroups can have";
  auto one = [](std::string text) { return absl::StrReplaceAll(text, {{"COUNT", "1"}}); };
  std::string good = attentionTile(2, 4, 128, 2, 2);
  for (auto [text, message] :
       {std::pair(one(scheduledAttention(attentionTile(4, 4, 128, 2, 2))),
                  "expects 2 to 3 consumers, but got 4"),
        {one(scheduledAttention(attentionTile(2, 3, 128, 2, 2))), impossible},
        {one(scheduledAttention(attentionTile(3, 16, 128, 2, 2))), impossible},
        {one(scheduledAttention(attentionTile(2, 4, 120, 2, 2))), impossible},
        {one(scheduledAttention(attentionTile(2, 4, 272, 2, 2))), "keys_per_block, but got 272"},
        {one(scheduledAttention(attentionTile(2, 4, 128, 1, 2))), "stages, but got 1"},
        {one(scheduledAttention(attentionTile(2, 4, 128, 2, 3))), "query_stages, but got 3"},
        {one(scheduledAttention(attentionTile(2, 8, 128, 2, 2))),
         "expects heads_per_tile to divide the 4 query heads of a key head, but got 8"},
        {one(scheduledAttention(good, 9)),
         "expects at most a block for each of 8 tiles, but got 9"},
        {one(scheduledAttention(good, 8, "sm_90")), "expects sm_90a for the emitter"}}) {
    auto kernels = printText(text);
    ASSERT_FALSE(kernels.ok()) << message;
    EXPECT_THAT(std::string(kernels.status().message()), HasSubstr(message));
  }
  auto kernels = printText(one(scheduledAttention(good)));
  EXPECT_TRUE(kernels.ok()) << kernels.status();
}

TEST(CudaSource, RefusesOperandsOfScoresInAttentionByWarpgroups) {
  std::string text = absl::StrReplaceAll(
      scheduledAttention(attentionTile(2, 4, 128, 2, 2)),
      {{"COUNT", "1"},
       {"%p: tensor<100xi32>)", "%p: tensor<100xi32>, %m: tensor<8xf32>)"},
       {"%e = %p : tensor<100xi32>)", "%e = %p : tensor<100xi32>, %n = %m : tensor<8xf32>)"},
       {"%e scale", "%e sinks %n scale"},
       {"tensor<100xi32>) -> tensor<100x8x64xf16>\n      tenon.yield",
        "tensor<100xi32>, tensor<8xf32>) -> tensor<100x8x64xf16>\n      tenon.yield"}});
  auto kernels = printText(text);
  ASSERT_FALSE(kernels.ok()) << text;
  EXPECT_THAT(std::string(kernels.status().message()),
              HasSubstr("expects attention without bias, slopes and sinks for the emitter "
                        "hopper_attention"));
}

} // namespace
} // namespace tenon::testing
