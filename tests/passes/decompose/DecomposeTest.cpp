// What is taken apart means the same to the interpreter, and what cannot be stays as it is.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "frontends/text/TextFrontend.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::passes {
namespace {

using namespace mlir;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::Not;
using ::testing::Pointwise;
using tests::IsOk;

/// A prompt of 6 rows, 4 heads of queries over 2 of keys; `attributes` of the attention.
std::string promptWith(const std::string& attributes) {
  return R"(
tenon.state @k : !tenon.state<1x16x2x8xf32>
tenon.state @v : !tenon.state<1x16x2x4xf32>
func.func @f(%q: tensor<6x4x8xf32>, %k: tensor<6x2x8xf32>, %v: tensor<6x2x4xf32>,
             %s: tensor<1xi32>, %p: tensor<6xi32>) -> tensor<6x4x4xf32>
    attributes {tenon.entry = #tenon.entry<prefill, rows = 6>} {
  %k0 = tenon.get_state @k : !tenon.state<1x16x2x8xf32>
  %v0 = tenon.get_state @v : !tenon.state<1x16x2x4xf32>
  %k1 = tenon.kv_write %k, %s, %p into %k0 : (tensor<6x2x8xf32>, tensor<1xi32>, tensor<6xi32>, !tenon.state<1x16x2x8xf32>) -> !tenon.state<1x16x2x8xf32>
  %v1 = tenon.kv_write %v, %s, %p into %v0 : (tensor<6x2x4xf32>, tensor<1xi32>, tensor<6xi32>, !tenon.state<1x16x2x4xf32>) -> !tenon.state<1x16x2x4xf32>
  %y = tenon.attention %q, %k1, %v1, %s, %p scale 0.35 )" +
         attributes +
         R"( : (tensor<6x4x8xf32>, !tenon.state<1x16x2x8xf32>, !tenon.state<1x16x2x4xf32>, tensor<1xi32>, tensor<6xi32>) -> tensor<6x4x4xf32>
  return %y : tensor<6x4x4xf32>
})";
}

constexpr const char* overTensors = R"(
func.func @f(%q: tensor<3x4x8xf32>, %k: tensor<1x7x2x8xf32>, %v: tensor<1x7x2x4xf32>,
             %s: tensor<1xi32>, %p: tensor<3xi32>) -> tensor<3x4x4xf32> {
  %y = tenon.attention %q, %k, %v, %s, %p scale 0.35 {causal = false} : (tensor<3x4x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x4xf32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x4xf32>
  return %y : tensor<3x4x4xf32>
})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

/// Over tensors, of `heads` heads of queries, with weights of that type.
std::string withWeights(const std::string& heads, const std::string& type) {
  std::string text = R"(
func.func @f(%q: tensor<3xHx8xf32>, %k: tensor<1x7x2x8xf32>, %v: tensor<1x7x2x4xf32>,
             %s: tensor<1xi32>, %p: tensor<3xi32>) -> (tensor<3xHx4xf32>, tensor<Hx3x7xT>) {
  %y:2 = tenon.attention %q, %k, %v, %s, %p scale 0.35 {causal = false} : (tensor<3xHx8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x4xf32>, tensor<1xi32>, tensor<3xi32>) -> (tensor<3xHx4xf32>, tensor<Hx3x7xT>)
  return %y#0, %y#1 : tensor<3xHx4xf32>, tensor<Hx3x7xT>
})";
  return absl::StrReplaceAll(text, {{"xH", "x" + heads}, {"<H", "<" + heads}, {"xT", "x" + type}});
}

/// A prompt of fewer rows than its cache has positions, which the weights are of.
std::string promptWithWeights() {
  std::string text = promptWith("");
  for (auto [from, to] :
       {std::pair("tensor<6xi32>) -> tensor<6x4x4xf32>\n    attr",
                  "tensor<6xi32>) -> (tensor<6x4x4xf32>, tensor<4x6x16xf32>)\n    attr"),
        {"%y =", "%y:2 ="},
        {"tensor<6xi32>) -> tensor<6x4x4xf32>\n  return %y : tensor<6x4x4xf32>",
         "tensor<6xi32>) -> (tensor<6x4x4xf32>, tensor<4x6x16xf32>)\n  return %y#0, %y#1 : "
         "tensor<6x4x4xf32>, tensor<4x6x16xf32>"}})
    text = replaced(text, from, to);
  return text;
}

