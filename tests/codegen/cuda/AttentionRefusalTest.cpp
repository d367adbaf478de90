// What emitters of attention, of heads and of cache writes refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "Refusals.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tests/codegen/cuda/SourceText.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::testing {
namespace {

using ::tenon::tests::FailsWith;
using ::testing::HasSubstr;

/// Attention of %a to caches %b and %c of one or more sequences.
std::string attention(int rows, int sequences) {
  return absl::StrFormat(
      "%%r = tenon.attention %%a, %%b, %%c, %%d, %%e scale 0.125 : (tensor<%dx8x64xf16>, "
      "tensor<%dx128x2x64xf16>, tensor<%dx128x2x64xf16>, tensor<%dxi32>, tensor<%dxi32>) -> "
      "tensor<%dx8x64xf16>",
      rows, sequences, sequences, sequences, rows, rows);
}
/// The same with its weights, `%n`.
std::string attentionWithWeights(int rows) {
  std::string weights = f16({8, rows, 128}), text = attention(rows, 1);
  size_t result = text.rfind(f16({rows, 8, 64}));
  text.replace(result, std::string::npos, "(" + f16({rows, 8, 64}) + ", " + weights + ")");
  return "%r, %n" + text.substr(2);
}
std::vector<std::string> attentionTypes(int rows, int sequences) {
  std::string cache = f16({sequences, 128, 2, 64});
  return {f16({rows, 8, 64}), cache, cache, absl::StrCat("tensor<", sequences, "xi32>"),
          absl::StrCat("tensor<", rows, "xi32>")};
}

INSTANTIATE_TEST_SUITE_P(
    Attention, CudaRefusals,
    ::testing::Values(
        Refusal{"HeadsPerTile",
                "tensor_decode_attention",
                "tiles = 8, {threads = 128 : i64, heads_per_tile = 3 : i64, splits = 1 : i64, "
                "blocks_per_sm = 1 : i64}",
                attentionTypes(1, 1),
                {f16({1, 8, 64})},
                attention(1, 1),
                "expects heads_per_tile of at most 8 that divides the 4 query heads of a key head, "
                "but got 3"},
        Refusal{"Splits",
                "decode_attention",
                "tiles = 8, {threads = 128 : i64, heads_per_tile = 4 : i64, splits = 5000 : i64, "
                "keys_per_block = 32 : i64}",
                attentionTypes(1, 1),
                {f16({1, 8, 64})},
                attention(1, 1),
                "expects 1 to 4096 splits, but got 5000"},
        Refusal{"SplitsOfWeights",
                "decode_attention",
                "tiles = 4, {threads = 128 : i64, heads_per_tile = 4 : i64, splits = 2 : i64, "
                "keys_per_block = 32 : i64}",
                attentionTypes(1, 1),
                {f16({1, 8, 64}), f16({8, 1, 128})},
                attentionWithWeights(1),
                "expects one part of a row's keys where the weights are a result, but got splits "
                "of 2"},
        Refusal{"WeightsFromTensorCores",
                "tensor_decode_attention",
                "tiles = 2, {threads = 128 : i64, heads_per_tile = 4 : i64, splits = 1 : i64, "
                "blocks_per_sm = 1 : i64}",
                attentionTypes(1, 1),
                {f16({1, 8, 64}), f16({8, 1, 128})},
                attentionWithWeights(1),
                "expects an emitter that writes every result, but tensor_decode_attention leaves "
                "out result #1"},
        Refusal{"DecodeOfNoAttention",
                "tensor_decode_attention",
                "tiles = 8, {threads = 128 : i64, heads_per_tile = 4 : i64, splits = 1 : i64}",
                {f16({4, 256})},
                {f16({4, 256})},
                exponential,
                "cannot hold exp"},
        Refusal{"DecodeOfHeadsAlone",
                "tensor_decode_attention",
                "tiles = 8, {threads = 128 : i64, heads_per_tile = 4 : i64, splits = 1 : i64}",
                {f16({1, 8, 64}), "tensor<1xi32>", "tensor<32xf32>"},
                {f16({1, 8, 64})},
                "%r = tenon.rope halves %a, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, "
                "tensor<32xf32>) -> tensor<1x8x64xf16>",
                "the emitter of attention has none here"},
        Refusal{"PrefillRowTiles",
                "tensor_prefill_attention",
                "tiles = 8, {threads = 128 : i64, row_tiles = 3 : i64, keys_per_block = 64 : i64, "
                "blocks_per_sm = 1 : i64}",
                attentionTypes(32, 1),
                {f16({32, 8, 64})},
                attention(32, 1),
                "expects 1 to 2 row_tiles, but got 3"},
        Refusal{"PrefillKeys",
                "tensor_prefill_attention",
                "tiles = 8, {threads = 128 : i64, row_tiles = 1 : i64, keys_per_block = 40 : i64, "
                "blocks_per_sm = 1 : i64}",
                attentionTypes(32, 1),
                {f16({32, 8, 64})},
                attention(32, 1),
                "expects keys_per_block of 16, 32, 48 or 64, but got 40"},
        Refusal{"HeadsOfNoHeads",
                "heads",
                "tiles = 1, {threads = 128 : i64}",
                {f16({4, 256})},
                {f16({4, 256})},
                exponential,
                "cannot hold exp"},
        Refusal{"HeadRowsOfNorms",
                "head_rows",
                "tiles = 1, {threads = 128 : i64, vector = 8 : i64}",
                {f16({1, 8, 64}), "tensor<1xi32>", "tensor<32xf32>"},
                {f16({1, 8, 64})},
                "%n = tenon.rms_norm %a eps 1.0e-5 order <chunk = 0, lanes = 32, tree = halving> : "
                "(tensor<1x8x64xf16>) -> tensor<1x8x64xf16>\n"
                "%r = tenon.rope halves %n, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, "
                "tensor<32xf32>) -> tensor<1x8x64xf16>",
                "expects chains of one number of rows, without a norm, a Hadamard transform and "
                "caches of quants, in vectors of two elements and more for the emitter head_rows"},
        Refusal{"RopeHeads",
                "rope",
                "tiles = 8, {threads = 128 : i64, heads_per_thread = 3 : i64}",
                {f16({1, 8, 64}), "tensor<1xi32>", "tensor<32xf32>"},
                {f16({1, 8, 64})},
                "%r = tenon.rope halves %a, %b, %c : (tensor<1x8x64xf16>, tensor<1xi32>, "
                "tensor<32xf32>) -> tensor<1x8x64xf16>",
                "expects heads_per_thread to divide 8 heads, but got 3"},
        Refusal{"RopeThreads",
                "tensor_decode_attention",
                "tiles = 2, {threads = 32 : i64, heads_per_tile = 4 : i64, splits = 1 : i64, "
                "blocks_per_sm = 1 : i64}",
                {f16({1, 8, 128}), f16({1, 128, 2, 128}), f16({1, 128, 2, 128}), "tensor<1xi32>",
                 "tensor<1xi32>", "tensor<64xf32>"},
                {f16({1, 8, 128})},
                "%q = tenon.rope halves %a, %e, %f : (tensor<1x8x128xf16>, tensor<1xi32>, "
                "tensor<64xf32>) -> tensor<1x8x128xf16>\n"
                "%r = tenon.attention %q, %b, %c, %d, %e scale 0.125 : (tensor<1x8x128xf16>, "
                "tensor<1x128x2x128xf16>, tensor<1x128x2x128xf16>, tensor<1xi32>, tensor<1xi32>) "
                "-> tensor<1x8x128xf16>",
                "expects a thread for each of the 64 pairs that rope turns, but got 32"}),
    nameOf);

/// A write to a state, which cannot be made by a test's function of tensors alone.
std::string writeOfVectors(const std::string& state) {
  return absl::StrReplaceAll(R"(
module attributes {tenon.phase = #tenon.phase<scheduled>,
    tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  tenon.state @k : STATE
  func.func @f(%x: tensor<1x2x8xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) {
    %k = tenon.get_state @k : STATE
    %0 = tenon.kernel (%a = %x : tensor<1x2x8xf16>, %b = %s : tensor<1xi32>,
                       %c = %p : tensor<1xi32>, %d = %k : STATE) -> STATE
        schedule #tenon.schedule<"kv_write", tiles = 1, {threads = 32 : i64, vector = 3 : i64}> {
      %r = tenon.kv_write %a, %b, %c into %d
          : (tensor<1x2x8xf16>, tensor<1xi32>, tensor<1xi32>, STATE) -> STATE
      tenon.yield %r : STATE
    }
    return
  }
})",
                             {{"STATE", state}});
}

