#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "codegen/cpu/CompileForCpu.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/ObjectCode.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "ir/Dialect.h"
#include "ir/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "tests/codegen/cpu/CpuTest.h"
#include "tests/common/StatusMatchers.h"

using namespace mlir;
using testing::HasSubstr;

namespace tenon::tests {

/// Parses `text`, marks it as planned for x86-64-v3 unless it says otherwise, and compiles it.
static absl::Status compileText(const std::string& text) {
  auto context = makeContext();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
  if (!module)
    return absl::InternalError("the test's module does not parse");
  if (!(*module)->hasAttr(TenonDialect::phaseAttrName))
    (*module)->setAttr(TenonDialect::phaseAttrName, PhaseAttr::get(context.get(), Phase::Planned));
  if (!(*module)->hasAttr(TenonDialect::targetAttrName))
    (*module)->setAttr(TenonDialect::targetAttrName, findTarget(context.get(), "x86-64-v3"));
  return codegen::compileForCpu(*module, {}).status();
}

/// A planned function around one kernel with the arguments %a, %b, … of types `inputs`.
static std::string kernelText(const std::vector<std::string>& inputs, const std::string& result,
                              const std::string& schedule, const std::string& body) {
  std::string arguments, bindings;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string comma = i ? ", " : "", name(1, 'a' + static_cast<char>(i));
    arguments += comma + "%x" + name + ": " + inputs[i];
    bindings += comma + "%" + name + " = %x" + name + " : " + inputs[i];
  }
  return "func.func @f(" + arguments + ") -> " + result +
         " attributes {tenon.workspace = 0 : i64} {\n  %y = tenon.kernel (" + bindings + ") -> " +
         result + " schedule #tenon.schedule<" + schedule + "> buffers [unit] {\n    " + body +
         "\n    tenon.yield %r : " + result + "\n  }\n  return %y : " + result + "\n}\n";
}

/// A kernel of one elementwise operation on [4, 16].
static std::string expText(const std::string& schedule) {
  std::string type = "tensor<4x16xf32>";
  return kernelText({type}, type, schedule, "%r = tenon.exp %a : (" + type + ") -> " + type);
}

static std::string matmulText(const std::string& order, const std::string& parameters,
                              const std::string& weight = "tensor<8x64xf32>") {
  return kernelText({"tensor<1x64xf32>", weight}, "tensor<1x8xf32>",
                    "\"matmul\", tiles = 1, {" + parameters + "}",
                    "%r = tenon.matmul %a, %b " + order + " : (tensor<1x64xf32>, " + weight +
                        ") -> tensor<1x8xf32>");
}

/// A weighted sum of two vectors of 9.
static std::string sumText(const std::string& schedule) {
  return kernelText({"tensor<1x2x9xf32>", "tensor<1x2xf32>"}, "tensor<1x9xf32>",
                    "\"weighted_sum\", " + schedule,
                    "%r = tenon.weighted_sum %a, %b : (tensor<1x2x9xf32>, tensor<1x2xf32>) -> "
                    "tensor<1x9xf32>");
}

constexpr char matmulParameters[] =
    "columns_per_tile = 8 : i64, column_block = 4 : i64, row_block = 1 : i64, step = 32 : i64";

static void expectRefused(const std::string& text, const std::string& message) {
  EXPECT_THAT(compileText(text), FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(CpuErrors, ModuleAndTarget) {
  std::string kernel = expText("\"elementwise\", tiles = 1, {row_elements = 64 : i64, "
                               "rows_per_tile = 1 : i64, columns_per_tile = 64 : i64}");
  EXPECT_THAT(compileText(kernel), IsOk());
  auto inModule = [&](const std::string& attributes) {
    return "module attributes {" + attributes + "} {\n" + kernel + "}";
  };
  expectRefused(inModule("tenon.phase = #tenon.phase<scheduled>"), "expects a planned module");
  auto target = [](const std::string& device, const std::string& features,
                   const std::string& bits) {
    return "tenon.target = #tenon.target<\"mine\", " + device + ", features = [" + features +
           "], {vector_bits = " + bits + " : i64}>";
  };
  expectRefused(inModule(target("cuda", "", "256")), "expects a CPU target");
  expectRefused(inModule(target("cpu", "", "384")), "vector_bits of 128, 256 or 512");
  expectRefused(inModule(target("cpu", "\"avx2\", \"warp\"", "256")),
                "target mine: expects features of x86-64 as LLVM names them, but got \"warp\"");
}

TEST(CpuErrors, NoTarget) {
  auto context = makeContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context.get()));
  EXPECT_THAT(codegen::compileForCpu(*module, {}),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("with a target")));
}

