// Sources of kernels of products, and schedules of such that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "SourceText.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace tenon::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The kernel of a norm before two products that a GLU joins.
absl::StatusOr<std::vector<codegen::CudaKernel>> printNormGateUp(int rows, int depth, int columns) {
  return printText(absl::StrReplaceAll(R"(
module attributes {tenon.phase = #tenon.phase<fused>} {
  func.func @f(%x: X, %g: tensor<DEPTHxf16>, %v: W, %w: W) -> Y {
    %0 = tenon.kernel (%a = %x : X, %b = %g : tensor<DEPTHxf16>, %c = %v : W, %d = %w : W) -> Y {
      %n = tenon.rms_norm %a, %b eps 1.0e-5 : (X, tensor<DEPTHxf16>) -> X
      %p = tenon.matmul %n, %c : (X, W) -> Y
      %q = tenon.matmul %n, %d : (X, W) -> Y
      %y = tenon.glu silu %p, %q : (Y, Y) -> Y
      tenon.yield %y : Y
    }
    return %0 : Y
  }
})",
                                       {{"X", absl::StrFormat("tensor<%dx%dxf16>", rows, depth)},
                                        {"W", absl::StrFormat("tensor<%dx%dxf16>", columns, depth)},
                                        {"Y", absl::StrFormat("tensor<%dx%dxf16>", rows, columns)},
                                        {"DEPTH", absl::StrFormat("%d", depth)}}));
}

TEST(CudaSource, OfProductsWithANormBeforeThemIsTheGoldenOne) {
  auto kernels = printNormGateUp(/*rows=*/1, /*depth=*/2048, /*columns=*/512);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ((*kernels)[0].source, golden("norm_gate_up.cu"));
}

/// Several rows, which the warps of a block hold.
TEST(CudaSource, OfProductsOfRowsThatWarpsHoldIsTheGoldenOne) {
  auto kernels = printNormGateUp(/*rows=*/16, /*depth=*/4096, /*columns=*/14336);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ((*kernels)[0].source, golden("held_norm_gate_up.cu")) << (*kernels)[0].source;
}

TEST(CudaSource, WeightsAreOnTheirWayBeforeTheKernelWaits) {
  auto kernels = printText(gemm);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  size_t start = source.find("ring.start<1>("), wait = source.find("griddepcontrol.wait");
  ASSERT_NE(start, std::string::npos);
  ASSERT_NE(wait, std::string::npos);
  EXPECT_LT(start, wait);
  EXPECT_LT(wait, source.find(", a0 + "));
}

TEST(CudaSource, AnActivationAsWeightIsReadBehindTheWait) {
  auto kernels = printText(R"(
func.func @f(%x: tensor<1x2048xf16>, %w: tensor<2048x2048xf16>) -> tensor<1x2048xf16> {
  %y = tenon.matmul %x, %w : (tensor<1x2048xf16>, tensor<2048x2048xf16>) -> tensor<1x2048xf16>
  return %y : tensor<1x2048xf16>
})");
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  size_t start = source.find("ring.start<1>(");
  ASSERT_NE(start, std::string::npos);
  EXPECT_LT(source.find("griddepcontrol.wait"), start);
}

/// What is widened where it is loaded is waited for there, and the loads after it with it.
TEST(CudaSource, LoadsInFrontOfAProductDoNotWaitForOneAnother) {
  auto kernels = printText(R"(
module attributes {tenon.phase = #tenon.phase<fused>} {
  func.func @f(%x: tensor<1x8192xbf16>, %w: tensor<2048x8192xbf16>, %r: tensor<1x2048xbf16>)
      -> tensor<1x2048xbf16> {
    %0 = tenon.kernel (%a = %x : tensor<1x8192xbf16>, %b = %w : tensor<2048x8192xbf16>,
                       %c = %r : tensor<1x2048xbf16>) -> tensor<1x2048xbf16> {
      %p = tenon.matmul %a, %b
          : (tensor<1x8192xbf16>, tensor<2048x8192xbf16>) -> tensor<1x2048xbf16>
      %y = tenon.add %p, %c
          : (tensor<1x2048xbf16>, tensor<1x2048xbf16>) -> tensor<1x2048xbf16>
      tenon.yield %y : tensor<1x2048xbf16>
    }
    return %0 : tensor<1x2048xbf16>
  }
})");
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  size_t residual = source.find("early0_a2 = *("), x = source.find("loadPacked(staged0"),
         stored = source.find("storePacked(input0"), loop = source.find("ring.take()"),
         widened = source.find("toFloat(early0_a2)");
  ASSERT_NE(widened, std::string::npos);
  EXPECT_LT(residual, x);
  EXPECT_LT(x, stored);
  EXPECT_LT(stored, loop);
  EXPECT_LT(loop, widened);
  EXPECT_EQ(source.find("toFloat"), widened);
}

