// Schedules and regions that no emitter computes: damaged thus, each says this.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/codegen/cuda/SourceText.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::testing {
namespace {

using ::tenon::tests::FailsWith;
using ::testing::HasSubstr;

struct Refusal {
  const char* name;
  std::string emitter;
  /// Those that matter; `tiles` too.
  std::string parameters;
  /// Types of the region's arguments %a, %b, …, which are those of the function.
  std::vector<std::string> arguments;
  std::vector<std::string> results;
  /// The operations, which define %r, or %r and %n for two results.
  std::string body;
  std::string message;
  std::string feature = "sm_90a";
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

/// A scheduled module of one kernel.
std::string textOf(const Refusal& refusal) {
  std::vector<std::string> inputs, bindings;
  for (size_t i = 0; i < refusal.arguments.size(); ++i) {
    std::string name(1, static_cast<char>('a' + i));
    inputs.push_back(absl::StrCat("%x", name, ": ", refusal.arguments[i]));
    bindings.push_back(absl::StrCat("%", name, " = %x", name, " : ", refusal.arguments[i]));
  }
  std::string results = absl::StrCat("(", absl::StrJoin(refusal.results, ", "), ")");
  bool isOne = refusal.results.size() == 1;
  std::string types = absl::StrJoin(refusal.results, ", ");
  return absl::StrCat(
      R"(module attributes {tenon.phase = #tenon.phase<scheduled>,
      tenon.target = #tenon.target<"t", cuda, features = [")",
      refusal.feature, R"("], {sms = 132 : i64}>} {
  func.func @f()",
      absl::StrJoin(inputs, ", "), ") -> ", results, " {\n", isOne ? "%0" : "%0:2",
      " = tenon.kernel (", absl::StrJoin(bindings, ", "), ") -> ", isOne ? types : results,
      " schedule #tenon.schedule<\"", refusal.emitter, "\", ", refusal.parameters, "> {\n",
      refusal.body, "\ntenon.yield ", isOne ? "%r" : "%r, %n", " : ", types, "\n}\nreturn ",
      isOne ? "%0" : "%0#0, %0#1", " : ", types, "\n}\n}\n");
}

/// y = x · Wᵀ of 16-bit rows.
std::string matmul(int rows, int k, int n, const char* input = "%a", const char* order = "") {
  return absl::StrFormat(
      "%%r = tenon.matmul %s, %%b %s : (tensor<%dx%dxf16>, tensor<%dx%dxf16>) -> "
      "tensor<%dx%dxf16>",
      input, order, rows, k, n, k, rows, n);
}

/// A product of %a with quantised blocks, of chunks of 256 lanes that add up as `tree` says.
std::string blockMatmul(const char* result, const char* weight, const char* tree) {
  return absl::StrFormat("%s = tenon.matmul %%a, %s order <chunk = 256, lanes = 256, tree = %s> : "
                         "(tensor<1x256xf16>, tensor<8x256x!tenon.block<q8_0>>) -> "
                         "tensor<1x8xf16>\n",
                         result, weight, tree);
}

std::string f16(std::initializer_list<int> shape) {
  return absl::StrCat("tensor<", absl::StrJoin(shape, "x"), "xf16>");
}

/// The norm of %a in chunks, as %n.
std::string norm(int rows, int k, const char* order) {
  return absl::StrFormat("%%n = tenon.rms_norm %%a eps 1.0e-5 order <%s, tree = halving> : "
                         "(tensor<%dx%dxf16>) -> tensor<%dx%dxf16>\n",
                         order, rows, k, rows, k);
}

/// Attention of %a to caches %b and %c of one or more sequences.
std::string attention(int rows, int sequences) {
  return absl::StrFormat(
      "%%r = tenon.attention %%a, %%b, %%c, %%d, %%e scale 0.125 : (tensor<%dx8x64xf16>, "
      "tensor<%dx128x2x64xf16>, tensor<%dx128x2x64xf16>, tensor<%dxi32>, tensor<%dxi32>) -> "
      "tensor<%dx8x64xf16>",
      rows, sequences, sequences, sequences, rows, rows);
}
std::vector<std::string> attentionTypes(int rows, int sequences) {
  std::string cache = f16({sequences, 128, 2, 64});
  return {f16({rows, 8, 64}), cache, cache, absl::StrCat("tensor<", sequences, "xi32>"),
          absl::StrCat("tensor<", rows, "xi32>")};
}

const std::string exponential = "%r = tenon.exp %a : (tensor<4x256xf16>) -> tensor<4x256xf16>";

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

class CudaRefusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(CudaRefusals, NamesWhatItExpects) {
  EXPECT_THAT(printText(textOf(GetParam())),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

std::string nameOf(const ::testing::TestParamInfo<Refusal>& info) { return info.param.name; }

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
        Refusal{"ResultsOfTwoShapes",
                "elementwise",
                "tiles = 4, {threads = 32 : i64, vector = 8 : i64, row_elements = 256 : i64}",
                {f16({4, 256}), f16({256})},
                {f16({4, 256}), f16({256})},
                exponential + "\n%n = tenon.exp %b : (tensor<256xf16>) -> tensor<256xf16>",
                "expects float results of one shape for the emitter elementwise, but got "
                "'tensor<256xf16>'"},
        Refusal{"QuantsAfterANorm",
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
        Refusal{"QuantsInAnOrder",
                "block_gemm",
                blockGemmSchedule,
                quantTypes,
                {f16({2, 16})},
                quantMatmul("%a", "order <chunk = 0, lanes = 256, tree = tensor_cores>"),
                "expects no order for the emitter block_gemm, but got"},
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
        Refusal{"PrefillOfTwoSequences",
                "tensor_prefill_attention",
                "tiles = 8, {threads = 128 : i64, row_tiles = 1 : i64, keys_per_block = 64 : i64, "
                "blocks_per_sm = 1 : i64}",
                attentionTypes(2, 2),
                {f16({2, 8, 64})},
                attention(2, 2),
                "expects one sequence for the emitter tensor_prefill_attention, but got "
                "'tensor<2xi32>'"},
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
                "expects chains of one number of rows, without a norm and caches of quants, in "
                "vectors of two elements and more for the emitter head_rows"},
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
       {std::pair{", sets = 2 : i64", "expects quants in one set of registers, but got"},
        {"", "expects caches of plain elements where attention writes them, but got"}}) {
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
