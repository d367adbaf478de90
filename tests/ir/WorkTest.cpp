#include <limits>

#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using ::testing::ElementsAre;
using Kind = Footprint::Kind;

/// Footprints and work, of one operation with operands %a, %b, … of the types given.
class WorkTest : public IrTest {
protected:
  ComputeOpInterface make(const std::string& op, const std::vector<std::string>& operands,
                          const std::string& result) {
    std::string arguments, types;
    for (size_t i = 0; i < operands.size(); ++i) {
      std::string separator = i > 0 ? ", " : "";
      arguments += separator + "%" + static_cast<char>('a' + i) + ": " + operands[i];
      types += separator + operands[i];
    }
    module = parse("func.func @f(" + arguments + ") { %r" + (result.starts_with("(") ? ":2" : "") +
                   " = tenon." + op + " : (" + types + ") -> " + result + " return }");
    return find<ComputeOpInterface>(*module);
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
};

MATCHER_P2(IsFootprint, kind, parameter, "") {
  return arg.kind == kind && arg.parameter == parameter;
}

TEST_F(WorkTest, Elementwise) {
  auto op = make("add %a, %b", {"tensor<2x8xf32>", "tensor<8xf16>"}, "tensor<2x8xf32>");
  EXPECT_EQ(op.getWork().flops, 16);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(64, 16));
  EXPECT_THAT(op.getWork().resultBytes, ElementsAre(64));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Element, 0));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Element, 0));
}

TEST_F(WorkTest, Matmul) {
  auto op = make("matmul %a, %b", {"tensor<3x64xf32>", "tensor<8x64x!tenon.block<q8_0>>"},
                 "tensor<3x8xf32>");
  EXPECT_EQ(op.getWork().flops, 2 * 3 * 8 * 64);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(3 * 64 * 4, 8 * 2 * 34));
  EXPECT_THAT(op.getWork().resultBytes, ElementsAre(3 * 8 * 4));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Grid, 0));
}

/// Of 8 experts each row chooses 2: rows choose 8 · (1 − 0.75^R) together.
TEST_F(WorkTest, ExpertMatmulReadsTheChosen) {
  auto makeRows = [&](const std::string& rows) {
    return make("expert_matmul %a, %b, %c",
                {"tensor<" + rows + "x64xf32>", "tensor<8x96x64x!tenon.block<q8_0>>",
                 "tensor<" + rows + "x2xi32>"},
                "tensor<" + rows + "x2x96xf32>");
  };
  constexpr int64_t expertBytes = 96 * 2 * 34;
  auto op = makeRows("1");
  EXPECT_EQ(op.getWork().flops, 2 * 2 * 96 * 64);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(64 * 4, 2 * expertBytes, 2 * 4));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Grid, 0));
  EXPECT_THAT(op.getFootprint(2), IsFootprint(Kind::Row, 0));
  EXPECT_EQ(makeRows("2").getWork().operandBytes[1], expertBytes * 35 / 10);
  EXPECT_EQ(makeRows("1000").getWork().operandBytes[1], 8 * expertBytes);
  op = make("weighted_sum %a, %b", {"tensor<3x2x64xf16>", "tensor<3x2xf32>"}, "tensor<3x64xf16>");
  EXPECT_EQ(op.getWork().flops, 2 * 3 * 2 * 64);
}

/// More experts than any count of bytes can be told apart for: all are read.
TEST_F(WorkTest, ExpertBytesSaturate) {
  auto op = make("expert_matmul %a, %b, %c",
                 {"tensor<1x1xf32>", "tensor<1152921504606846976x1x1xf32>", "tensor<1x2xi32>"},
                 "tensor<1x2x1xf32>");
  EXPECT_EQ(op.getWork().operandBytes[1], int64_t(1) << 62);
}

TEST_F(WorkTest, FlopsSaturate) {
  auto op = make("matmul %a, %b",
                 {"tensor<1073741824x1073741824xf32>", "tensor<1073741824x1073741824xf32>"},
                 "tensor<1073741824x1073741824xf32>");
  EXPECT_EQ(op.getWork().flops, std::numeric_limits<int64_t>::max());
}

TEST_F(WorkTest, AttentionFlopsSaturate) {
  // Head sizes of 2^61: each product and their sum leave 63 bits.
  std::string large = "2305843009213693952", state = "!tenon.state<1x1x1x" + large + "xf16>";
  auto op = make("attention %a, %b, %c, %d, %e scale 1.0",
                 {"tensor<1x1x" + large + "xf16>", state, state, "tensor<1xi32>", "tensor<1xi32>"},
                 "tensor<1x1x" + large + "xf16>");
  EXPECT_EQ(op.getWork().flops, std::numeric_limits<int64_t>::max());
}