TEST(CpuErrors, Schedules) {
  expectRefused(expText("\"systolic\", tiles = 1"), "expects a schedule of an emitter");
  expectRefused(expText("\"elementwise\", tiles = 1"), "expects a parameter 'row_elements'");
  std::string parameters = "rows_per_tile = 1 : i64, columns_per_tile = 16 : i64}";
  expectRefused(expText("\"elementwise\", tiles = 3, {row_elements = 16 : i64, " + parameters),
                "expects 4 tiles for the parameters of its schedule, but got 3");
  expectRefused(expText("\"elementwise\", tiles = 4, {row_elements = 8 : i64, " + parameters),
                "expects row_elements to be the innermost extent");
  expectRefused(expText("\"elementwise\", tiles = 4, {row_elements = 16 : i64, rows_per_tile = 1 : "
                        "i64, columns_per_tile = 7 : i64}"),
                "expects columns_per_tile to be a multiple of 8");
  expectRefused(expText("\"rms_norm\", tiles = 1"), "expects a region of one tenon.rms_norm");
  expectRefused(expText("\"copy\", tiles = 1"),
                "expects a region of one operation that moves elements");
}

TEST(CpuErrors, ElementwiseRegions) {
  std::string schedule = "\"elementwise\", tiles = 1, {row_elements = 16 : i64, rows_per_tile = 4 "
                         ": i64, columns_per_tile = 16 : i64}";
  std::string type = "tensor<4x16xf32>";
  expectRefused(
      kernelText({type}, type, schedule, "%r = tenon.softmax %a : (" + type + ") -> " + type),
      "the emitter of elementwise chains cannot hold softmax");
  expectRefused(kernelText({type}, type, schedule,
                           "%c = tenon.constant dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>\n"
                           "%r = tenon.exp %a : (" +
                               type + ") -> " + type),
                "the emitter of elementwise chains cannot hold constant");
  expectRefused(R"(func.func @f(%x: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<16xf32>)
      attributes {tenon.workspace = 0 : i64} {
    %w = tenon.constant dense<1.0> : tensor<16xf32> : tensor<16xf32>
    %y:2 = tenon.kernel (%a = %x : tensor<4x16xf32>, %b = %w : tensor<16xf32>)
        -> (tensor<4x16xf32>, tensor<16xf32>) schedule #tenon.schedule<)" +
                    schedule + R"(> buffers [unit, unit] {
      %0 = tenon.exp %a : (tensor<4x16xf32>) -> tensor<4x16xf32>
      %1 = tenon.exp %b : (tensor<16xf32>) -> tensor<16xf32>
      tenon.yield %0, %1 : tensor<4x16xf32>, tensor<16xf32>
    }
    return %y#0, %y#1 : tensor<4x16xf32>, tensor<16xf32>
  })",
                "the emitter of elementwise chains stores results of shape [4, 16], not [16]");
}

TEST(CpuErrors, CopyOfSeveralOperations) {
  std::string type = "tensor<4x16xf32>";
  expectRefused(kernelText({type}, type, "\"copy\", tiles = 1",
                           "%0 = tenon.transpose %a by [1, 0] : (" + type +
                               ") -> tensor<16x4xf32>\n"
                               "%r = tenon.transpose %0 by [1, 0] : (tensor<16x4xf32>) -> " +
                               type),
                "expects a region of one operation that moves elements for the emitter copy");
}

TEST(CpuErrors, Matmul) {
  expectRefused(matmulText("", matmulParameters), "expects an order");
  std::string order = "order <chunk = 0, lanes = 8, tree = halving>";
  EXPECT_THAT(compileText(matmulText(order, matmulParameters)), IsOk());
  std::string quantised = "tensor<8x64x!tenon.block<q8_0>>";
  for (const char* refused : {"order <chunk = 0, lanes = 6, tree = ascending>",
                              "order <chunk = 16, lanes = 8, tree = halving>"})
    expectRefused(matmulText(refused, matmulParameters, quantised),
                  "expects an order whose lanes divide or hold whole blocks of 32 elements");
  expectRefused(matmulText("order <chunk = 0, lanes = 128, tree = halving>", matmulParameters),
                "expects an order of 1 to 64 lanes on a CPU, but got");
}