/// The same with an operand of its scores, `clause %b`.
std::string scored(std::string text, const std::string& clause, const std::string& type) {
  text = replaced(text, "xi32>) -> tensor", "xi32>, %b: " + type + ") -> tensor");
  text = replaced(text, "%p scale", "%p " + clause + " %b scale");
  size_t last = text.rfind("xi32>) -> ");
  return text.replace(last, 6, "xi32>, " + type + ")");
}

std::string gluOf(const std::string& activation) {
  return R"(
func.func @f(%a: tensor<5x8xf32>, %b: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %y = tenon.glu )" +
         activation + R"( %a, %b : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
})";
}

/// Random floats; integers are 0, 1, …: the positions of a prompt, and sequence 0.
std::vector<ReferenceTensor> makeInputs(func::FuncOp function) {
  std::mt19937 engine(7);
  std::normal_distribution<double> gaussian;
  std::vector<ReferenceTensor> inputs;
  for (Type type : function.getArgumentTypes()) {
    ReferenceTensor& input = inputs.emplace_back(llvm::cast<RankedTensorType>(type));
    bool isInteger = input.getType().getElementType().isInteger();
    for (auto [index, value] : llvm::enumerate(input.getValues()))
      value = isInteger ? static_cast<double>(index) : static_cast<float>(gaussian(engine));
  }
  return inputs;
}

std::vector<double> runFunction(ModuleOp module) {
  auto interpreter = Interpreter::create(module);
  EXPECT_THAT(interpreter, IsOk());
  auto results = (*interpreter)->run("f", makeInputs(*module.getOps<func::FuncOp>().begin()));
  EXPECT_THAT(results, IsOk());
  std::vector<double> all;
  for (const ReferenceTensor& result : *results)
    llvm::append_range(all, result.getValues());
  return all;
}

void decompose(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addNestedPass<func::FuncOp>(createDecomposePass());
  ASSERT_TRUE(succeeded(manager.run(module)));
}

std::vector<std::string> operationsOf(ModuleOp module) {
  std::vector<std::string> names;
  module.walk([&](Operation* op) { names.push_back(op->getName().getStringRef().str()); });
  return names;
}

class Decompose : public testing::TestWithParam<std::string> {};

TEST_P(Decompose, MeansTheSame) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, GetParam(), "test");
  ASSERT_THAT(module, IsOk());
  std::vector<double> expected = runFunction(**module);
  decompose(**module);
  EXPECT_THAT(operationsOf(**module), Not(Contains("tenon.attention")));
  EXPECT_THAT(operationsOf(**module), Not(Contains("tenon.glu")));
  EXPECT_THAT(runFunction(**module), Pointwise(DoubleNear(1e-5), expected));
}

INSTANTIATE_TEST_SUITE_P(
    Operations, Decompose,
    testing::Values(promptWith(""), promptWith("{window = 3 : i64}"), promptWith("{softcap = 2.0}"),
                    promptWith("{window = 2 : i64, softcap = 5.0}"),
                    scored(promptWith(""), "bias", "tensor<4x6x16xf32>"),
                    scored(promptWith(""), "bias", "tensor<1x1x16xf32>"),
                    scored(promptWith("{window = 3 : i64}"), "slopes", "tensor<4xf32>"),
                    scored(overTensors, "bias", "tensor<4x1x7xf32>"),
                    scored(overTensors, "bias", "tensor<1x3x7xf32>"), std::string(overTensors),
                    withWeights("2", "f32"), withWeights("4", "f32"), withWeights("4", "f16"),
                    gluOf("silu"), gluOf("gelu"), gluOf("gelu_tanh"), gluOf("relu"),
                    gluOf("sigmoid")));

class Keeps : public testing::TestWithParam<std::string> {};

TEST_P(Keeps, AnAttentionWithoutTensorsOfOneSequence) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, GetParam(), "test");
  ASSERT_THAT(module, IsOk());
  decompose(**module);
  EXPECT_THAT(operationsOf(**module), Contains("tenon.attention"));
}

/// Decode over a cache; a prompt that is written for other positions; rows that may stand anywhere.
INSTANTIATE_TEST_SUITE_P(Operations, Keeps,
                         testing::Values(replaced(promptWith(""), "prefill", "decode"),
                                         replaced(replaced(promptWith(""), "%p: tensor<6xi32>",
                                                           "%p: tensor<6xi32>, %o: tensor<6xi32>"),
                                                  "%k, %s, %p into", "%k, %s, %o into"),
                                         promptWithWeights(),
                                         scored(promptWith(""), "sinks", "tensor<4xf32>"),
                                         scored(overTensors, "slopes", "tensor<4xf32>"),
                                         replaced(overTensors, " {causal = false}", "")));

} // namespace
} // namespace tenon::passes