TEST_F(WorkTest, EmbeddingReadsTheRowsUsed) {
  auto op = make("embedding %a, %b", {"tensor<100x32x!tenon.block<q4_0>>", "tensor<3xi32>"},
                 "tensor<3x32xf32>");
  EXPECT_EQ(op.getWork().flops, 0);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(3 * 18, 12));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Grid, 0));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Row, 0));
  op = make("embedding %a, %b", {"tensor<2x8xf32>", "tensor<5xi32>"}, "tensor<5x8xf32>");
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(64, 20));
  op = make("embedding %a, %b", {"tensor<9x8xf32>", "tensor<2x3xi32>"}, "tensor<2x3x8xf32>");
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(6 * 32, 24));
}

TEST_F(WorkTest, Dequantize) {
  auto op = make("dequantize %a", {"tensor<2x64x!tenon.block<q8_0>>"}, "tensor<2x64xf32>");
  EXPECT_EQ(op.getWork().flops, 128);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Group, 32));
}

TEST_F(WorkTest, Norms) {
  auto op =
      make("rms_norm %a, %b eps 0.0", {"tensor<2x8xf32>", "tensor<8xf32>"}, "tensor<2x8xf32>");
  EXPECT_EQ(op.getWork().flops, 4 * 16);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Element, 0));
  EXPECT_EQ(make("rms_norm %a eps 0.0", {"tensor<2x8xf32>"}, "tensor<2x8xf32>").getWork().flops,
            3 * 16);
  op = make("layer_norm %a weight %b bias %c eps 0.0",
            {"tensor<2x8xf32>", "tensor<8xf32>", "tensor<8xf32>"}, "tensor<2x8xf32>");
  EXPECT_EQ(op.getWork().flops, 7 * 16);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  EXPECT_THAT(op.getFootprint(2), IsFootprint(Kind::Element, 0));
  EXPECT_EQ(make("layer_norm %a eps 0.0", {"tensor<2x8xf32>"}, "tensor<2x8xf32>").getWork().flops,
            5 * 16);
  op = make("softmax %a", {"tensor<2x8xf32>"}, "tensor<2x8xf32>");
  EXPECT_EQ(op.getWork().flops, 5 * 16);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
}

TEST_F(WorkTest, Reductions) {
  auto op = make("reduce sum %a", {"tensor<2x8xf32>"}, "tensor<2x1xf32>");
  EXPECT_EQ(op.getWork().flops, 16);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  op = make("argmax %a", {"tensor<2x8xf32>"}, "tensor<2xi32>");
  EXPECT_EQ(op.getWork().flops, 16);
  EXPECT_THAT(op.getWork().resultBytes, ElementsAre(8));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  op = make("top_k %a k 3", {"tensor<2x8xf32>"}, "(tensor<2x3xf32>, tensor<2x3xi32>)");
  EXPECT_EQ(op.getWork().flops, 16);
  EXPECT_THAT(op.getWork().resultBytes, ElementsAre(24, 24));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
}

TEST_F(WorkTest, Rope) {
  std::vector<std::string> operands = {"tensor<3x4x8xf32>", "tensor<3xi32>", "tensor<2xf32>"};
  auto op = make("rope halves %a, %b, %c", operands, "tensor<3x4x8xf32>");
  EXPECT_EQ(op.getWork().flops, 6 * 2 * 3 * 4);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Pair, 2));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Grid, 0));
  EXPECT_THAT(op.getFootprint(2), IsFootprint(Kind::Grid, 0));
  op = make("rope adjacent %a, %b, %c", operands, "tensor<3x4x8xf32>");
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Pair, 1));
}

TEST_F(WorkTest, KvWriteTouchesItsRowsAlone) {
  std::string state = "!tenon.state<2x128x4x8xf16>";
  auto op = make("kv_write %a, %b, %c into %d",
                 {"tensor<3x4x8xf16>", "tensor<3xi32>", "tensor<3xi32>", state}, state);
  EXPECT_EQ(op.getWork().flops, 0);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(192, 12, 12, 0));
  EXPECT_THAT(op.getWork().resultBytes, ElementsAre(192));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Element, 0));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Grid, 0));
  EXPECT_THAT(op.getFootprint(2), IsFootprint(Kind::Grid, 0));
  EXPECT_THAT(op.getFootprint(3), IsFootprint(Kind::Element, 0));
}

TEST_F(WorkTest, AttentionReadsTheSequencesInUse) {
  auto attention = [&](const std::string& rows, const std::string& sequences,
                       const std::string& attributes) {
    std::string state = "!tenon.state<4x128x2x8xf16>";
    return make("attention %a, %b, %c, %d, %e scale 1.0 " + attributes,
                {"tensor<" + rows + "x6x8xf32>", state, state, "tensor<" + sequences + "xi32>",
                 "tensor<" + rows + "xi32>"},
                "tensor<" + rows + "x6x8xf32>");
  };
  const int64_t position = 2 * 8 * 2; // bytes
  auto op = attention("3", "3", "");
  EXPECT_EQ(op.getWork().flops, (2 * (8 + 8) + 5) * 3 * 6 * 128);
  EXPECT_THAT(op.getWork().operandBytes,
              ElementsAre(3 * 6 * 8 * 4, 3 * 128 * position, 3 * 128 * position, 12, 12));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  for (unsigned operand : {1, 2, 3, 4})
    EXPECT_THAT(op.getFootprint(operand), IsFootprint(Kind::Grid, 0));
  // More rows than sequences; one sequence for all; a window, alone and over a chunk of rows.
  EXPECT_EQ(attention("6", "6", "").getWork().operandBytes[1], 4 * 128 * position);
  EXPECT_EQ(attention("3", "1", "").getWork().operandBytes[1], 128 * position);
  op = attention("3", "3", "{window = 16 : i64}");
  EXPECT_EQ(op.getWork().operandBytes[1], 3 * 16 * position);
  EXPECT_EQ(op.getWork().flops, (2 * (8 + 8) + 5) * 3 * 6 * 16);
  EXPECT_EQ(attention("3", "1", "{window = 16 : i64}").getWork().operandBytes[1], 18 * position);
}