// A format without a decoder would leave emitters without code.
TEST(CpuErrors, NoneForTheEncodingOfAWeight) {
  for (const char* plain : {"f32", "f16", "bf16"})
    EXPECT_TRUE(codegen::cpu::canDecode(*findEncoding(plain))) << plain;
  for (const BlockFormat* format : allBlockFormats())
    EXPECT_TRUE(codegen::cpu::canDecode(*findEncoding(format->encoding))) << format->encoding;
}

TEST(CpuErrors, WeightedSum) {
  EXPECT_THAT(compileText(sumText("tiles = 2, {columns_per_tile = 8 : i64}")), IsOk());
  expectRefused(sumText("tiles = 3, {columns_per_tile = 3 : i64}"),
                "expects columns_per_tile to be a multiple of 8, but got 3");
}

// One number in a dump can't make code without end.
TEST(CpuErrors, MatmulBlocks) {
  auto parameters = [](int64_t columnBlock, int64_t rowBlock, int64_t step) {
    return absl::StrFormat("columns_per_tile = 8 : i64, column_block = %d : i64, row_block = %d : "
                           "i64, step = %d : i64",
                           columnBlock, rowBlock, step);
  };
  std::string order = "order <chunk = 0, lanes = 8, tree = halving>";
  for (int64_t block : {int64_t{65}, int64_t{1024}, int64_t{1} << 40})
    expectRefused(matmulText(order, parameters(block, 1, 32)),
                  absl::StrFormat("expects 1 to 64 column_block, but got %d", block));
  expectRefused(matmulText(order, parameters(4, 65, 32)), "expects 1 to 64 row_block, but got 65");
  expectRefused(matmulText(order, parameters(4, 1, 2048)), "expects 1 to 1024 step, but got 2048");
  expectRefused(matmulText(order, parameters(64, 1, 1024)),
                "expects at most 4096 products of vectors in a step");
  std::string rows = kernelText({"tensor<8x64xf32>", "tensor<8x64xf32>"}, "tensor<8x8xf32>",
                                "\"matmul\", tiles = 1, {" + parameters(16, 8, 32) + "}",
                                "%r = tenon.matmul %a, %b " + order +
                                    " : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>");
  expectRefused(rows, "expects at most 64 accumulators in a block, but got column_block = 16");
}

TEST(CpuErrors, PackedMatmul) {
  auto text = [](const std::string& order, int columnsPerTile, int rowBlock, int depthBlock) {
    std::string parameters = absl::StrFormat(
        "columns_per_tile = %d : i64, column_block = 4 : i64, row_block = %d : i64, "
        "rows_per_pass = 32 : i64, depth_block = %d : i64",
        columnsPerTile, rowBlock, depthBlock);
    return kernelText({"tensor<32x64xf32>", "tensor<8x64x!tenon.block<q8_0>>"}, "tensor<32x8xf32>",
                      "\"packed_matmul\", tiles = 1, {" + parameters + "}",
                      "%r = tenon.matmul %a, %b " + order +
                          " : (tensor<32x64xf32>, tensor<8x64x!tenon.block<q8_0>>) -> "
                          "tensor<32x8xf32>");
  };
  std::string order = "order <chunk = 0, lanes = 8, tree = halving>";
  EXPECT_THAT(compileText(text(order, 8, 3, 32)), IsOk());
  expectRefused(text("", 8, 3, 32), "expects an order");
  for (const char* refused : {"order <chunk = 0, lanes = 6, tree = ascending>",
                              "order <chunk = 32, lanes = 8, tree = halving>"})
    expectRefused(text(refused, 8, 3, 32), "expects an order of one chunk whose lanes divide or "
                                           "hold whole blocks of 32 elements");
  expectRefused(text(order, 6, 3, 32), "expects columns_per_tile in whole column blocks");
  expectRefused(text(order, 8, 3, 48), "depth_block a multiple of 32, but got 8 and 48");
  expectRefused(text(order, 8, 17, 32), "expects at most 64 accumulators in a block");
  expectRefused(text(order, 8, 3, 8192), "expects 1 to 4096 depth_block, but got 8192");
  expectRefused(text(order, 1 << 20, 3, 32), "and 1048576 bytes of stack");
  expectRefused(text(order, 4, 3, 32), "expects 2 tiles");
}

