// What decode attention on tensor cores makes of its schedule, without a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/codegen/cuda/SourceText.h"

namespace tenon::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// One row of 32 heads of 64, of 1,024 keys of 8 heads.
std::string scheduled(const std::string& parameters, int tiles) {
  return absl::StrReplaceAll(R"(
module attributes {tenon.phase = #tenon.phase<scheduled>,
    tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  func.func @f(%q: tensor<1x32x64xf16>, %k: tensor<1x1024x8x64xf16>, %v: tensor<1x1024x8x64xf16>,
               %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x32x64xf16> {
    %0 = tenon.kernel (%a = %q : tensor<1x32x64xf16>, %b = %k : tensor<1x1024x8x64xf16>,
                       %c = %v : tensor<1x1024x8x64xf16>, %d = %s : tensor<1xi32>,
                       %e = %p : tensor<1xi32>) -> tensor<1x32x64xf16>
        schedule #tenon.schedule<"tensor_decode_attention", tiles = TILES, {threads = 256 : i64,
            heads_per_tile = 4 : i64, blocks_per_sm = 2 : i64, PARAMETERS}> {
      %y = tenon.attention %a, %b, %c, %d, %e scale 0.125
          : (tensor<1x32x64xf16>, tensor<1x1024x8x64xf16>, tensor<1x1024x8x64xf16>, tensor<1xi32>,
             tensor<1xi32>) -> tensor<1x32x64xf16>
      tenon.yield %y : tensor<1x32x64xf16>
    }
    return %0 : tensor<1x32x64xf16>
  }
})",
                             {{"PARAMETERS", parameters}, {"TILES", absl::StrCat(tiles)}});
}

TEST(CudaDecodeAttention, RefusesSchedulesThatItCannotObey) {
  struct Refusal {
    const char* parameters;
    int tiles;
    const char* message;
  };
  for (const Refusal& refusal : std::vector<Refusal>{
           {"splits = 4 : i64, cluster_blocks = 2 : i64", 32,
            "expects cluster_blocks to be the 4 splits, at most 16, on sm_90 or later, but got 2"},
           {"splits = 4 : i64, cluster_blocks = 4 : i64, least_keys = 64 : i64", 32,
            "expects no least_keys of parts that a cluster combines, but got 64"},
           {"splits = 4 : i64, run_bytes = 128 : i64", 32,
            "expects run_bytes of 256 or none, but got 128"},
           {"splits = 4 : i64", 16,
            "expects 32 tiles for the parameters of its schedule, but got 16"}}) {
    auto kernels = printText(scheduled(refusal.parameters, refusal.tiles));
    ASSERT_FALSE(kernels.ok()) << refusal.message;
    EXPECT_THAT(std::string(kernels.status().message()), HasSubstr(refusal.message));
  }
}

/// The bias is what the region makes of the queries.
TEST(CudaDecodeAttention, RefusesABiasThatItsRegionMakes) {
  auto kernels = printText(R"(
module attributes {tenon.phase = #tenon.phase<scheduled>,
    tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  func.func @f(%q: tensor<1x1x64xf16>, %k: tensor<1x64x1x64xf16>, %s: tensor<1xi32>,
               %p: tensor<1xi32>, %f: tensor<32xf32>) -> tensor<1x1x64xf16> {
    %0 = tenon.kernel (%a = %q : tensor<1x1x64xf16>, %b = %k : tensor<1x64x1x64xf16>,
                       %d = %s : tensor<1xi32>, %e = %p : tensor<1xi32>, %g = %f : tensor<32xf32>)
        -> tensor<1x1x64xf16>
        schedule #tenon.schedule<"tensor_decode_attention", tiles = 1, {threads = 256 : i64,
            heads_per_tile = 1 : i64, blocks_per_sm = 2 : i64, splits = 1 : i64}> {
      %t = tenon.rope halves %a, %e, %g : (tensor<1x1x64xf16>, tensor<1xi32>, tensor<32xf32>)
          -> tensor<1x1x64xf16>
      %y = tenon.attention %t, %b, %b, %d, %e bias %t scale 0.125
          : (tensor<1x1x64xf16>, tensor<1x64x1x64xf16>, tensor<1x64x1x64xf16>, tensor<1xi32>,
             tensor<1xi32>, tensor<1x1x64xf16>) -> tensor<1x1x64xf16>
      tenon.yield %y : tensor<1x1x64xf16>
    }
    return %0 : tensor<1x1x64xf16>
  }
})");
  ASSERT_FALSE(kernels.ok());
  EXPECT_THAT(std::string(kernels.status().message()),
              HasSubstr("the emitter of attention reads bias, slopes and sinks from memory"));
}

TEST(CudaDecodeAttention, LoadsAsItsScheduleSays) {
  auto sourceOf = [](const char* parameters) {
    auto kernels = printText(scheduled(parameters, 32));
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    return kernels.ok() ? kernels->front().source : "";
  };
  EXPECT_THAT(sourceOf("splits = 4 : i64"),
              AllOf(HasSubstr("sets = 1, stages = 0;"), HasSubstr("runBytes = 0;")));
  EXPECT_THAT(sourceOf("splits = 4 : i64, sets = 2 : i64, run_bytes = 256 : i64"),
              AllOf(HasSubstr("sets = 2, stages = 0;"), HasSubstr("runBytes = 256;")));
  EXPECT_THAT(sourceOf("splits = 4 : i64, stages = 3 : i64"),
              AllOf(HasSubstr("sets = 1, stages = 3;"), HasSubstr("runBytes = 0;")));
}