/// A scheduled module: the product of a weight with a ring of four segments of 1,024 elements.
std::string ringed(const std::string& parameters) {
  return R"(module attributes {tenon.phase = #tenon.phase<scheduled>,
      tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  tenon.file @m "m.gguf" bytes 16777216 fingerprint 0
  tenon.weight @w : tensor<2048x2048xf16> from [#tenon.range<@m, offset = 0, bytes = 8388608>]
  func.func @f(%x: tensor<1x2048xf16>) -> tensor<1x2048xf16> {
    %w = tenon.get_weight @w : tensor<2048x2048xf16>
    %0 = tenon.kernel (%a = %x : tensor<1x2048xf16>, %b = %w : tensor<2048x2048xf16>)
        -> tensor<1x2048xf16> schedule #tenon.schedule<"gemv_bulk", tiles = 132,
             {threads = 512 : i64, vector = 8 : i64, stages = 4 : i64, )" +
         parameters + R"(}> {
      %y = tenon.matmul %a, %b order <chunk = 1024, lanes = 256, tree = halving>
          : (tensor<1x2048xf16>, tensor<2048x2048xf16>) -> tensor<1x2048xf16>
      tenon.yield %y : tensor<1x2048xf16>
    }
    return %0 : tensor<1x2048xf16>
  }
})";
}

TEST(CudaSource, ARingIsFilledBehindTheLoadsOfX) {
  auto kernels = printText(ringed("early = 3 : i64"));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  size_t start = source.find("ring.start<3>("), wait = source.find("griddepcontrol.wait"),
         x = source.find("loadPacked(staged0"), fill = source.find("ring.fill<3>("),
         stored = source.find("storePacked(input0");
  ASSERT_NE(start, std::string::npos);
  ASSERT_NE(stored, std::string::npos);
  EXPECT_LT(start, wait);
  EXPECT_LT(wait, x);
  EXPECT_LT(x, fill);
  EXPECT_LT(fill, stored);
}

TEST(CudaSource, RefusesARingThatStartsWithMoreThanItHolds) {
  auto kernels = printText(ringed("early = 5 : i64"));
  ASSERT_FALSE(kernels.ok());
  EXPECT_THAT(std::string(kernels.status().message()),
              HasSubstr("expects at most 4 early segments, but got 5"));
}

/// A part of x for all segments of a warp is loaded once, in front of them.
TEST(CudaSource, WarpsHoldTheirPartOfX) {
  auto kernels = printText(ringed("early = 1 : i64, held = 1 : i64"));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  size_t load = source.find("loadVector(held[step][h], x + step * 256"),
         loop = source.find("piece < pieces");
  ASSERT_NE(load, std::string::npos);
  ASSERT_NE(loop, std::string::npos);
  EXPECT_LT(load, loop);
  EXPECT_EQ(source.find("loadVector(", loop), std::string::npos);
}

TEST(CudaSource, RefusesBatchesOutsideTensorCores) {
  auto kernels = printText(ringed("batch = 2 : i64"));
  ASSERT_FALSE(kernels.ok());
  EXPECT_THAT(kernels.status().message(),
              HasSubstr("expects batches of 2 or 4 segments that one part of x belongs to, on "
                        "tensor cores, but got 2"));
}