/// A product of quants, [rows, 64] x [8, 64], by `emitter`.
static std::string quantsText(const std::string& emitter, const std::string& order,
                              const std::string& parameters, const std::string& weight = "q8_0",
                              int64_t rows = 1) {
  std::string x = tensorType({rows, 64}, "q8_s"), w = tensorType({8, 64}, weight);
  std::string y = tensorType({rows, 8}, "f32");
  return kernelText({x, w}, y, "\"" + emitter + "\", tiles = 1, {" + parameters + "}",
                    "%r = tenon.matmul %a, %b " + order + " : (" + x + ", " + w + ") -> " + y);
}

TEST(CpuErrors, QuantizedMatmul) {
  const std::string order = "order <chunk = 0, lanes = 1, tree = halving>";
  const std::string tile = "columns_per_tile = 16 : i64, column_vectors = 2 : i64, ";
  const std::string rows = "row_block = 1 : i64, rows_per_pass = 1 : i64";
  EXPECT_THAT(compileText(quantsText("quantized_matmul", order, tile + rows)), IsOk());
  expectRefused(quantsText("quantized_matmul", order, rows), "a parameter 'columns_per_tile'");
  expectRefused(quantsText("quantized_matmul", "", tile + rows),
                "expects blocks of a quantised input in the order <chunk = 0, lanes = 1>");
  expectRefused(
      quantsText("quantized_matmul", "order <chunk = 0, lanes = 8, tree = halving>", tile + rows),
      "expects blocks of a quantised input in the order <chunk = 0, lanes = 1>");
  expectRefused(quantsText("quantized_matmul", order,
                           "columns_per_tile = 24 : i64, column_vectors = 2 : i64, " + rows),
                "expects tiles of whole blocks of 2 vectors of columns, but got 24 columns");
  expectRefused(quantsText("quantized_matmul", order,
                           "columns_per_tile = 8000 : i64, column_vectors = 1000 : i64, " + rows),
                "expects 1 to 64 column_vectors, but got 1000");
  expectRefused(quantsText("quantized_matmul", order,
                           "columns_per_tile = 512 : i64, column_vectors = 64 : i64, row_block = 1 "
                           ": i64, rows_per_pass = 1024 : i64",
                           "q8_0", 1024),
                "bytes of sums and of a panel of weights");
  expectRefused(quantsText("quantized_matmul", order,
                           tile + "row_block = 33 : i64, rows_per_pass = 64 : i64", "q8_0", 64),
                "expects at most 64 accumulators in a block, but got column_vectors = 2");
  expectRefused("module attributes {tenon.target = #tenon.target<\"mine\", cpu, features = [], "
                "{vector_bits = 128 : i64}>} {\n" +
                    quantsText("quantized_matmul", order, tile + rows) + "}",
                "expects vectors of 256 or 512 bits for a quantised input");
  expectRefused(quantsText("quantized_matmul", order, tile + rows, "q5_1"),
                "expects a weight whose quants the CPU can multiply");
  std::string floats = kernelText(
      {"tensor<1x64xf32>", tensorType({8, 64}, "q8_0")}, "tensor<1x8xf32>",
      "\"quantized_matmul\", tiles = 1",
      "%r = tenon.matmul %a, %b : (tensor<1x64xf32>, tensor<8x64x!tenon.block<q8_0>>) -> "
      "tensor<1x8xf32>");
  expectRefused(floats, "expects a quantised input for this emitter");
  for (const char* emitter : {"matmul", "packed_matmul"})
    expectRefused(quantsText(emitter, order, tile + rows), "expects an input of floats");
}

