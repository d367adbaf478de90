// What emitters of GEMMs refuse.
#include <gtest/gtest.h>

#include "Refusals.h"
#include "absl/strings/str_format.h"

namespace tenon::testing {
namespace {

/// A product of %a with quantised blocks, of chunks of 256 lanes that add up as `tree` says.
std::string blockMatmul(const char* result, const char* weight, const char* tree) {
  return absl::StrFormat("%s = tenon.matmul %%a, %s order <chunk = 256, lanes = 256, tree = %s> : "
                         "(tensor<1x256xf16>, tensor<8x256x!tenon.block<q8_0>>) -> "
                         "tensor<1x8xf16>\n",
                         result, weight, tree);
}

/// A product of two rows with quants, and how tensor cores would take it.
const std::string blockGemmSchedule =
    "tiles = 1, {threads = 64 : i64, stages = 2 : i64, tile_lines = 16 : i64, tile_rows = 2 : i64, "
    "line_warps = 1 : i64, blocks_per_sm = 1 : i64}";
const std::vector<std::string> quantTypes = {f16({2, 256}), "tensor<16x256x!tenon.block<q4_k>>"};
std::string quantMatmul(const char* input, const char* order) {
  return absl::StrFormat("%%r = tenon.matmul %s, %%b %s : (tensor<2x256xf16>, "
                         "tensor<16x256x!tenon.block<q4_k>>) -> tensor<2x16xf16>",
                         input, order);
}

INSTANTIATE_TEST_SUITE_P(
    FewRows, CudaRefusals,
    ::testing::Values(
        Refusal{"GemvOrder",
                "gemv",
                "tiles = 2, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64, "
                "split = 1 : i64}",
                {f16({1, 256}), f16({8, 256})},
                {f16({1, 8})},
                matmul(1, 256, 8, "%a", "order <chunk = 0, lanes = 32, tree = halving>"),
                "expects an order of 256 lanes in 1 chunks of whole lanes, but got"},
        Refusal{"GemvSplit",
                "gemv",
                "tiles = 8, {threads = 128 : i64, vector = 8 : i64, columns_per_warp = 1 : i64, "
                "split = 3 : i64}",
                {f16({1, 768}), f16({8, 768})},
                {f16({1, 8})},
                matmul(1, 768, 8, "%a", "order <chunk = 256, lanes = 256, tree = halving>"),
                "expects split to divide the warps, and rows, columns_per_warp and vector that "
                "fit into registers"},
        Refusal{"GemvBulkLayout",
                "gemv_bulk",
                "tiles = 8, {threads = 128 : i64, vector = 8 : i64, stages = 2 : i64, early = 3 : "
                "i64}",
                {f16({1, 256}), f16({8, 256})},
                {f16({1, 8})},
                matmul(1, 256, 8, "%a", "order <chunk = 256, lanes = 256, tree = halving>"),
                "expects at most 2 early segments, but got 3"},
        Refusal{"GemvBulkLanes",
                "gemv_bulk",
                "tiles = 8, {threads = 128 : i64, vector = 8 : i64, stages = 2 : i64}",
                {f16({1, 256}), f16({8, 256})},
                {f16({1, 8})},
                matmul(1, 256, 8, "%a", "order <chunk = 256, lanes = 128, tree = halving>"),
                "expects orders of 256 lanes that halve, or of tensor cores"},
        Refusal{"GemvBulkTensorCores",
                "gemv_bulk",
                "tiles = 8, {threads = 128 : i64, vector = 8 : i64, stages = 2 : i64}",
                {f16({1, 256}), f16({8, 256})},
                {f16({1, 8})},
                matmul(1, 256, 8, "%a", "order <chunk = 256, lanes = 256, tree = tensor_cores>"),
                "expects weights in blocks and inputs of 16 bits on tensor cores"},
        Refusal{
            "GemvBulkOrders",
            "gemv_bulk",
            "tiles = 8, {threads = 128 : i64, vector = 8 : i64, stages = 2 : i64}",
            {f16({1, 256}), "tensor<8x256x!tenon.block<q8_0>>", "tensor<8x256x!tenon.block<q8_0>>"},
            {f16({1, 8})},
            blockMatmul("%u", "%b", "halving") + blockMatmul("%v", "%c", "tensor_cores") +
                "%r = tenon.add %u, %v : (tensor<1x8xf16>, tensor<1x8xf16>) -> tensor<1x8xf16>",
            "expects all products of a line on tensor cores, or none"},
        Refusal{"GemvBulkChunks",
                "gemv_bulk",
                "tiles = 8, {threads = 128 : i64, vector = 8 : i64, stages = 2 : i64}",
                {f16({1, 512}), f16({8, 512}), f16({8, 512})},
                {f16({1, 8}), f16({1, 8})},
                matmul(1, 512, 8, "%a", "order <chunk = 256, lanes = 256, tree = halving>") +
                    "\n%n = tenon.matmul %a, %c order <chunk = 512, lanes = 256, tree = halving> : "
                    "(tensor<1x512xf16>, tensor<8x512xf16>) -> tensor<1x8xf16>",
                "expects the same chunks in each group of products"},
        Refusal{"GemvBulkOfNoProduct",
                "gemv_bulk",
                "tiles = 1, {threads = 128 : i64, vector = 8 : i64, stages = 2 : i64}",
                {f16({4, 256})},
                {f16({4, 256})},
                exponential,
                "the emitter of products has no product here"},
        Refusal{"HeldGemmOfNoProduct",
                "held_gemm",
                "tiles = 1, {threads = 512 : i64, stages = 4 : i64, tile_lines = 8 : i64}",
                {f16({4, 256})},
                {f16({4, 256})},
                exponential,
                "the emitter of products has no product here"},
        Refusal{"HeldGemmOfANormThatIsAResult",
                "held_gemm",
                "tiles = 8, {threads = 512 : i64, stages = 4 : i64, tile_lines = 8 : i64}",
                {f16({4, 4096}), f16({64, 4096})},
                {f16({4, 64}), f16({4, 4096})},
                norm(4, 4096, "chunk = 256, lanes = 256") + matmul(4, 4096, 64, "%n"),
                "expects results of products alone for the emitter held_gemm"},
        Refusal{"HeldGemmNormOrder",
                "held_gemm",
                "tiles = 8, {threads = 512 : i64, stages = 4 : i64, tile_lines = 8 : i64}",
                {f16({4, 4096}), f16({64, 4096})},
                {f16({4, 64})},
                norm(4, 4096, "chunk = 512, lanes = 256") + matmul(4, 4096, 64, "%n"),
                "expects an order of chunks of 256 lanes for the emitter held_gemm, but got"},
        Refusal{
            "HeldGemmDepth",
            "held_gemm",
            "tiles = 8, {threads = 512 : i64, stages = 4 : i64, tile_lines = 8 : i64}",
            {f16({4, 260}), f16({64, 260})},
            {f16({4, 64})},
            matmul(4, 260, 64),
            "warps hold at most 16 rows of one depth of at most 4096 elements, a multiple of 8"},
        Refusal{"HeldGemmInputs",
                "held_gemm",
                "tiles = 8, {threads = 512 : i64, stages = 4 : i64, tile_lines = 8 : i64}",
                {f16({4, 4096}), f16({64, 4096}), f16({4, 4096})},
                {f16({4, 64})},
                "%u = tenon.matmul %a, %b : (tensor<4x4096xf16>, tensor<64x4096xf16>) -> "
                "tensor<4x64xf16>\n"
                "%v = tenon.matmul %c, %b : (tensor<4x4096xf16>, tensor<64x4096xf16>) -> "
                "tensor<4x64xf16>\n"
                "%r = tenon.add %u, %v : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>",
                "warps hold one input of a group of products"},
        Refusal{"NarrowGemmOfNoGemm",
                "narrow_gemm",
                "tiles = 1, {threads = 256 : i64, stages = 4 : i64, tile_lines = 16 : i64}",
                {f16({4, 256})},
                {f16({4, 256})},
                exponential,
                "the emitter of products has no product here"},
        Refusal{"NarrowGemmOfANormThatIsAResult",
                "narrow_gemm",
                "tiles = 4, {threads = 256 : i64, blocks_per_sm = 2 : i64, stages = 4 : i64, "
                "tile_lines = 16 : i64}",
                {f16({4, 256}), f16({64, 256})},
                {f16({4, 64}), f16({4, 256})},
                norm(4, 256, "chunk = 0, lanes = 256") + matmul(4, 256, 64, "%n"),
                "expects results of products alone for the emitter narrow_gemm"},
        Refusal{"NarrowGemmRows",
                "narrow_gemm",
                "tiles = 4, {threads = 512 : i64, blocks_per_sm = 2 : i64, stages = 4 : i64, "
                "tile_lines = 16 : i64}",
                {f16({17, 256}), f16({64, 256})},
                {f16({17, 64})},
                matmul(17, 256, 64),
                "expects at most 16 rows, but got 17"},
        Refusal{"NarrowGemmThreads",
                "narrow_gemm",
                "tiles = 4, {threads = 64 : i64, blocks_per_sm = 2 : i64, stages = 4 : i64, "
                "tile_lines = 16 : i64}",
                {f16({16, 256}), f16({64, 256})},
                {f16({16, 64})},
                matmul(16, 256, 64),
                "expects a thread for each of 256 elements of a tile, but got 64"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    ManyRows, CudaRefusals,
    ::testing::Values(Refusal{"GemmOfAnotherKernelsValue",
                              "gemm",
                              "tiles = 1, {vector = 4 : i64}",
                              {f16({64, 256}), f16({64, 256})},
                              {f16({64, 64})},
                              "%e = tenon.exp %a : (tensor<64x256xf16>) -> tensor<64x256xf16>\n" +
                                  matmul(64, 256, 64, "%e",
                                         "order <chunk = 0, lanes = 1, tree = halving>"),
                              "expects input and weight to be arguments of the kernel"},
                      Refusal{"TensorGemmTileRows",
                              "tensor_gemm",
                              "tiles = 1, {tile_rows = 96 : i64}",
                              {f16({64, 256}), f16({64, 256})},
                              {f16({64, 64})},
                              matmul(64, 256, 64),
                              "expects tile_rows of 64 or 128, but got 96"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Blocks, CudaRefusals,
    ::testing::Values(Refusal{"QuantsAfterANorm",
                              "block_gemm",
                              blockGemmSchedule,
                              quantTypes,
                              {f16({2, 16})},
                              norm(2, 256, "chunk = 0, lanes = 256") + quantMatmul("%n", ""),
                              "block_gemm reads its inputs from memory"},
                      Refusal{"BlocksInBatches",
                              "block_gemm",
                              blockGemmSchedule,
                              {f16({2, 4, 256}), "tensor<2x16x256x!tenon.block<q4_k>>"},
                              {f16({2, 4, 16})},
                              "%r = tenon.matmul %a, %b : (tensor<2x4x256xf16>, "
                              "tensor<2x16x256x!tenon.block<q4_k>>) -> tensor<2x4x16xf16>",
                              "block_gemm takes one batch"},
                      Refusal{
                          "QuantsInAnOrder",
                          "block_gemm",
                          blockGemmSchedule,
                          quantTypes,
                          {f16({2, 16})},
                          quantMatmul("%a", "order <chunk = 0, lanes = 256, tree = tensor_cores>"),
                          "expects no order for the emitter block_gemm, but got"}),
    nameOf);

} // namespace
} // namespace tenon::testing
