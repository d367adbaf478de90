#include "frontends/builder/GraphBuilder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mlir/IR/MLIRContext.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::frontends {
namespace {

using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode precondition = absl::StatusCode::kFailedPrecondition;

class GraphBuilderTest : public ::testing::Test {
protected:
  std::string print(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }
  /// Finishes and gives the text, or the error's.
  std::string finish() {
    auto module = builder.finish();
    return module.ok() ? print(**module) : std::string(module.status().message());
  }

  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  mlir::Type f16 = mlir::Float16Type::get(&context);
  mlir::Type i32 = mlir::IntegerType::get(&context, 32);
  GraphBuilder builder{context, f32};
};

TEST_F(GraphBuilderTest, AFunctionWithNamedPorts) {
  builder.beginFunction("decode_2", Role::Decode, 2);
  Value x = builder.input("x", {2, 4});
  builder.output("y", builder.silu(x, {.elementType = f16}));
  builder.endFunction();
  EXPECT_THAT(finish(),
              AllOf(HasSubstr("tenon.phase = #tenon.phase<input>"),
                    HasSubstr("func.func @decode_2(%arg0: tensor<2x4xf32> {tenon.name = \"x\"}) -> "
                              "(tensor<2x4xf16> {tenon.name = \"y\"})"),
                    HasSubstr("tenon.entry = #tenon.entry<decode, rows = 2>"),
                    HasSubstr("tenon.silu %arg0 : (tensor<2x4xf32>) -> tensor<2x4xf16>")));
}

TEST_F(GraphBuilderTest, WeightsStatesAndFiles) {
  builder.declareFile("model", "m.gguf", 4096, 7);
  builder.beginFunction("f");
  // Declared after a function began, they still stand before it.
  builder.declareWeight("w", {4, 32}, BlockType::get(&context, "q8_0"), {{"model", 0, 136}});
  builder.declareState("kv", {1, 8, 2, 4}, f16);
  Value w = builder.weight("w");
  EXPECT_EQ(w.get(), builder.weight("w").get());
  EXPECT_EQ(builder.state("kv").get(), builder.state("kv").get());
  builder.output("y", builder.matmul(builder.input("x", {1, 32}), w));
  builder.endFunction();
  builder.setModel({"llama", "test", "model", 4, 8, 1});
  std::string text = finish();
  EXPECT_THAT(text, AllOf(HasSubstr("tenon.file @model \"m.gguf\" bytes 4096 fingerprint 7"),
                          HasSubstr("tenon.weight @w : tensor<4x32x!tenon.block<q8_0>> from "
                                    "[#tenon.range<@model, offset = 0, bytes = 136>]"),
                          HasSubstr("tenon.state @kv : !tenon.state<1x8x2x4xf16>"),
                          HasSubstr("tenon.model = #tenon.model<")));
  EXPECT_LT(text.find("tenon.weight"), text.find("func.func"));
}

TEST_F(GraphBuilderTest, LocationsComeFromScopesAndNames) {
  builder.beginFunction("f");
  Value x = builder.input("x", {2});
  {
    GraphBuilder::Scope outer = builder.scope("blk.0");
    GraphBuilder::Scope inner = builder.scope("ffn");
    x = builder.relu(x, {.name = "act"});
  }
  Value y = builder.neg(x, {.name = "last"});
  auto nameOf = [](Value value) {
    return llvm::cast<mlir::NameLoc>(value.get().getLoc()).getName().str();
  };
  EXPECT_EQ(nameOf(x), "blk.0.ffn.act");
  EXPECT_EQ(nameOf(y), "last");
  EXPECT_EQ(nameOf(builder.neg(x)), "f");
}

/// Every operation, so that each is created with the attributes and segments it wants.
TEST_F(GraphBuilderTest, EveryOperation) {
  builder.declareState("k", {1, 8, 2, 4}, {});
  builder.declareState("v", {1, 8, 2, 4}, {});
  builder.beginFunction("all");
  Value x = builder.input("x", {2, 4}), ids = builder.input("ids", {2}, i32);
  Value heads = builder.input("heads", {2, 2, 4}), row = builder.input("row", {4});
  Value cache = builder.input("cache", {1, 8, 2, 4});
  std::vector<Value> results = {
      builder.embedding(x, ids),
      builder.matmul(x, x),
      builder.rmsNorm(x, row, 1e-5),
      builder.rmsNorm(x, 1e-5),
      builder.layerNorm(x, row, row, 1e-5),
      builder.layerNorm(x, row, 1e-5),
      builder.layerNorm(x, 1e-5),
      builder.softmax(x),
      builder.dequantize(builder.input("q", {2, 32}, BlockType::get(&context, "q4_0")))};
  Value frequencies = builder.constant({2}, {1.0f, 0.5f});
  results.push_back(builder.rope(RopePairing::Halves, heads, ids, frequencies, 1.5));
  StateValue k = builder.kvWrite(heads, ids, ids, builder.state("k"));
  StateValue v = builder.kvWrite(heads, ids, ids, builder.state("v"));
  results.push_back(builder.attention(heads, k, v, ids, ids, {.scale = 0.5, .window = 3}));
  results.push_back(builder.attention(heads, cache, cache, ids, ids, {.softcap = 30.0}));
  for (auto method :
       {&GraphBuilder::add, &GraphBuilder::sub, &GraphBuilder::mul, &GraphBuilder::div,
        &GraphBuilder::max, &GraphBuilder::min, &GraphBuilder::mod})
    results.push_back((builder.*method)(x, row, {}));
  for (auto method :
       {&GraphBuilder::neg, &GraphBuilder::abs, &GraphBuilder::square, &GraphBuilder::sqrt,
        &GraphBuilder::rsqrt, &GraphBuilder::exp, &GraphBuilder::log, &GraphBuilder::sin,
        &GraphBuilder::cos, &GraphBuilder::tanh, &GraphBuilder::erf, &GraphBuilder::sigmoid,
        &GraphBuilder::silu, &GraphBuilder::relu, &GraphBuilder::gelu, &GraphBuilder::geluTanh})
    results.push_back((builder.*method)(x, {}));
  results.push_back(builder.cast(x, {.elementType = f16}));
  results.push_back(builder.scale(x, 2.0));
  results.push_back(builder.glu(Activation::Gelu, x, x));
  results.push_back(builder.reduce(ReduceKind::Mean, x));
  results.push_back(builder.argmax(x));
  GraphBuilder::TopK top = builder.topK(x, 3);
  results.insert(results.end(), {top.values, top.indices});
  results.push_back(builder.reshape(ids, {2, 1}));
  results.push_back(builder.transpose(ids, {0}));
  results.push_back(builder.slice(x, {0, 1}, {2, 2}, {1, 1}));
  results.push_back(builder.concat({x, x}, 1));
  Value chosen = builder.intConstant({2, 1}, {1, 2});
  results.push_back(chosen);
  results.push_back(builder.cumulativeSum(x));
  results.push_back(builder.hadamard(heads));
  Value gathered = builder.gather(x, chosen, 1);
  results.push_back(gathered);
  results.push_back(builder.scatter(x, chosen, gathered, 1, /*accumulate=*/false));
  results.push_back(builder.scatter(x, chosen, gathered, 1, /*accumulate=*/true));
  Value patches = builder.patches(heads, {3}, {2}, {1}, {1});
  results.push_back(patches);
  for (size_t i = 0; i < results.size(); ++i)
    builder.output("r" + std::to_string(i), results[i]);
  builder.endFunction();
  auto module = builder.finish();
  ASSERT_THAT(module, IsOk());
  EXPECT_THAT(top.values.getShape(), ElementsAre(2, 3));
  EXPECT_TRUE(top.indices.getElementType().isInteger(32));
  EXPECT_THAT(gathered.getShape(), ElementsAre(2, 1));
  EXPECT_THAT(patches.getShape(), ElementsAre(2, 2, 6));
  EXPECT_THAT(print(**module), AllOf(HasSubstr("along 1 accumulate"), HasSubstr("tenon.mod")));
  EXPECT_THAT(print(**module), HasSubstr("window [3] strides [2] low [1] high [1]"));
  EXPECT_THAT(print(**module), AllOf(HasSubstr("window = 3"), HasSubstr("softcap = 3.0"),
                                     HasSubstr("magnitude = 1.5"), HasSubstr("tenon.cast")));
}

TEST_F(GraphBuilderTest, TheFirstErrorStaysAndNamesItsPlace) {
  builder.beginFunction("f");
  Value x = builder.input("x", {2, 4});
  GraphBuilder::Scope scope = builder.scope("blk.3");
  Value bad = builder.matmul(x, builder.input("w", {5, 3}), {.name = "attn_q"});
  EXPECT_FALSE(bad);
  EXPECT_TRUE(bad.getShape().empty());
  EXPECT_FALSE(builder.add(bad, x));
  builder.output("y", bad);
  builder.endFunction();
  EXPECT_THAT(builder.finish(),
              FailsWith(invalid, StartsWith("blk.3.attn_q: 'tenon.matmul' op expects weight")));
}

TEST_F(GraphBuilderTest, WhatOnlyTheVerifierSees) {
  builder.declareState("k", {1, 8, 2, 4}, f16);
  builder.beginFunction("f");
  Value ids = builder.input("ids", {2}, i32);
  builder.kvWrite(builder.input("heads", {2, 2, 4}), ids, ids, builder.state("k"), {.name = "w"});
  builder.endFunction();
  EXPECT_THAT(builder.finish(), FailsWith(invalid, StartsWith("w: 'tenon.kv_write' op")));
}

TEST_F(GraphBuilderTest, EmptyValues) {
  builder.beginFunction("f");
  EXPECT_FALSE(builder.add(Value(), builder.input("x", {2}), {.name = "sum"}));
  EXPECT_THAT(builder.getStatus(),
              FailsWith(invalid, HasSubstr("sum: 'tenon.add' expects values, but got an empty")));
}

TEST_F(GraphBuilderTest, AnEmptyState) {
  builder.beginFunction("f");
  Value ids = builder.input("ids", {2}, i32);
  builder.kvWrite(builder.input("h", {2, 1, 4}), ids, ids, StateValue());
  EXPECT_THAT(builder.getStatus(),
              FailsWith(invalid, HasSubstr("'tenon.kv_write' expects values")));
}

TEST_F(GraphBuilderTest, AnEmptyOutput) {
  builder.beginFunction("f");
  builder.output("y", Value());
  EXPECT_THAT(builder.getStatus(), FailsWith(invalid, HasSubstr("f: output 'y' expects a value")));
}

TEST_F(GraphBuilderTest, UnknownWeightsAndStates) {
  builder.beginFunction("f");
  EXPECT_FALSE(builder.weight("w"));
  EXPECT_THAT(builder.getStatus(), FailsWith(absl::StatusCode::kNotFound,
                                             HasSubstr("f: expects a weight 'w', but none")));
  GraphBuilder other(context, f32);
  other.beginFunction("f");
  EXPECT_FALSE(other.state("s"));
  EXPECT_THAT(other.getStatus(), FailsWith(absl::StatusCode::kNotFound,
                                           HasSubstr("f: expects a state 's', but none")));
}

/// A name of the other kind is no weight, even where the function has its value already.
TEST_F(GraphBuilderTest, AStateIsNoWeight) {
  builder.declareState("k", {1, 8, 2, 4}, {});
  builder.beginFunction("f");
  EXPECT_TRUE(builder.state("k"));
  EXPECT_FALSE(builder.weight("k"));
  EXPECT_THAT(builder.getStatus(),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("expects a weight 'k'")));
}

