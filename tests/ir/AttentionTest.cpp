#include <cmath>

#include "ir/KvCache.h"
#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using Values = std::vector<double>;

class AttentionTest : public IrTest {
protected:
  /// rope of x [1, 1, 6] with two frequencies.
  Values rope(const std::string& pairing, const std::string& attributes, const Values& x,
              double position, const Values& frequencies) {
    auto results =
        run("func.func @f(%x: tensor<1x1x6xf32>, %p: tensor<1xi32>, %f: tensor<2xf32>) -> "
            "tensor<1x1x6xf32> { %0 = tenon.rope " +
                pairing + " %x, %p, %f " + attributes +
                " : (tensor<1x1x6xf32>, tensor<1xi32>, tensor<2xf32>) -> "
                "tensor<1x1x6xf32> return %0 : tensor<1x1x6xf32> }",
            {tensor("tensor<1x1x6xf32>", x), tensor("tensor<1xi32>", {position}),
             tensor("tensor<2xf32>", frequencies)},
            {.round = false});
    return results.empty() ? Values() : results[0];
  }

  /// Two query heads on one key head, keys [5, 1], values [5, 1]; scale 1, two rows.
  Values attend(const std::string& attributes, const Values& query, const Values& key,
                const Values& sequences, const Values& positions) {
    std::string seq = "tensor<" + std::to_string(sequences.size()) + "xi32>";
    std::string types = "(tensor<2x2x1xf32>, tensor<1x5x1x1xf32>, tensor<1x5x1x1xf32>, " + seq +
                        ", tensor<2xi32>) -> tensor<2x2x1xf32>";
    auto results =
        run("func.func @f(%q: tensor<2x2x1xf32>, %k: tensor<1x5x1x1xf32>, "
            "%v: tensor<1x5x1x1xf32>, %s: " +
                seq +
                ", %p: tensor<2xi32>) -> "
                "tensor<2x2x1xf32> { %0 = tenon.attention %q, %k, %v, %s, %p scale 1.0 " +
                attributes + " : " + types + " return %0 : tensor<2x2x1xf32> }",
            {tensor("tensor<2x2x1xf32>", query), tensor("tensor<1x5x1x1xf32>", key),
             tensor("tensor<1x5x1x1xf32>", {1, 2, 4, 8, 16}), tensor(seq, sequences),
             tensor("tensor<2xi32>", positions)},
            {.round = false});
    return results.empty() ? Values() : results[0];
  }
};

/// Attention with operands of its scores: two query heads on one key head, equal scores, the values
/// 1, 2, 4, 8, 16; two rows.
class ScoreOperandsTest : public IrTest {
protected:
  Values attend(const std::string& operands, const std::string& types, const Values& positions,
                const std::vector<ReferenceTensor>& more, const std::string& attributes = "") {
    std::string list = "tensor<2x2x1xf32>, tensor<1x5x1x1xf32>, tensor<1x5x1x1xf32>, "
                       "tensor<1xi32>, tensor<2xi32>";
    std::vector<ReferenceTensor> inputs = {
        tensor("tensor<2x2x1xf32>", {0, 0, 0, 0}), tensor("tensor<1x5x1x1xf32>", {0, 0, 0, 0, 0}),
        tensor("tensor<1x5x1x1xf32>", {1, 2, 4, 8, 16}), tensor("tensor<1xi32>", {0}),
        tensor("tensor<2xi32>", positions)};
    inputs.insert(inputs.end(), more.begin(), more.end());
    auto results =
        run("func.func @f(%q: tensor<2x2x1xf32>, %k: tensor<1x5x1x1xf32>, "
            "%v: tensor<1x5x1x1xf32>, %s: tensor<1xi32>, %p: tensor<2xi32>" +
                types + ") -> tensor<2x2x1xf32> { %0 = tenon.attention %q, %k, %v, %s, %p " +
                operands + " scale 1.0 " + attributes + " : (" + list + typesOf(more) +
                ") -> tensor<2x2x1xf32> "
                "return %0 : tensor<2x2x1xf32> }",
            inputs, {.round = false});
    return results.empty() ? Values() : results[0];
  }

private:
  static std::string typesOf(const std::vector<ReferenceTensor>& tensors) {
    std::string text;
    for (const ReferenceTensor& tensor : tensors)
      text += ", " + detail::formatType(tensor.getType());
    return text;
  }
};

