// What emitters of experts, of their choice and of their sums refuse.
#include <gtest/gtest.h>

#include "Refusals.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tenon::testing {
namespace {

/// Products with 2 of 4 experts [8, k] of one row, as `result`.
std::string experts(const char* result, int k, const char* order) {
  return absl::StrFormat("%s = tenon.expert_matmul %%a, %%b, %%c order <%s, tree = halving> : "
                         "(tensor<1x%dxf16>, tensor<4x8x%dxf16>, tensor<1x2xi32>) -> "
                         "tensor<1x2x8xf16>\n",
                         result, order, k, k);
}
std::vector<std::string> expertTypes(int k) {
  return {f16({1, k}), f16({4, 8, k}), "tensor<1x2xi32>", f16({1, 2})};
}

/// The same of `columns` rows of `weight`, in the order of tensor cores.
std::string quantExperts(const char* result, const char* weight, int columns, int k,
                         const char* tree = "tensor_cores") {
  return absl::StrFormat("%s = tenon.expert_matmul %%a, %%b, %%c order <chunk = 0, lanes = 256, "
                         "tree = %s> : (tensor<1x%dxf16>, tensor<4x%dx%dx%s>, tensor<1x2xi32>) "
                         "-> tensor<1x2x%dxf16>\n",
                         result, tree, k, columns, k, weight, columns);
}
/// The same in no order.
std::string slicedExperts(const char* weight, int columns, int k) {
  return absl::StrFormat("%%r = tenon.expert_matmul %%a, %%b, %%c : (tensor<1x%dxf16>, "
                         "tensor<4x%dx%dx%s>, tensor<1x2xi32>) -> tensor<1x2x%dxf16>\n",
                         k, columns, k, weight, columns);
}
std::vector<std::string> quantExpertTypes(const char* weight, int columns, int k) {
  return {f16({1, k}), absl::StrFormat("tensor<4x%dx%dx%s>", columns, k, weight), "tensor<1x2xi32>",
          f16({1, 2})};
}

/// 4 of 64 experts, as %r and %n; their shares are divided by a sum in an order, if it is not empty.
std::string choice(const char* order, std::string_view orderOfSum) {
  std::string text = absl::StrFormat(
      "%%s = tenon.softmax %%a order <%s, tree = halving> : (tensor<1x64xf32>) -> "
      "tensor<1x64xf32>\n"
      "%%%s, %%n = tenon.top_k %%s k 4 : (tensor<1x64xf32>) -> (tensor<1x4xf32>, tensor<1x4xi32>)",
      order, orderOfSum.empty() ? "r" : "v");
  if (!orderOfSum.empty())
    absl::StrAppendFormat(&text,
                          "\n%%t = tenon.reduce sum %%v order <%s, tree = halving> : "
                          "(tensor<1x4xf32>) -> tensor<1x1xf32>\n"
                          "%%r = tenon.div %%v, %%t : (tensor<1x4xf32>, tensor<1x1xf32>) -> "
                          "tensor<1x4xf32>",
                          orderOfSum);
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    Experts, CudaRefusals,
    ::testing::Values(
        Refusal{"ExpertsInVectors",
                "expert_gemv",
                "tiles = 4, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64}",
                expertTypes(100),
                {f16({1, 2, 8})},
                experts("%r", 100, "chunk = 0, lanes = 256"),
                "expects a vector of a power of two that divides the depth of the experts, but got "
                "8"},
        Refusal{"ExpertsInOrder",
                "expert_gemv",
                "tiles = 4, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64}",
                expertTypes(512),
                {f16({1, 2, 8})},
                experts("%r", 512, "chunk = 256, lanes = 256"),
                "expects an order of one chunk in 256 lanes that halve, but got"},
        Refusal{"ExpertsInRegisters",
                "expert_gemv",
                "tiles = 4, {threads = 32 : i64, vector = 8 : i64, columns_per_warp = 8 : i64, "
                "pairs_at_once = 4 : i64}",
                expertTypes(256),
                {f16({1, 2, 8})},
                experts("%r", 256, "chunk = 0, lanes = 256"),
                "pairs_at_once, columns_per_warp and vector that fit into registers"},
        Refusal{"ExpertsOfEitherKind",
                "expert_gemv",
                "tiles = 2, {threads = 64 : i64, vector = 8 : i64, columns_per_warp = 4 : i64, "
                "pairs_at_once = 2 : i64}",
                expertTypes(256),
                {f16({1, 8})},
                experts("%n", 256, "chunk = 0, lanes = 256") +
                    "%r = tenon.weighted_sum %n, %d : (tensor<1x2x8xf16>, tensor<1x2xf16>) -> "
                    "tensor<1x8xf16>",
                "expects no pairs_at_once beside a weighted sum or a choice of experts, but "
                "got 2"},
        Refusal{"ExpertsOfTensorCoresInOrder",
                "expert_gemv",
                "tiles = 4, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64, "
                "stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 256),
                {f16({1, 2, 8})},
                quantExperts("%r", "!tenon.block<q4_k>", 8, 256, "halving"),
                "expects an order of one chunk in 256 lanes of tensor cores, but got"},
        Refusal{"ExpertsInStagesEarlier",
                "expert_gemv",
                "tiles = 4, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64, "
                "stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 256),
                {f16({1, 2, 8})},
                quantExperts("%r", "!tenon.block<q4_k>", 8, 256),
                "expects sm_90 or later for stages of the emitter expert_gemv",
                "sm_80"},
        Refusal{"ExpertsTooLongForStages",
                "expert_gemv",
                "tiles = 4, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64, "
                "stages = 1 : i64}",
                expertTypes(2304),
                {f16({1, 2, 8})},
                experts("%r", 2304, "chunk = 0, lanes = 256"),
                "expects whole lanes of at most 2048 elements or, of weights in blocks, inputs of "
                "16 bits of at most 4096 beside stages, but got 2304"},
        Refusal{"ExpertsOfBlocksTooLongForStages",
                "expert_gemv",
                "tiles = 4, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64, "
                "stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 4352),
                {f16({1, 2, 8})},
                quantExperts("%r", "!tenon.block<q4_k>", 8, 4352),
                "beside stages, but got 4352"},
        Refusal{"ExpertsInStagesForManyPairs",
                "expert_gemv",
                "tiles = 4, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64, "
                "stages = 1 : i64, pairs_at_once = 2 : i64}",
                expertTypes(256),
                {f16({1, 2, 8})},
                experts("%r", 256, "chunk = 0, lanes = 256"),
                "expects no pairs_at_once beside stages, but got 2"},
        Refusal{"ExpertsOfOddRowsInStages",
                "expert_gemv",
                "tiles = 4, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64, "
                "stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q6_k>", 8, 256),
                {f16({1, 2, 8})},
                quantExperts("%r", "!tenon.block<q6_k>", 8, 256),
                "expects the rows of a warp and of an expert to be multiples of 16 bytes beside "
                "stages, but got rows of 210"},
        Refusal{"ExpertsOfARowInStages",
                "expert_gemv",
                "tiles = 1, {threads = 96 : i64, vector = 8 : i64, columns_per_warp = 8 : i64, "
                "stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 256),
                {f16({1, 8})},
                quantExperts("%n", "!tenon.block<q4_k>", 8, 256) +
                    "%r = tenon.weighted_sum %n, %d : (tensor<1x2x8xf16>, tensor<1x2xf16>) -> "
                    "tensor<1x8xf16>",
                "expects as many warps as a row has experts, or a multiple, beside stages, but got "
                "3"},
        Refusal{"SlicesEarlier",
                "expert_slices",
                "tiles = 2, {threads = 32 : i64, columns = 16 : i64, stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 256),
                {f16({1, 2, 8})},
                slicedExperts("!tenon.block<q4_k>", 8, 256),
                "expects sm_90 or later for the emitter expert_slices",
                "sm_80"},
        Refusal{"SlicesInOrder",
                "expert_slices",
                "tiles = 2, {threads = 32 : i64, columns = 16 : i64, stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 256),
                {f16({1, 2, 8})},
                quantExperts("%r", "!tenon.block<q4_k>", 8, 256),
                "expects no order for the emitter expert_slices, but got"},
        Refusal{"SlicesOfOtherBlocks",
                "expert_slices",
                "tiles = 2, {threads = 32 : i64, columns = 16 : i64, stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q8_0>", 8, 256),
                {f16({1, 2, 8})},
                slicedExperts("!tenon.block<q8_0>", 8, 256),
                "expert_slices takes weights of q4_k and inputs of 16 bits"},
        Refusal{"SlicesOfOddColumns",
                "expert_slices",
                "tiles = 2, {threads = 32 : i64, columns = 16 : i64, stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 12, 256),
                {f16({1, 2, 12})},
                slicedExperts("!tenon.block<q4_k>", 12, 256),
                "expert_slices takes columns in eights, but the region has 12"},
        Refusal{"SlicesInGroups",
                "expert_slices",
                "tiles = 2, {threads = 32 : i64, columns = 16 : i64, stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 512),
                {f16({1, 2, 8})},
                slicedExperts("!tenon.block<q4_k>", 8, 512),
                "expects whole groups of 2 warps, but got 32 threads"},
        Refusal{"SlicesInUnits",
                "expert_slices",
                "tiles = 2, {threads = 32 : i64, columns = 24 : i64, stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 256),
                {f16({1, 2, 8})},
                slicedExperts("!tenon.block<q4_k>", 8, 256),
                "expects tiles of a multiple of 16 columns, but got 24"},
        Refusal{"SlicesInOneStage",
                "expert_slices",
                "tiles = 2, {threads = 32 : i64, columns = 32 : i64, stages = 1 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 32, 256),
                {f16({1, 2, 32})},
                slicedExperts("!tenon.block<q4_k>", 32, 256),
                "expects at least 2 stages of several units a group, but got 1"},
        Refusal{"ManyRowsInOrder",
                "expert_gemm",
                "tiles = 4, {tile_rows = 64 : i64}",
                expertTypes(256),
                {f16({1, 2, 8})},
                experts("%r", 256, "chunk = 0, lanes = 256"),
                "expects no order for the emitter expert_gemm, but got"},
        Refusal{"ManyRowsInTiles",
                "expert_gemm",
                "tiles = 4, {tile_rows = 96 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 256),
                {f16({1, 2, 8})},
                slicedExperts("!tenon.block<q4_k>", 8, 256),
                "expects tile_rows 64 or 128, but got 96"},
        Refusal{"ManyRowsOfOtherWeights",
                "expert_gemm",
                "tiles = 4, {tile_rows = 64 : i64}",
                quantExpertTypes("f32", 8, 256),
                {f16({1, 2, 8})},
                slicedExperts("f32", 8, 256),
                "expert_gemm takes weights in blocks, or of the type of the inputs"},
        Refusal{"ManyRowsOfF32",
                "expert_gemm",
                "tiles = 4, {tile_rows = 64 : i64}",
                {"tensor<1x256xf32>", "tensor<4x8x256xf32>", "tensor<1x2xi32>", f16({1, 2})},
                {"tensor<1x2x8xf32>"},
                "%r = tenon.expert_matmul %a, %b, %c : (tensor<1x256xf32>, tensor<4x8x256xf32>, "
                "tensor<1x2xi32>) -> tensor<1x2x8xf32>\n",
                "expert_gemm takes inputs of 16 bits"},
        Refusal{"ManyRowsOfOddDepth",
                "expert_gemm",
                "tiles = 4, {tile_rows = 64 : i64}",
                expertTypes(100),
                {f16({1, 2, 8})},
                slicedExperts("f16", 8, 100),
                "expert_gemm takes a depth of a multiple of 8, but the region has 100"},
        Refusal{"ManyRowsSummed",
                "expert_gemm",
                "tiles = 4, {tile_rows = 64 : i64}",
                quantExpertTypes("!tenon.block<q4_k>", 8, 256),
                {f16({1, 8})},
                "%n" + slicedExperts("!tenon.block<q4_k>", 8, 256).substr(2) +
                    "%r = tenon.weighted_sum %n, %d : (tensor<1x2x8xf16>, tensor<1x2xf16>) -> "
                    "tensor<1x8xf16>",
                "expert_gemm neither sums what a row's experts give nor chooses them"},
        Refusal{"NoExperts",
                "expert_gemv",
                "tiles = 4, {threads = 32 : i64, vector = 8 : i64, columns_per_warp = 1 : i64}",
                {f16({4, 256})},
                {f16({4, 256})},
                exponential,
                "expects a tenon.expert_matmul"},
        Refusal{"ChoiceInOrder",
                "expert_choice",
                "tiles = 1, {threads = 32 : i64}",
                {"tensor<1x64xf32>"},
                {"tensor<1x4xf32>", "tensor<1x4xi32>"},
                choice("chunk = 0, lanes = 64", ""),
                "expects an order of one chunk in 128 lanes that halve, but got"},
        Refusal{"ChoiceOfOneWarp",
                "expert_choice",
                "tiles = 1, {threads = 64 : i64}",
                {"tensor<1x64xf32>"},
                {"tensor<1x4xf32>", "tensor<1x4xi32>"},
                choice("chunk = 0, lanes = 128", ""),
                "expects blocks of one warp, but got 64 threads"},
        Refusal{"ChoiceAndItsSumInOrder",
                "expert_choice",
                "tiles = 1, {threads = 32 : i64}",
                {"tensor<1x64xf32>"},
                {"tensor<1x4xf32>", "tensor<1x4xi32>"},
                choice("chunk = 0, lanes = 128", "chunk = 0, lanes = 2"),
                "expects an order of one chunk in at least 4 lanes that halve, but got"},
        Refusal{"ChoiceOfAnythingElse",
                "expert_choice",
                "tiles = 1, {threads = 32 : i64}",
                {"tensor<1x64xf32>"},
                {"tensor<1x4xf32>", "tensor<1x4xi32>"},
                choice("chunk = 0, lanes = 128", "") +
                    "\n%e = tenon.exp %a : (tensor<1x64xf32>) -> tensor<1x64xf32>",
                "the choice of experts cannot hold exp"},
        Refusal{"SumInVectors",
                "weighted_sum",
                "tiles = 1, {threads = 32 : i64, vector = 3 : i64}",
                {f16({1, 2, 9}), f16({1, 2})},
                {f16({1, 9})},
                "%r = tenon.weighted_sum %a, %b : (tensor<1x2x9xf16>, tensor<1x2xf16>) -> "
                "tensor<1x9xf16>",
                "expects a vector of a power of two that divides the columns, but got 3"}),
    nameOf);

} // namespace
} // namespace tenon::testing