TEST(CpuErrors, Attention) {
  auto text = [](const std::string& order, int heads) {
    std::string cache = "tensor<1x64x2x8xf32>", query = "tensor<1x4x8xf32>";
    return kernelText(
        {query, cache, "tensor<1xi32>"}, query,
        "\"attention\", tiles = 4, {heads_per_tile = " + std::to_string(heads) + " : i64}",
        "%r = tenon.attention %a, %b, %b, %c, %c scale 1.0 " + order + " : (" + query + ", " +
            cache + ", " + cache + ", tensor<1xi32>, tensor<1xi32>) -> " + query);
  };
  EXPECT_THAT(compileText(text("order <chunk = 32, lanes = 8, tree = halving>", 1)), IsOk());
  expectRefused(text("", 1), "expects an order");
  for (const char* order : {"order <chunk = 0, lanes = 8, tree = halving>",
                            "order <chunk = 20, lanes = 8, tree = halving>"})
    expectRefused(text(order, 1), "expects an order whose chunk, the keys of a block");
  expectRefused(text("order <chunk = 32, lanes = 8, tree = halving>", 3),
                "expects heads_per_tile to divide the 2 query heads of a key head");
  expectRefused(text("order <chunk = 32, lanes = 8, tree = halving>", 65),
                "expects 1 to 64 heads_per_tile, but got 65");
  for (int64_t chunk : {int64_t{65536}, int64_t{1} << 30, int64_t{1} << 40})
    expectRefused(text(absl::StrFormat("order <chunk = %d, lanes = 8, tree = halving>", chunk), 1),
                  absl::StrFormat("expects at most 256 vectors of scores in a block of keys, but "
                                  "got a chunk of %d keys",
                                  chunk));
}

TEST(CpuErrors, HeadsAreEncodedWhole) {
  std::string values = "tensor<1x2x8xf32>", index = "tensor<1xi32>";
  std::string state = "!tenon.state<1x4x2x8x!tenon.block<int8_h8>>";
  auto text = [&](int64_t tiles) {
    return absl::StrFormat(
        R"(tenon.state @k : %1$s
        func.func @f(%%v: %2$s, %%p: %3$s) attributes {tenon.workspace = 0 : i64} {
          %%k = tenon.get_state @k : %1$s
          %%y = tenon.kernel (%%a = %%v : %2$s, %%b = %%p : %3$s, %%c = %%k : %1$s) -> %1$s
              schedule #tenon.schedule<"kv_write", tiles = %4$d, {bytes_per_tile = %5$d : i64}>
              buffers [unit] {
            %%w = tenon.kv_write %%a, %%b, %%b into %%c : (%2$s, %3$s, %3$s, %1$s) -> %1$s
            tenon.yield %%w : %1$s
          }
          return
        })",
        state, values, index, tiles, 64 / tiles);
  };
  EXPECT_THAT(compileText(text(1)), IsOk());
  expectRefused(text(2),
                "expects bytes_per_tile of a whole row, 64, to write its heads, but got 32");
}

// Queries and results of a tile of attention lie on the stack.
TEST(CpuErrors, AttentionOfLargeHeads) {
  std::string cache = "tensor<1x4x1x200000xf32>", query = "tensor<1x1x200000xf32>";
  expectRefused(kernelText({query, cache, "tensor<1xi32>"}, query,
                           "\"attention\", tiles = 1, {heads_per_tile = 1 : i64}",
                           "%r = tenon.attention %a, %b, %b, %c, %c scale 1.0 order <chunk = 32, "
                           "lanes = 8, tree = halving> : (" +
                               query + ", " + cache + ", " + cache +
                               ", tensor<1xi32>, tensor<1xi32>) -> " + query),
                "expects heads of which 1 fit into 1048576 bytes of stack");
}

/// Two elementwise operations of a sequence, each with its part, in a kernel of so many tiles.
static std::string sequenceText(const std::string& first, const std::string& second,
                                const std::string& tiles = "2") {
  std::string type = "tensor<2x16xf32>";
  std::string part = "part = #tenon.schedule<\"elementwise\", tiles = 2, {row_elements = 16 : i64, "
                     "rows_per_tile = 1 : i64, columns_per_tile = 16 : i64}>";
  auto operation = [&](const std::string& name, const std::string& text, const std::string& tile) {
    return name + " = " + text + " {first_tile = " + tile + " : i64, " + part + "} : (" + type +
           ") -> " + type + "\n";
  };
  return kernelText({type}, type, "\"sequence\", tiles = " + tiles,
                    operation("%0", "tenon.exp %a", first) +
                        operation("%r", "tenon.neg %0", second));
}