TEST_F(WorkTest, ViewsMoveBytesAlone) {
  auto op = make("reshape %a to [2, 2, 4]", {"tensor<2x8xf32>"}, "tensor<2x2x4xf32>");
  EXPECT_EQ(op.getWork().flops, 0);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Element, 0));
  op = make("reshape %a to [2, 8]", {"tensor<2x2x4xf32>"}, "tensor<2x8xf32>");
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Grid, 0));
  op = make("transpose %a by [1, 0]", {"tensor<2x8xf32>"}, "tensor<8x2xf32>");
  EXPECT_EQ(op.getWork().flops, 0);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Grid, 0));
}

TEST_F(WorkTest, SliceReadsItsBox) {
  auto op = make("slice %a [0, 2] [2, 3] [1, 1]", {"tensor<2x8xf32>"}, "tensor<2x3xf32>");
  EXPECT_EQ(op.getWork().flops, 0);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(24));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  op = make("slice %a [1, 0] [1, 8] [1, 1]", {"tensor<2x8xf32>"}, "tensor<1x8xf32>");
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Grid, 0));
  op = make("slice %a [0, 0] [2, 8] [1, 1]", {"tensor<2x8xf32>"}, "tensor<2x8xf32>");
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Element, 0));
}

TEST_F(WorkTest, GatherReadsTheElementsChosen) {
  auto op =
      make("gather %a, %b along 1", {"tensor<2x80xf16>", "tensor<2x3xi32>"}, "tensor<2x3xf16>");
  EXPECT_EQ(op.getWork().flops, 0);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(12, 24));
  EXPECT_THAT(op.getWork().resultBytes, ElementsAre(12));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Element, 0));
  op = make("gather %a, %b along 0", {"tensor<2x8xf32>", "tensor<5x8xi32>"}, "tensor<5x8xf32>");
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(64, 160));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Grid, 0));
}

/// Each element of the result is compared with each index along the axis.
TEST_F(WorkTest, ScatterComparesEveryIndex) {
  std::vector<std::string> operands = {"tensor<2x80xf16>", "tensor<2x3xi32>", "tensor<2x3xf32>"};
  auto op = make("scatter %a, %b, %c along 1 accumulate", operands, "tensor<2x80xf16>");
  EXPECT_EQ(op.getWork().flops, 2 * 80 * 3);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(320, 24, 24));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Element, 0));
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Row, 0));
  op = make("scatter %a, %b, %c along 0", {"tensor<9x8xf32>", "tensor<2x8xi32>", "tensor<2x8xf32>"},
            "tensor<9x8xf32>");
  EXPECT_THAT(op.getFootprint(2), IsFootprint(Kind::Grid, 0));
}

TEST_F(WorkTest, PatchesAndCumulativeSums) {
  auto op = make("patches %a window [3] strides [1] low [1] high [1]", {"tensor<1x8x10xf32>"},
                 "tensor<1x10x24xf32>");
  EXPECT_EQ(op.getWork().flops, 0);
  EXPECT_THAT(op.getWork().operandBytes, ElementsAre(320));
  EXPECT_THAT(op.getWork().resultBytes, ElementsAre(960));
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Grid, 0));
  op = make("hadamard %a", {"tensor<2x3x24xf32>"}, "tensor<2x3x24xf32>"); // runs of 8
  EXPECT_EQ(op.getWork().flops, 4 * 144);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
  op = make("cumulative_sum %a", {"tensor<2x8xf32>"}, "tensor<2x8xf32>");
  EXPECT_EQ(op.getWork().flops, 16);
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Row, 0));
}

TEST_F(WorkTest, Concat) {
  auto op =
      make("concat %a, %b along 1", {"tensor<2x8xf32>", "tensor<2x1xf32>"}, "tensor<2x9xf32>");
  EXPECT_EQ(op.getWork().flops, 0);
  EXPECT_THAT(op.getFootprint(1), IsFootprint(Kind::Row, 0));
  op = make("concat %a, %b along 0", {"tensor<2x8xf32>", "tensor<1x8xf32>"}, "tensor<3x8xf32>");
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Grid, 0));
  op = make("concat %a along 0", {"tensor<2x8xf32>"}, "tensor<2x8xf32>");
  EXPECT_THAT(op.getFootprint(0), IsFootprint(Kind::Element, 0));
}

} // namespace
} // namespace tenon::tests
