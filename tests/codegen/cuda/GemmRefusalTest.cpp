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

/// Rows of %a with blocks, whose depth needs four warps of one block, and how these take them.
const char* const heldBlockSchedule =
    "tiles = 1, {threads = 128 : i64, stages = 3 : i64, early = 2 : i64, cluster_blocks = 1 : i64}";
std::vector<std::string> heldBlockTypes(int rows, int depth, const char* encoding = "q4_k") {
  return {f16({rows, depth}), absl::StrFormat("tensor<16x%dx!tenon.block<%s>>", depth, encoding)};
}
std::string heldBlockMatmul(int rows, int depth, const char* encoding = "q4_k",
                            const char* input = "%a", const char* result = "%r",
                            const char* order = "") {
  return absl::StrFormat("%s = tenon.matmul %s, %%b %s : (tensor<%dx%dxf16>, "
                         "tensor<16x%dx!tenon.block<%s>>) -> tensor<%dx16xf16>\n",
                         result, input, order, rows, depth, depth, encoding, rows);
}

/// A row of %a with blocks, 16 slices, and how as many warps take it beside the one that brings.
const char* const heldRowSchedule = "tiles = 1, {threads = 544 : i64, stages = 2 : i64, on_way = "
                                    "2 : i64}";

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
        Refusal{"GemvBulkOfAnotherOrder",
                "gemv_bulk",
                "tiles = 8, {threads = 128 : i64, vector = 8 : i64, stages = 2 : i64}",
                {f16({1, 256}), f16({8, 256}), "tensor<1x256xi32>"},
                {f16({1, 8})},
                "%o = tenon.gather %a, %c along 1 : (tensor<1x256xf16>, tensor<1x256xi32>) -> "
                "tensor<1x256xf16>\n" +
                    matmul(1, 256, 8, "%o", "order <chunk = 256, lanes = 256, tree = halving>"),
                "the emitter of these products takes inputs in their order"},
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
                      Refusal{"GemmTile",
                              "gemm",
                              "tiles = 1, {vector = 4 : i64, tile = 48 : i64}",
                              {f16({64, 256}), f16({64, 256})},
                              {f16({64, 64})},
                              matmul(64, 256, 64),
                              "expects a tile of 16, 32 or 64, but got 48"},
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