/// Weights 1 : 3 and 1 : 1 of heads in row 0, which sees two keys; row 1 sees all, of which the bias
/// leaves one.
TEST_F(ScoreOperandsTest, BiasOfHeadsAndRows) {
  double ln3 = std::log(3.0), hidden = -INFINITY;
  Values bias = {0,  ln3, 9, 9, 9, 0, 0,      0,      hidden, hidden,
                 -1, -1,  9, 9, 9, 0, hidden, hidden, hidden, hidden};
  EXPECT_THAT(
      attend("bias %b", ", %b: tensor<2x2x5xf32>", {1, 4}, {tensor("tensor<2x2x5xf32>", bias)}),
      AreNear(Values({1.75, 1.5, 7.0 / 3, 1}), 1e-15));
}

TEST_F(ScoreOperandsTest, BiasOfKeysAlone) {
  double hidden = -INFINITY;
  EXPECT_THAT(attend("bias %b", ", %b: tensor<1x1x5xf32>", {3, 0},
                     {tensor("tensor<1x1x5xf32>", {hidden, 0, hidden, 0, 0})}),
              AreNear(Values({5, 5, 0, 0}), 1e-15));
}

/// Two rows of each of two sequences, of which the second has the first's keys and its own bias.
TEST_F(ScoreOperandsTest, BiasOfSequences) {
  double hidden = -INFINITY;
  auto results = run(
      R"(func.func @f(%q: tensor<4x1x1xf32>, %k: tensor<2x2x1x1xf32>, %v: tensor<2x2x1x1xf32>,
                      %s: tensor<2xi32>, %p: tensor<4xi32>, %b: tensor<2x1x2x2xf32>)
             -> tensor<4x1x1xf32> {
        %0 = tenon.attention %q, %k, %v, %s, %p bias %b scale 1.0 {causal = false}
            : (tensor<4x1x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>, tensor<2xi32>,
               tensor<4xi32>, tensor<2x1x2x2xf32>) -> tensor<4x1x1xf32>
        return %0 : tensor<4x1x1xf32> })",
      {tensor("tensor<4x1x1xf32>", {0, 0, 0, 0}), tensor("tensor<2x2x1x1xf32>", {0, 0, 0, 0}),
       tensor("tensor<2x2x1x1xf32>", {1, 2, 4, 8}), tensor("tensor<2xi32>", {1, 0}),
       tensor("tensor<4xi32>", {0, 0, 0, 0}),
       tensor("tensor<2x1x2x2xf32>", {0, 0, 0, hidden, hidden, 0, 0, 0})},
      {.round = false});
  ASSERT_EQ(results.size(), 1);
  EXPECT_THAT(results[0], AreNear(Values({6, 4, 2, 1.5}), 1e-15));
}

/// At position 2 the keys are 2, 1 and 0 away; not causal, keys after count alike.
TEST_F(ScoreOperandsTest, SlopesOfDistance) {
  double ln2 = std::log(2.0);
  ReferenceTensor slopes = tensor("tensor<2xf32>", {ln2, 0});
  EXPECT_THAT(attend("slopes %m", ", %m: tensor<2xf32>", {2, -1}, {slopes}),
              AreNear(Values({(0.25 + 1 + 4) / 1.75, 7.0 / 3, 0, 0}), 1e-15));
  EXPECT_THAT(attend("slopes %m", ", %m: tensor<2xf32>", {2, -1}, {slopes}, "{causal = false}"),
              AreNear(Values({(0.25 + 1 + 4 + 4 + 4) / 2.5, 6.2, 0, 0}), 1e-15));
}