TEST_F(GraphBuilderTest, TypesWithoutAnEncoding) {
  builder.beginFunction("f");
  EXPECT_FALSE(builder.input("x", {2}, mlir::Float64Type::get(&context)));
  EXPECT_THAT(builder.getStatus(),
              FailsWith(invalid, HasSubstr("f: input 'x': expects an element type with an "
                                           "encoding, but got f64")));
}

TEST_F(GraphBuilderTest, NegativeLengths) {
  builder.beginFunction("f");
  EXPECT_FALSE(builder.input("x", {2, -1}));
  EXPECT_THAT(builder.getStatus(), FailsWith(invalid, HasSubstr("but got an axis of -1")));
}

TEST_F(GraphBuilderTest, ActivationTypes) {
  GraphBuilder integers(context, i32);
  EXPECT_THAT(integers.finish(), FailsWith(invalid, HasSubstr("f32, f16 or bf16, but got i32")));
}

TEST_F(GraphBuilderTest, ConstantsOfAnotherLength) {
  builder.beginFunction("f");
  EXPECT_FALSE(builder.constant({3}, {1.0f, 2.0f}, {.name = "c"}));
  EXPECT_THAT(builder.getStatus(),
              FailsWith(invalid, HasSubstr("c: expects the elements of tensor<3xf32>, but got 2")));
}