// A part runs after what it reads.
TEST(CpuErrors, SequenceParts) {
  EXPECT_THAT(compileText(sequenceText("0", "0")), IsOk());
  EXPECT_THAT(compileText(sequenceText("-1", "0")), IsOk());
  expectRefused(sequenceText("0", "-1"), "expects to run after what it reads, but runs before all");
  expectRefused(sequenceText("1", "0"), "expects first_tile of -1, or its tiles inside those");
  expectRefused(sequenceText("-1", "9223372036854775807"), "from tile 9223372036854775807");
  expectRefused(sequenceText("-2", "0"), "expects first_tile of -1, or its tiles inside those");
  expectRefused(sequenceText("0", "0", "1099511627776"),
                "expects 2 tiles for the parameters of its schedule, but got 1099511627776");
  expectRefused(sequenceText("-1", "-1"),
                "expects a value that every thread computes not to be yielded");
  std::string text = sequenceText("0", "0");
  const std::string part =
      text.substr(text.find(", part = "), text.find(">}") - text.find(", part = "));
  expectRefused(absl::StrReplaceAll(text, {{part + ">}", "}"}}),
                "expects a part with tiles of rows or columns, but got");
  size_t second = text.rfind("tiles = 2, {row_elements = 16 : i64, rows_per_tile = 1");
  expectRefused(std::string(text).replace(second, 54,
                                          "tiles = 1, {row_elements = 16 : i64, rows_per_tile = 2"),
                "expects the tiles of what it reads to be its own, but got");
  expectRefused(absl::StrReplaceAll(text, {{"2x16x", "2x300000x"}, {" = 16 :", " = 300000 :"}}),
                "expects at most 1048576 bytes of stack between operations, but got 0 and 1200000");
}

/// A GEMM with experts and its weighted sum as parts, of these columns and rows a tile.
static std::string expertSequenceText(int columns, int sumColumns, int sumRows) {
  return kernelText(
      {"tensor<2x8xf32>", "tensor<3x64x8xf32>", "tensor<2x2xi32>", "tensor<2x2xf32>"},
      "tensor<2x64xf32>", "\"sequence\", tiles = 4",
      absl::StrFormat(
          "%%0 = tenon.expert_matmul %%a, %%b, %%c order <chunk = 0, lanes = 8, tree = halving> "
          "{part = #tenon.schedule<\"expert_columns\", tiles = 4, {columns_per_tile = %d : i64, "
          "column_block = 4 : i64, row_block = 1 : i64, step = 8 : i64}>} : (tensor<2x8xf32>, "
          "tensor<3x64x8xf32>, tensor<2x2xi32>) -> tensor<2x2x64xf32>\n"
          "%%r = tenon.weighted_sum %%0, %%d {part = #tenon.schedule<\"weighted_sum\", tiles = 4, "
          "{columns_per_tile = %d : i64, rows_per_tile = %d : i64}>} : (tensor<2x2x64xf32>, "
          "tensor<2x2xf32>) -> tensor<2x64xf32>",
          columns, sumColumns, sumRows));
}

// A weighted sum reads the columns that its tile computes.
TEST(CpuErrors, ExpertSequences) {
  EXPECT_THAT(compileText(expertSequenceText(16, 16, 2)), IsOk());
  expectRefused(expertSequenceText(16, 32, 2),
                "expects the tiles of what it reads to be its own, but got");
  expectRefused(expertSequenceText(16, 32, 1),
                "expects a part with tiles of rows or columns, but got");
}

// Tiles of columns look for the GEMMs of an expert among a few.
TEST(CpuErrors, ManyExpertColumns) {
  expectRefused(kernelText({"tensor<65x8xf32>", "tensor<3x64x8xf32>", "tensor<65x1xi32>"},
                           "tensor<65x1x64xf32>",
                           "\"expert_columns\", tiles = 1, {columns_per_tile = 64 : i64, "
                           "column_block = 4 : i64, row_block = 1 : i64, step = 8 : i64}",
                           "%r = tenon.expert_matmul %a, %b, %c order <chunk = 0, lanes = 8, tree "
                           "= halving> : (tensor<65x8xf32>, tensor<3x64x8xf32>, tensor<65x1xi32>) "
                           "-> tensor<65x1x64xf32>"),
                "rows choose 65 matrices, and of more than 64 a tile takes those of one expert");
}