/// A step of one row of 8 heads, which turns queries and keys by the positions, or queries alone.
std::string step(bool turnsKeys) {
  std::string turned = R"(
  %kt = tenon.rope halves %k, %p, %f : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>)
      -> tensor<1x8x64xf16>)";
  return absl::StrReplaceAll(
      R"(
tenon.state @k : !tenon.state<1x1024x8x64xf16>
tenon.state @v : !tenon.state<1x1024x8x64xf16>
func.func @f(%q: tensor<1x8x64xf16>, %k: tensor<1x8x64xf16>, %v: tensor<1x8x64xf16>,
             %s: tensor<1xi32>, %p: tensor<1xi32>, %f: tensor<32xf32>) -> tensor<1x8x64xf16> {
  %k0 = tenon.get_state @k : !tenon.state<1x1024x8x64xf16>
  %v0 = tenon.get_state @v : !tenon.state<1x1024x8x64xf16>
  %qt = tenon.rope halves %q, %p, %f : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<32xf32>)
      -> tensor<1x8x64xf16>TURNED
  %k1 = tenon.kv_write KEY, %s, %p into %k0
      : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x1024x8x64xf16>)
      -> !tenon.state<1x1024x8x64xf16>
  %v1 = tenon.kv_write %v, %s, %p into %v0
      : (tensor<1x8x64xf16>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x1024x8x64xf16>)
      -> !tenon.state<1x1024x8x64xf16>
  %y = tenon.attention %qt, %k1, %v1, %s, %p scale 0.125
      : (tensor<1x8x64xf16>, !tenon.state<1x1024x8x64xf16>, !tenon.state<1x1024x8x64xf16>,
         tensor<1xi32>, tensor<1xi32>) -> tensor<1x8x64xf16>
  return %y : tensor<1x8x64xf16>
})",
      {{"TURNED", turnsKeys ? turned : ""}, {"KEY", turnsKeys ? "%kt" : "%k"}});
}

TEST(CudaDecodeAttention, TakesTheKeyAsItsQueriesWhereBothAreTurnedAlike) {
  for (bool turnsKeys : {true, false}) {
    auto kernels = printText(step(turnsKeys), "h200", /*stamps=*/false, passes::Plan::Fused);
    ASSERT_TRUE(kernels.ok()) << kernels.status();
    ASSERT_EQ(kernels->size(), 1u);
    const std::string& source = kernels->front().source;
    EXPECT_THAT(source, HasSubstr("query0.load("));
    if (turnsKeys)
      EXPECT_THAT(source, Not(HasSubstr("newKey.load(")));
    else
      EXPECT_THAT(source, HasSubstr("newKey.load("));
  }
}

/// What of `text` comes before its first `end`.
std::string before(const std::string& text, const std::string& end) {
  return text.substr(0, text.find(end));
}

/// Behind a kernel that writes the caches old keys are asked for before the wait, the row's own after
/// it; where that kernel writes at other positions, or another one has written before it, all after it.
TEST(CudaDecodeAttention, AsksForOldKeysBeforeItWaits) {
  std::string text =
      absl::StrReplaceAll(step(/*turnsKeys=*/true), {{"tensor<1x8x64", "tensor<32x8x128"},
                                                     {"state<1x1024x8x64", "state<32x1024x8x128"},
                                                     {"tensor<1xi32>", "tensor<32xi32>"},
                                                     {"tensor<32xf32>", "tensor<64xf32>"}});
  auto attentionOf = [](const std::string& text) {
    auto kernels = printText(text, "h200", /*stamps=*/false, passes::Plan::Unfused);
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    return kernels.ok() ? kernels->back().source : "";
  };
  const char* wait = "griddepcontrol.wait";
  std::string source = attentionOf(text);
  EXPECT_THAT(before(source, wait), HasSubstr("firstWritten<32>("));
  EXPECT_THAT(before(source, wait), Not(HasSubstr("bringLast")));
  EXPECT_THAT(source, HasSubstr("bringLast"));

  std::string elsewhere = absl::StrReplaceAll(
      text, {{"%s: tensor<32xi32>, %p", "%s: tensor<32xi32>, %o: tensor<32xi32>, %p"},
             {"kv_write %v, %s, %p", "kv_write %v, %s, %o"}});
  std::string twice =
      absl::StrReplaceAll(text, {{"%y =", R"(%v2 = tenon.kv_write %v, %s, %p into %v1
      : (tensor<32x8x128xf16>, tensor<32xi32>, tensor<32xi32>, !tenon.state<32x1024x8x128xf16>)
      -> !tenon.state<32x1024x8x128xf16>
  %y =)"},
                                 {"%k1, %v1, %s", "%k1, %v2, %s"}});
  for (const std::string& other : {elsewhere, twice})
    EXPECT_THAT(before(attentionOf(other), "kernel.start"), HasSubstr(wait));
}

} // namespace
} // namespace tenon::testing