TEST(CudaSource, RefusesToHoldPartsOfXThatSegmentsDoNotShare) {
  std::string text = ringed("early = 1 : i64, held = 1 : i64");
  for (auto [from, to] :
       {std::pair("threads = 512", "threads = 96"), {"chunk = 1024", "chunk = 768"}}) {
    auto kernels = printText(absl::StrReplaceAll(text, {{from, to}}));
    ASSERT_FALSE(kernels.ok()) << to;
    EXPECT_THAT(std::string(kernels.status().message()),
                HasSubstr("one whole part of x, at most 64 elements a thread"));
  }
}

/// A scheduled module: products of %h, which is made of %x, in one kernel of narrow_gemm.
std::string narrow(const std::string& input, const std::string& order, const char* stages) {
  return R"(module attributes {tenon.phase = #tenon.phase<scheduled>,
      tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  func.func @f(%x: tensor<4x256xf16>, %w: tensor<64x256xf16>) -> tensor<4x64xf16> {
    %0 = tenon.kernel (%a = %x : tensor<4x256xf16>, %b = %w : tensor<64x256xf16>)
        -> tensor<4x64xf16> schedule #tenon.schedule<"narrow_gemm", tiles = 4,
             {threads = 256 : i64, blocks_per_sm = 2 : i64, stages = )" +
         std::string(stages) + R"( : i64}> {
      )" +
         input + R"(
      %y = tenon.matmul %h, %b )" +
         order + R"( : (tensor<4x256xf16>, tensor<64x256xf16>) -> tensor<4x64xf16>
      tenon.yield %y : tensor<4x64xf16>
    }
    return %0 : tensor<4x64xf16>
  }
})";
}

TEST(CudaSource, RefusesNarrowProductsThatNoScheduleMakes) {
  const std::string norm = "%h = tenon.rms_norm %a eps 1.0e-5 ";
  const std::string types = " : (tensor<4x256xf16>) -> tensor<4x256xf16>";
  const std::string good = norm + "order <chunk = 0, lanes = 256, tree = halving>" + types;
  for (auto [text, message] :
       {std::pair(narrow(good, "", "9 : i64, tile_lines = 16"), "expects 1 to 8 stages, but got 9"),
        {narrow(good, "", "4 : i64, tile_lines = 17"), "expects 1 to 16 tile_lines, but got 17"},
        {narrow(good, "", "4 : i64, tile_lines = 16 : i64, held_pieces = 2"),
         "expects held_pieces of 0 or 1, but got 2"},
        {narrow(good, "order <chunk = 0, lanes = 256, tree = halving>", "4 : i64, tile_lines = 16"),
         "expects no order on tensor cores"},
        {narrow("%h = tenon.gelu %a" + types, "", "4 : i64, tile_lines = 16"),
         "inputs in memory, or norms of such"},
        {narrow(norm + "order <chunk = 0, lanes = 128, tree = halving>" + types, "",
                "4 : i64, tile_lines = 16"),
         "a power of two from 256 to 2048"}}) {
    auto kernels = printText(text);
    ASSERT_FALSE(kernels.ok()) << message;
    EXPECT_THAT(std::string(kernels.status().message()), HasSubstr(message));
  }
  for (const char* parameters :
       {"4 : i64, tile_lines = 16", "4 : i64, tile_lines = 16 : i64, held_pieces = 1"}) {
    auto kernels = printText(narrow(good, "", parameters));
    EXPECT_TRUE(kernels.ok()) << kernels.status();
  }
}

/// x is loaded where a tile has another input than the one before, in front of its products.
TEST(CudaSource, NarrowProductsHoldTheirInput) {
  const std::string norm =
      "%h = tenon.rms_norm %a eps 1.0e-5 order <chunk = 0, lanes = 256, tree = "
      "halving> : (tensor<4x256xf16>) -> tensor<4x256xf16>";
  auto kernels = printText(narrow(norm, "", "4 : i64, tile_lines = 16 : i64, held_pieces = 1"));
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const std::string& source = kernels->front().source;
  size_t other = source.find("held != 0"), load = source.find("stream.loadPieces(x, "),
         gemms = source.find("stream.multiply(sums[0], x, 256)");
  ASSERT_NE(gemms, std::string::npos) << source;
  EXPECT_LT(other, load);
  EXPECT_LT(load, gemms);
}