TEST(CudaRefusal, OfAVectorThatDoesNotDivideARow) {
  EXPECT_THAT(printText(writeOfVectors("!tenon.state<1x16x2x8xf16>")),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        HasSubstr("expects a vector of 2, 4, 8 or 16 bytes that divides a row, but "
                                  "got 3")));
  EXPECT_THAT(printText(writeOfVectors("!tenon.state<1x16x2x8x!tenon.block<int8_h8>>")),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        HasSubstr("expects a vector of 1 for rows that are encoded, but got 3")));
}

TEST(CudaRefusal, OfRingsOnTensorCores) {
  constexpr const char* text = R"(
module attributes {tenon.phase = #tenon.phase<scheduled>,
    tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  tenon.state @k : !tenon.state<1x64x2x64xf16, ring<4>>
  func.func @f(%q: tensor<3x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x2x64xf16> {
    %k = tenon.get_state @k : !tenon.state<1x64x2x64xf16, ring<4>>
    %0 = tenon.kernel (%a = %q : tensor<3x2x64xf16>,
                       %b = %k : !tenon.state<1x64x2x64xf16, ring<4>>, %c = %s : tensor<1xi32>,
                       %d = %p : tensor<1xi32>) -> tensor<1x2x64xf16>
        schedule #tenon.schedule<"tensor_decode_attention", tiles = 2, {threads = 128 : i64,
            heads_per_tile = 1 : i64, blocks_per_sm = 1 : i64, splits = 1 : i64}> {
      %r = tenon.attention %a, %b, %b, %c, %d scale 0.125 {window = 60 : i64}
          : (tensor<3x2x64xf16>, !tenon.state<1x64x2x64xf16, ring<4>>,
             !tenon.state<1x64x2x64xf16, ring<4>>, tensor<1xi32>, tensor<1xi32>)
          -> tensor<1x2x64xf16>
      tenon.yield %r : tensor<1x2x64xf16>
    }
    return %0 : tensor<1x2x64xf16>
  }
})";
  EXPECT_THAT(printText(text),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        HasSubstr("expects caches in the layout dense or paged for an emitter on "
                                  "tensor cores, but got")));
}