/// Weights 1 : 3 of head 0 in row 0, which sees two keys; row 1 sees no key. A sink takes its part.
TEST_F(ScoreOperandsTest, WeightsAreASecondResult) {
  double ln3 = std::log(3.0), ln4 = std::log(4.0);
  auto results = run(
      R"(func.func @f(%q: tensor<2x2x1xf32>, %k: tensor<1x5x1x1xf32>, %v: tensor<1x5x1x1xf32>,
                      %s: tensor<1xi32>, %p: tensor<2xi32>, %b: tensor<2x1x5xf32>,
                      %n: tensor<2xf32>) -> (tensor<2x2x1xf32>, tensor<2x2x5xf16>) {
        %0:2 = tenon.attention %q, %k, %v, %s, %p bias %b sinks %n scale 1.0
            : (tensor<2x2x1xf32>, tensor<1x5x1x1xf32>, tensor<1x5x1x1xf32>, tensor<1xi32>,
               tensor<2xi32>, tensor<2x1x5xf32>, tensor<2xf32>)
            -> (tensor<2x2x1xf32>, tensor<2x2x5xf16>)
        return %0#0, %0#1 : tensor<2x2x1xf32>, tensor<2x2x5xf16>
      })",
      {tensor("tensor<2x2x1xf32>", {0, 0, 0, 0}), tensor("tensor<1x5x1x1xf32>", {0, 0, 0, 0, 0}),
       tensor("tensor<1x5x1x1xf32>", {1, 2, 4, 8, 16}), tensor("tensor<1xi32>", {0}),
       tensor("tensor<2xi32>", {1, -1}),
       tensor("tensor<2x1x5xf32>", {0, ln3, 9, 9, 9, 0, 0, 9, 9, 9}),
       tensor("tensor<2xf32>", {ln4, -INFINITY})},
      {.round = false});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(results[0], AreNear(Values({0.875, 1.5, 0, 0}), 1e-15));
  EXPECT_THAT(results[1], AreNear(Values({0.125, 0.375, 0, 0, 0, 0, 0, 0, 0, 0, //
                                          0.5,   0.5,   0, 0, 0, 0, 0, 0, 0, 0}),
                                  1e-15));
}

/// A sink of ln 2 weighs as much as two keys with a score of 0.
TEST_F(ScoreOperandsTest, SinksJoinTheDenominator) {
  EXPECT_THAT(attend("sinks %n", ", %n: tensor<2xf32>", {1, 0},
                     {tensor("tensor<2xf32>", {std::log(2.0), -INFINITY})}),
              AreNear(Values({0.75, 1.5, 1.0 / 3, 1}), 1e-15));
}

TEST_F(ScoreOperandsTest, HiddenRowsAreZeroWithSinks) {
  EXPECT_THAT(attend("bias %b slopes %m sinks %n",
                     ", %b: tensor<1x2x5xf32>, %m: tensor<2xf32>, %n: tensor<2xf32>", {4, 0},
                     {tensor("tensor<1x2x5xf32>", {-INFINITY, -INFINITY, -INFINITY, -INFINITY,
                                                   -INFINITY, 0, 0, 0, 0, 0}),
                      tensor("tensor<2xf32>", {1, 1}), tensor("tensor<2xf32>", {0, 0})}),
              AreNear(Values({0, 0, 0.5, 0.5}), 1e-15));
}

/// A quarter turn at position 1, a half turn of the second pair; the last two pass.
TEST_F(AttentionTest, RopeTurnsPairs) {
  Values quarters = {static_cast<float>(M_PI / 2), static_cast<float>(M_PI)};
  EXPECT_THAT(rope("adjacent", "", {1, 2, 3, 4, 5, 6}, 1, quarters),
              AreNear(Values({-2, 1, -3, -4, 5, 6}), 1e-6));
  EXPECT_THAT(rope("halves", "", {1, 2, 3, 4, 5, 6}, 1, quarters),
              AreNear(Values({-3, -2, 1, -4, 5, 6}), 1e-6));
  EXPECT_THAT(rope("halves", "", {1, 2, 3, 4, 5, 6}, 0, quarters),
              AreNear(Values({1, 2, 3, 4, 5, 6}), 0));
}