/// A scheduled module: products of %h, which is made of %x, in one kernel of held_gemm.
std::string held(const std::string& norm, const std::string& order, const char* parameters,
                 const char* feature = "sm_90a", const char* properties = "") {
  return absl::StrReplaceAll(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>,
      tenon.target = #tenon.target<"t", cuda, features = ["FEATURE"], {sms = 132 : i64PROPERTIES}>} {
  func.func @f(%x: tensor<4x4096xf16>, %w: tensor<64x4096xf16>) -> tensor<4x64xf16> {
    %0 = tenon.kernel (%a = %x : tensor<4x4096xf16>, %b = %w : tensor<64x4096xf16>)
        -> tensor<4x64xf16> schedule #tenon.schedule<"held_gemm", tiles = 8, {PARAMETERS}> {
      %h = NORM : (tensor<4x4096xf16>) -> tensor<4x4096xf16>
      %y = tenon.matmul %h, %b ORDER : (tensor<4x4096xf16>, tensor<64x4096xf16>) -> tensor<4x64xf16>
      tenon.yield %y : tensor<4x64xf16>
    }
    return %0 : tensor<4x64xf16>
  }
})",
      {{"FEATURE", feature},
       {"PROPERTIES", properties},
       {"PARAMETERS", parameters},
       {"NORM", norm},
       {"ORDER", order}});
}

/// A block of 512 threads, which asks for as many as there are.
TEST(CudaSource, StatesTheRegistersThatTheTargetHas) {
  for (auto [properties, registers] : {std::pair("", 255),
                                       {", registers_per_sm = 65536 : i64", 128},
                                       {", registers_per_sm = 32768 : i64", 64},
                                       {", registers_per_sm = 1 : i64", 8}}) {
    auto kernels = printText(
        held("tenon.rms_norm %a eps 1.0e-5 order <chunk = 256, lanes = 256, tree = halving>", "",
             "threads = 512 : i64, stages = 4 : i64, tile_lines = 8 : i64", "sm_90a", properties));
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    EXPECT_EQ(kernels->front().stated.registers, registers) << properties;
  }
}

TEST(CudaSource, RefusesHeldProductsThatNoScheduleMakes) {
  const std::string norm = "tenon.rms_norm %a eps 1.0e-5 order ";
  const std::string good = norm + "<chunk = 256, lanes = 256, tree = halving>";
  const char* parameters = "threads = 512 : i64, stages = 4 : i64, tile_lines = 8 : i64";
  for (auto [text, message] :
       {std::pair(held(good, "", "threads = 512 : i64, stages = 17 : i64, tile_lines = 8 : i64"),
                  "expects 1 to 16 stages"),
        {held(good, "", "threads = 512 : i64, stages = 4 : i64, tile_lines = 33 : i64"),
         "expects 1 to 32 tile_lines, but got 33"},
        {held(good, "", "threads = 256 : i64, stages = 4 : i64, tile_lines = 8 : i64"),
         "expects 512 threads, a warp a slice of 256 elements, but got 256"},
        {held(good, "order <chunk = 0, lanes = 256, tree = halving>", parameters),
         "expects no order on tensor cores"},
        {held("tenon.gelu %a", "", parameters), "inputs in memory of the weights' type"},
        {held(norm + "<chunk = 512, lanes = 256, tree = halving>", "", parameters),
         "an order of chunks of 256 lanes"},
        {held(good, "", parameters, "sm_80"), "expects sm_90 or later"}}) {
    auto kernels = printText(text);
    ASSERT_FALSE(kernels.ok()) << message;
    EXPECT_THAT(std::string(kernels.status().message()), HasSubstr(message));
  }
  auto kernels = printText(held(good, "", parameters));
  EXPECT_TRUE(kernels.ok()) << kernels.status();
}

} // namespace
} // namespace tenon::testing