TEST(CudaRefusal, OfQuantsInRingsAndWhereAttentionWritesThem) {
  constexpr const char* text = R"(
module attributes {tenon.phase = #tenon.phase<scheduled>,
    tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  tenon.state @k : STATE
  tenon.state @v : STATE
  func.func @f(%q: tensor<1x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>) -> tensor<1x2x64xf16> {
    %k = tenon.get_state @k : STATE
    %v = tenon.get_state @v : STATE
    %0:3 = tenon.kernel (%a = %q : tensor<1x2x64xf16>, %b = %k : STATE, %e = %v : STATE,
                         %c = %s : tensor<1xi32>, %d = %p : tensor<1xi32>)
        -> (tensor<1x2x64xf16>, STATE, STATE)
        schedule #tenon.schedule<"tensor_decode_attention", tiles = 2, {threads = 128 : i64,
            heads_per_tile = 1 : i64, blocks_per_sm = 1 : i64, splits = 1 : i64SETS}> {
      WRITES
      %r = tenon.attention %a, %x, %y, %c, %d scale 0.125
          : (tensor<1x2x64xf16>, STATE, STATE, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x64xf16>
      tenon.yield %r, %x, %y : tensor<1x2x64xf16>, STATE, STATE
    }
    return %0#0 : tensor<1x2x64xf16>
  }
})";
  const std::string writes = R"(
      %x = tenon.kv_write %a, %c, %d into %b
          : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, STATE) -> STATE
      %y = tenon.kv_write %a, %c, %d into %e
          : (tensor<1x2x64xf16>, tensor<1xi32>, tensor<1xi32>, STATE) -> STATE)";
  const std::string state = "!tenon.state<1x64x2x64x!tenon.block<int8_h64>>";
  for (const auto& [sets, message] :
       {std::pair{", sets = 2 : i64", "expects quants in a ring, but got"},
        {", stages = 1 : i64",
         "expects caches of plain elements where attention writes them, but got"}}) {
    std::string module = absl::StrReplaceAll(text, {{"WRITES", writes}, {"SETS", sets}});
    EXPECT_THAT(printText(absl::StrReplaceAll(module, {{"STATE", state}})),
                FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(CudaRefusal, OfVectorsOfTwoHeads) {
  constexpr const char* text = R"(
module attributes {tenon.phase = #tenon.phase<scheduled>,
    tenon.target = #tenon.target<"t", cuda, features = ["sm_90a"], {sms = 132 : i64}>} {
  tenon.state @k : STATE
  func.func @f(%x: tensor<1x2x64xf16>, %s: tensor<1xi32>, %p: tensor<1xi32>, %t: tensor<1x4xi32>)
      -> tensor<1x2x64xf16> {
    %k = tenon.get_state @k : STATE
    %0 = tenon.kernel (%a = %x : tensor<1x2x64xf16>,
                       %b = %k : STATE, %c = %s : tensor<1xi32>,
                       %d = %p : tensor<1xi32>, %e = %t : tensor<1x4xi32>) -> STATE
        schedule #tenon.schedule<"kv_write", tiles = 1, {threads = 32 : i64, vector = 128 : i64}> {
      %r = tenon.kv_write %a, %c, %d into %b block_table %e : (tensor<1x2x64xf16>, tensor<1xi32>,
          tensor<1xi32>, STATE, tensor<1x4xi32>) -> STATE
      tenon.yield %r : STATE
    }
    return %x : tensor<1x2x64xf16>
  }
})";
  EXPECT_THAT(
      printText(absl::StrReplaceAll(text, {{"STATE", "!tenon.state<4x2x16x64xf16, paged<16>>"}})),
      FailsWith(absl::StatusCode::kInvalidArgument,
                HasSubstr("expects a vector of 2, 4, 8 or 16 bytes that divides a head, "
                          "but got 128")));
}

} // namespace
} // namespace tenon::testing