TEST_F(AttentionTest, RopeMultipliesTheTurnedByTheMagnitude) {
  EXPECT_THAT(rope("adjacent", "{magnitude = 2.0 : f64}", {1, 2, 3, 4, 5, 6}, 0, {1, 1}),
              AreNear(Values({2, 4, 6, 8, 5, 6}), 0));
}

/// 16777217 · 0.1f rounds to another f32 than the double product.
TEST_F(AttentionTest, RopeRoundsTheAngle) {
  float frequency = 0.1f;
  double angle = static_cast<float>(123457 * static_cast<double>(frequency));
  EXPECT_NE(angle, 123457 * static_cast<double>(frequency));
  Values y = rope("adjacent", "", {1, 0, 0, 0, 0, 0}, 123457, {frequency, 0});
  EXPECT_THAT(y, AreNear(Values({std::cos(angle), std::sin(angle), 0, 0, 0, 0}), 1e-15));
}

TEST_F(AttentionTest, RopeOfAnInactiveRowIsFinite) {
  for (double value : rope("halves", "", {1, 2, 3, 4, 5, 6}, -1, {1, 0.5}))
    EXPECT_TRUE(std::isfinite(value));
}

/// Equal keys give means; rows see 1 and 4 of the values 1, 2, 4, 8, 16.
TEST_F(AttentionTest, CausalMeans) {
  EXPECT_THAT(attend("", {0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0}, {0, 3}),
              AreNear(Values({1, 1, 3.75, 3.75}), 1e-15));
}

TEST_F(AttentionTest, BothHeadsOfAGroupReadTheSameKeys) {
  // Weights 1 : 2 with query ln 2, 2 : 1 with −ln 2, over keys 0 and 1.
  double ln2 = std::log(2.0);
  EXPECT_THAT(attend("", {ln2, -ln2, 0, 0}, {0, 1, 0, 0, 0}, {0, 0}, {1, -1}),
              AreNear(Values({5.0 / 3, 4.0 / 3, 0, 0}), 1e-15));
}

TEST_F(AttentionTest, WithoutCausalityAllPositionsCount) {
  EXPECT_THAT(attend("{causal = false}", {0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0}, {0, -1}),
              AreNear(Values({6.2, 6.2, 0, 0}), 1e-15));
}

TEST_F(AttentionTest, WindowCutsOldPositions) {
  EXPECT_THAT(attend("{window = 2 : i64}", {0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0}, {0, 3}),
              AreNear(Values({1, 1, 6, 6}), 1e-15));
  EXPECT_THAT(
      attend("{window = 9223372036854775807 : i64}", {0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0}, {0, 3}),
      AreNear(Values({1, 1, 3.75, 3.75}), 1e-15));
}

TEST_F(AttentionTest, SoftcapBoundsScores) {
  // A score of 1000 becomes 2 tanh(500) = 2: weights e² : 1 over values 1 and 2.
  double weight = std::exp(2.0);
  double expected = (weight * 1 + 2) / (weight + 1);
  EXPECT_THAT(attend("{softcap = 2.0 : f64}", {1000, 1000, 0, 0}, {1, 0, 0, 0, 0}, {0}, {1, 0}),
              AreNear(Values({expected, expected, 1, 1}), 1e-14));
}

TEST_F(AttentionTest, LargeScoresDoNotOverflow) {
  EXPECT_THAT(attend("", {1e30, 1e30, -1e30, 0}, {1, 2, 3, 0, 0}, {0}, {2, 1}),
              AreNear(Values({4, 4, 1, 1.5}), 1e-15));
}