TEST_F(GraphBuilderTest, AFunctionThatIsOpen) {
  GraphBuilder nested(context, f32);
  nested.beginFunction("f", Role::Other, 1);
  nested.beginFunction("g", Role::Other, 1);
  EXPECT_THAT(nested.finish(),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        HasSubstr("expects endFunction before function 'g', but 'f' is open")));
  GraphBuilder unfinished(context, f32);
  unfinished.beginFunction("f", Role::Other, 1);
  EXPECT_THAT(unfinished.finish(),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        HasSubstr("expects endFunction before finish, but 'f' is open")));
}

TEST_F(GraphBuilderTest, SymbolsTwice) {
  builder.declareFile("a", "x", 1, 1);
  builder.declareState("a", {1, 1, 1, 1}, {});
  EXPECT_THAT(builder.finish(), FailsWith(invalid, HasSubstr("but got 'a' twice")));
}

TEST_F(GraphBuilderTest, EmptyNames) {
  builder.declareFile("", "x", 1, 1);
  EXPECT_THAT(builder.finish(), FailsWith(invalid, HasSubstr("expects a name")));
}

TEST_F(GraphBuilderTest, RangesOutside63Bits) {
  builder.declareWeight("w", {4}, f32, {{"m", -4, 16}});
  EXPECT_THAT(builder.finish(), FailsWith(invalid, StartsWith("w: expects a byte range")));
}