// A result that no code writes is no result.
TEST(CpuErrors, ResultsThatNoEmitterWrites) {
  expectRefused(
      R"(func.func @f(%x: tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<32xf32>)
      attributes {tenon.workspace = 0 : i64} {
    %y:2 = tenon.kernel (%a = %x : tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<32xf32>)
        schedule #tenon.schedule<"sequence", tiles = 2> buffers [unit, unit] {
      %0 = tenon.exp %a {part = #tenon.schedule<"elementwise", tiles = 2, {row_elements = 16 : i64,
          rows_per_tile = 1 : i64, columns_per_tile = 16 : i64}>}
          : (tensor<2x16xf32>) -> tensor<2x16xf32>
      %1 = tenon.reshape %0 to [32] : (tensor<2x16xf32>) -> tensor<32xf32>
      tenon.yield %0, %1 : tensor<2x16xf32>, tensor<32xf32>
    }
    return %y#0, %y#1 : tensor<2x16xf32>, tensor<32xf32>
  })",
      "expects an emitter that writes every result, but sequence leaves out result #1");
}

// What `buildProgram` refuses: modules that say planned and are not.
TEST(CpuErrors, ProgramsThatAreNotPlanned) {
  std::string exp = "%r = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>";
  expectRefused("func.func private @f(tensor<4xf32>)", "expects a body of one block");
  expectRefused("func.func @f(%x: i32) { return }",
                "expects arguments and results that are tensors");
  expectRefused("func.func @f(%x: tensor<4xf32>) { return }", "expects its bytes of workspace");
  expectRefused("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }",
                "expects output #0 to be a view of a kernel result of its own");
  expectRefused("func.func @f(%x: tensor<4xf32>) { " + exp + "\n return }",
                "expects to be inside a kernel");
  auto kernel = [](const std::string& attributes) {
    return "func.func @f(%x: tensor<4xf32>) attributes {tenon.workspace = 16 : i64} {\n"
           "%y = tenon.kernel (%a = %x : tensor<4xf32>) -> tensor<4xf32> " +
           attributes +
           " {\n%r = tenon.exp %a : (tensor<4xf32>) -> tensor<4xf32>\n"
           "tenon.yield %r : tensor<4xf32>\n}\nreturn }";
  };
  expectRefused(kernel("buffers [unit]"), "expects a schedule and buffers");
  expectRefused(kernel("schedule #tenon.schedule<\"elementwise\", tiles = 1> buffers [unit]"),
                "expects a buffer for each result that is neither a state nor an output");
}

// What emitters leave is lowered before LLVM gets it.
TEST(CpuErrors, CodeThatIsNotLowered) {
  auto context = makeContext();
  DialectRegistry registry;
  codegen::cpu::registerKernelDialects(registry);
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> code =
      parseSourceString<ModuleOp>("func.func @f() { return }", context.get());
  ASSERT_TRUE(code);
  ScopedDiagnosticHandler silent(context.get(), [](Diagnostic&) { return success(); });
  EXPECT_THAT(
      codegen::cpu::emitObject(*code, findTarget(context.get(), "x86-64-v3"), {},
                               DiskCache("", "o")),
      FailsWith(absl::StatusCode::kInternal, HasSubstr("cannot translate the kernels to LLVM IR")));
}

// A buffer outside the workspace is found by the program's own validation.
TEST(CpuErrors, BufferOutsideTheWorkspace) {
  expectRefused(R"(func.func @f(%x: tensor<4xf32>) attributes {tenon.workspace = 8 : i64} {
    %y = tenon.kernel (%a = %x : tensor<4xf32>) -> tensor<4xf32>
        schedule #tenon.schedule<"elementwise", tiles = 1, {row_elements = 4 : i64,
          rows_per_tile = 1 : i64, columns_per_tile = 4 : i64}>
        buffers [#tenon.buffer<offset = 0, bytes = 16>] {
      %r = tenon.exp %a : (tensor<4xf32>) -> tensor<4xf32>
      tenon.yield %r : tensor<4xf32>
    }
    return
  })",
                "expects a range within 8 bytes, but found 16 bytes at offset 0");
}

} // namespace tenon::tests