TEST_F(AttentionTest, InactiveRowsAndForeignIndicesGiveZeros) {
  Values zeros = {0, 0, 0, 0, 0};
  EXPECT_THAT(attend("", {0, 0, 0, 0}, zeros, {1, -1}, {0, 3}), AreNear(Values({0, 0, 0, 0}), 0));
  EXPECT_THAT(attend("", {0, 0, 0, 0}, zeros, {0}, {-7, 1000}),
              AreNear(Values({0, 0, 6.2, 6.2}), 1e-15));
  EXPECT_THAT(attend("{window = 2 : i64}", {0, 0, 0, 0}, zeros, {0}, {100, 5}),
              AreNear(Values({0, 0, 16, 16}), 0));
}

class KvWriteTest : public IrTest {
protected:
  /// Writes rows of [1, 2] into a state of [2, 3, 1, 2] that holds 0.
  Values write(const Values& rows, const Values& sequences, const Values& positions) {
    std::string m = std::to_string(positions.size());
    std::string values = "tensor<" + m + "x1x2xf32>", p = "tensor<" + m + "xi32>";
    std::string s = "tensor<" + std::to_string(sequences.size()) + "xi32>";
    auto module = parse("tenon.state @k : !tenon.state<2x3x1x2xf32> func.func @f(%v: " + values +
                        ", %s: " + s + ", %p: " + p +
                        ") { %k = tenon.get_state @k : <2x3x1x2xf32> "
                        "%0 = tenon.kv_write %v, %s, %p into %k : (" +
                        values + ", " + s + ", " + p +
                        ", !tenon.state<2x3x1x2xf32>) -> !tenon.state<2x3x1x2xf32> return }");
    auto interpreter = Interpreter::create(*module);
    EXPECT_THAT(interpreter, IsOk());
    EXPECT_THAT((*interpreter)
                    ->run("f", {tensor(values, rows), tensor(s, sequences), tensor(p, positions)}),
                IsOk());
    return (*interpreter)->getState("k")->toVector();
  }
};

TEST_F(KvWriteTest, StoresRowsAtTheirPlaces) {
  EXPECT_EQ(write({1, 2, 3, 4}, {1, 0}, {2, 0}), Values({3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(write({1, 2, 3, 4}, {1}, {1, 0}), Values({0, 0, 0, 0, 0, 0, 3, 4, 1, 2, 0, 0}));
}

TEST_F(KvWriteTest, TheLaterRowStays) {
  EXPECT_EQ(write({1, 2, 3, 4}, {0}, {1, 1}), Values({0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(KvWriteTest, SkipsInactiveAndForeignRows) {
  EXPECT_EQ(write({1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, {0, 0, -1, 2, 1}, {-1, 3, 0, 0, -2147483648.0}),
            Values(12, 0));
}

/// A state and a tensor of its shape have their rows in the same places.
TEST_F(AttentionTest, CachesKnowWhereTheirRowsLie) {
  auto type = StateType::get(&context, {2, 5, 3, 4}, mlir::Float16Type::get(&context));
  EXPECT_EQ(type.getLayout().getKind(), StateLayout::Dense);
  for (const KvCache& cache : {KvCache(type), KvCache(type.getTensorType())}) {
    EXPECT_EQ(cache.sequences, 2);
    EXPECT_EQ(cache.capacity, 5);
    EXPECT_EQ(cache.rowElements(), 12);
    EXPECT_EQ(cache.headRow(0, 0, 2, {}), 2);
    EXPECT_EQ(cache.headRow(1, 2, 1, {}), (5 + 2) * 3 + 1);
    EXPECT_TRUE(cache.holds(1, 4));
    for (auto [sequence, position] : {std::pair(2, 0), {0, 5}, {-1, 0}, {0, -1}})
      EXPECT_FALSE(cache.holds(sequence, position)) << sequence << " " << position;
  }
}

} // namespace
} // namespace tenon::tests