TEST_F(GraphBuilderTest, RangesOfOtherSizes) {
  builder.declareFile("m", "x", 64, 1);
  builder.declareWeight("w", {4}, f32, {{"m", 0, 12}});
  EXPECT_THAT(builder.finish(), FailsWith(invalid, StartsWith("w: 'tenon.weight' op expects ranges "
                                                              "of 16 bytes")));
}

TEST_F(GraphBuilderTest, StatesOfNoLength) {
  builder.declareState("k", {0, 8, 2, 4}, {});
  EXPECT_THAT(builder.finish(), FailsWith(invalid, StartsWith("k: expects positive extents")));
}

TEST_F(GraphBuilderTest, ModelsOfNoVocabulary) {
  builder.setModel({"llama", "m", "file", 0, 1, 1});
  EXPECT_THAT(builder.finish(), FailsWith(invalid, HasSubstr("expects positive vocabulary")));
}

TEST_F(GraphBuilderTest, EntriesOfNoRows) {
  builder.beginFunction("f", Role::Decode, 0);
  EXPECT_THAT(builder.finish(), FailsWith(invalid, StartsWith("f: expects a positive number")));
}

TEST_F(GraphBuilderTest, OperationsOutsideAFunction) {
  EXPECT_FALSE(builder.input("x", {1}));
  EXPECT_THAT(builder.finish(), FailsWith(precondition, HasSubstr("expects an open function")));
}

TEST_F(GraphBuilderTest, AFunctionInAFunction) {
  builder.beginFunction("f");
  builder.beginFunction("g");
  EXPECT_THAT(builder.finish(), FailsWith(precondition, HasSubstr("before function 'g', but 'f'")));
}

TEST_F(GraphBuilderTest, FinishInAFunction) {
  builder.beginFunction("f");
  EXPECT_THAT(builder.finish(), FailsWith(precondition, HasSubstr("but 'f' is open")));
}

TEST_F(GraphBuilderTest, AValueOfAnotherFunction) {
  builder.beginFunction("f");
  Value x = builder.input("x", {2});
  builder.output("x", x);
  builder.endFunction();
  builder.beginFunction("g");
  builder.output("y", builder.neg(x, {.name = "n"}));
  builder.endFunction();
  EXPECT_THAT(builder.finish(), FailsWith(invalid, StartsWith("n: ")));
}

TEST_F(GraphBuilderTest, CallsAfterFinish) {
  ASSERT_THAT(builder.finish(), IsOk());
  EXPECT_THAT(builder.finish(), FailsWith(precondition, HasSubstr("no calls after finish")));
  GraphBuilder other(context, f32);
  ASSERT_THAT(other.finish(), IsOk());
  other.setModel({"llama", "m", "file", 1, 1, 1});
  other.declareFile("m", "x", 1, 1);
  EXPECT_THAT(other.getStatus(), FailsWith(precondition, HasSubstr("no calls after finish")));
}

TEST_F(GraphBuilderTest, ErrorsOfTheCaller) {
  builder.fail(absl::InvalidArgumentError("mine"));
  builder.fail(absl::InvalidArgumentError("later"));
  EXPECT_THAT(builder.finish(), FailsWith(invalid, ::testing::StrEq("mine")));
}

} // namespace
} // namespace tenon::frontends