INSTANTIATE_TEST_SUITE_P(
    HeldBlocks, CudaRefusals,
    ::testing::Values(
        Refusal{"HeldBlocksBeforeHopper",
                "held_block_gemm",
                heldBlockSchedule,
                heldBlockTypes(2, 1024),
                {f16({2, 16})},
                heldBlockMatmul(2, 1024),
                "expects sm_90 or later for the emitter held_block_gemm",
                "sm_80"},
        Refusal{"HeldBlocksInAnOrder",
                "held_block_gemm",
                heldBlockSchedule,
                heldBlockTypes(2, 1024),
                {f16({2, 16})},
                heldBlockMatmul(2, 1024, "q4_k", "%a", "%r",
                                "order <chunk = 0, lanes = 256, tree = tensor_cores>"),
                "expects no order for the emitter held_block_gemm, but got"},
        Refusal{"HeldBlocksOfAnotherEncoding",
                "held_block_gemm",
                heldBlockSchedule,
                heldBlockTypes(2, 1024, "q6_k"),
                {f16({2, 16})},
                heldBlockMatmul(2, 1024, "q6_k"),
                "held_block_gemm takes weights of q4_k, or all of q5_k, and inputs of f16"},
        Refusal{"HeldBlocksInBatches",
                "held_block_gemm",
                heldBlockSchedule,
                {f16({2, 4, 1024}), "tensor<2x16x1024x!tenon.block<q4_k>>"},
                {f16({2, 4, 16})},
                "%r = tenon.matmul %a, %b : (tensor<2x4x1024xf16>, "
                "tensor<2x16x1024x!tenon.block<q4_k>>) -> tensor<2x4x16xf16>",
                "held_block_gemm takes one batch"},
        Refusal{"HeldBlocksOfManyRows",
                "held_block_gemm",
                heldBlockSchedule,
                heldBlockTypes(17, 1024),
                {f16({17, 16})},
                heldBlockMatmul(17, 1024),
                "held_block_gemm takes 2 to 16 rows, but the region has 17"},
        Refusal{"HeldBlocksOfThreeProducts",
                "held_block_gemm",
                heldBlockSchedule,
                heldBlockTypes(2, 1024),
                {f16({2, 16})},
                heldBlockMatmul(2, 1024, "q4_k", "%a", "%u") +
                    heldBlockMatmul(2, 1024, "q4_k", "%a", "%v") +
                    heldBlockMatmul(2, 1024, "q4_k", "%a", "%w") +
                    "%s = tenon.add %u, %v : (tensor<2x16xf16>, tensor<2x16xf16>) -> "
                    "tensor<2x16xf16>\n"
                    "%r = tenon.add %s, %w : (tensor<2x16xf16>, tensor<2x16xf16>) -> "
                    "tensor<2x16xf16>",
                "held_block_gemm joins at most 2 products, but the region has 3"},
        Refusal{"HeldBlocksAfterANorm",
                "held_block_gemm",
                heldBlockSchedule,
                heldBlockTypes(2, 1024),
                {f16({2, 16})},
                norm(2, 1024, "chunk = 0, lanes = 256") + heldBlockMatmul(2, 1024, "q4_k", "%n"),
                "held_block_gemm reads one input from memory, and stores results of products"},
        Refusal{"HeldBlocksOfShortRows",
                "held_block_gemm",
                heldBlockSchedule,
                heldBlockTypes(2, 768),
                {f16({2, 16})},
                heldBlockMatmul(2, 768),
                "held_block_gemm takes depths of 1024 (of more than 8 rows 2048) to 32768 "
                "elements, but the region has 768"},
        Refusal{"HeldBlocksOfOtherThreads",
                "held_block_gemm",
                heldBlockSchedule,
                heldBlockTypes(2, 2048),
                {f16({2, 16})},
                heldBlockMatmul(2, 2048),
                "expects clusters of 1 blocks of 256 threads, but got 1 blocks in clusters of 1 of "
                "128 threads"},
        Refusal{"HeldBlocksBeforeTheirStages",
                "held_block_gemm",
                "tiles = 1, {threads = 128 : i64, stages = 3 : i64, early = 4 : i64, "
                "cluster_blocks = 1 : i64}",
                heldBlockTypes(2, 1024),
                {f16({2, 16})},
                heldBlockMatmul(2, 1024),
                "expects at most 3 early stages, but got 4"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    HeldRow, CudaRefusals,
    ::testing::Values(
        Refusal{"HeldRowBeforeHopper",
                "held_block_gemv",
                heldRowSchedule,
                heldBlockTypes(1, 4096),
                {f16({1, 16})},
                heldBlockMatmul(1, 4096),
                "expects sm_90 or later for the emitter held_block_gemv",
                "sm_80"},
        Refusal{"HeldRowInAnOrder",
                "held_block_gemv",
                heldRowSchedule,
                heldBlockTypes(1, 4096),
                {f16({1, 16})},
                heldBlockMatmul(1, 4096, "q4_k", "%a", "%r",
                                "order <chunk = 0, lanes = 256, tree = tensor_cores>"),
                "expects no order for the emitter held_block_gemv, but got"},
        Refusal{"HeldRowOfAnotherEncoding",
                "held_block_gemv",
                heldRowSchedule,
                heldBlockTypes(1, 4096, "q2_k"),
                {f16({1, 16})},
                heldBlockMatmul(1, 4096, "q2_k"),
                "held_block_gemv takes weights all of one encoding of q4_0, q4_k, q5_k, q8_0, "
                "groups of 4 bits and e4m3, and inputs of 16 bits"},
        Refusal{"HeldRowOfTwo",
                "held_block_gemv",
                heldRowSchedule,
                heldBlockTypes(2, 4096),
                {f16({2, 16})},
                heldBlockMatmul(2, 4096),
                "held_block_gemv takes one input of one row, but the region has 1 of 2"},
        Refusal{"HeldRowOfThreeProducts",
                "held_block_gemv",
                heldRowSchedule,
                heldBlockTypes(1, 4096),
                {f16({1, 16})},
                heldBlockMatmul(1, 4096, "q4_k", "%a", "%u") +
                    heldBlockMatmul(1, 4096, "q4_k", "%a", "%v") +
                    heldBlockMatmul(1, 4096, "q4_k", "%a", "%w") +
                    "%s = tenon.add %u, %v : (tensor<1x16xf16>, tensor<1x16xf16>) -> "
                    "tensor<1x16xf16>\n"
                    "%r = tenon.add %s, %w : (tensor<1x16xf16>, tensor<1x16xf16>) -> "
                    "tensor<1x16xf16>",
                "held_block_gemv joins at most 2 products, but the region has 3"},
        Refusal{
            "HeldRowOfLongLines",
            "held_block_gemv",
            heldRowSchedule,
            heldBlockTypes(1, 33024),
            {f16({1, 16})},
            heldBlockMatmul(1, 33024),
            "held_block_gemv takes depths of multiples of 256 elements, at most 8 parts, but the "
            "region has 33024 elements"},
        Refusal{"HeldRowOfOtherThreads",
                "held_block_gemv",
                heldRowSchedule,
                heldBlockTypes(1, 14336),
                {f16({1, 16})},
                heldBlockMatmul(1, 14336),
                "expects blocks of 480 threads, but got 544"},
        Refusal{"HeldRowOfUnevenStages",
                "held_block_gemv",
                "tiles = 1, {threads = 288 : i64, stages = 3 : i64, on_way = 1 : i64}",
                heldBlockTypes(1, 1024),
                {f16({1, 16})},
                heldBlockMatmul(1, 1024),
                "expects stages in multiples of 2, but got 3"},
        Refusal{"HeldRowOfTooManyBatches",
                "held_block_gemv",
                "tiles = 1, {threads = 288 : i64, stages = 2 : i64, batches = 2 : i64, "
                "on_way = 5 : i64}",
                heldBlockTypes(1, 1024),
                {f16({1, 16})},
                heldBlockMatmul(1, 1024),
                "expects at most 4 batches on their way, but got 5"},
        Refusal{"HeldRowOfTooManyLines",
                "held_block_gemv",
                "tiles = 65536, {threads = 544 : i64, stages = 2 : i64, on_way = 2 : i64}",
                {f16({1, 4096}), "tensor<65536x4096x!tenon.block<q4_k>>"},
                {f16({1, 65536})},
                "%r = tenon.matmul %a, %b : (tensor<1x4096xf16>, "
                "tensor<65536x4096x!tenon.block<q4_k>>) -> tensor<1x65536xf16>",
                "expects fewer than 2^31 lines, but got 65536 for each of 65536 blocks"}),
    nameOf);

} // namespace
} // namespace tenon::testing
