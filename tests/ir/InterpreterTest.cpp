#include "tests/ir/IrTest.h"

namespace tenon::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<double>;

class InterpreterTest : public IrTest {
protected:
  /// Creates an interpreter of the module; null with a failure where that fails.
  std::unique_ptr<Interpreter> make(std::string_view text, InterpreterOptions options = {}) {
    module = parse(text);
    if (!module)
      return nullptr;
    auto interpreter = Interpreter::create(*module, std::move(options));
    EXPECT_THAT(interpreter, IsOk());
    return interpreter.ok() ? *std::move(interpreter) : nullptr;
  }

  ReferenceTensor scalar(double value) { return tensor("tensor<1xf32>", {value}); }
  ReferenceTensor index(double value) { return tensor("tensor<1xi32>", {value}); }

  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Adds to a state at a position, and yields the whole state before and after.
constexpr std::string_view counting = R"(
  tenon.state @k : !tenon.state<1x2x1x1xf32>
  func.func @write(%v: tensor<1x1x1xf32>, %p: tensor<1xi32>) -> !tenon.state<1x2x1x1xf32> {
    %s = tenon.constant dense<0> : tensor<1xi32> : tensor<1xi32>
    %k = tenon.get_state @k : <1x2x1x1xf32>
    %0 = tenon.kv_write %v, %s, %p into %k
        : (tensor<1x1x1xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x2x1x1xf32>)
        -> !tenon.state<1x2x1x1xf32>
    return %0 : !tenon.state<1x2x1x1xf32>
  }
  func.func @read() -> !tenon.state<1x2x1x1xf32> {
    %k = tenon.get_state @k : <1x2x1x1xf32>
    return %k : !tenon.state<1x2x1x1xf32>
  })";

TEST_F(InterpreterTest, StatesLiveBetweenCallsAndFunctions) {
  auto interpreter = make(counting);
  ASSERT_TRUE(interpreter);
  EXPECT_EQ((*interpreter->run("read", {}))[0].toVector(), Values({0, 0}));
  EXPECT_THAT(interpreter->run("write", {tensor("tensor<1x1x1xf32>", {5}), index(1)}), IsOk());
  EXPECT_THAT(interpreter->run("write", {tensor("tensor<1x1x1xf32>", {3}), index(0)}), IsOk());
  EXPECT_EQ((*interpreter->run("read", {}))[0].toVector(), Values({3, 5}));
  EXPECT_EQ(interpreter->getState("k")->toVector(), Values({3, 5}));
  interpreter->resetStates();
  EXPECT_EQ((*interpreter->run("read", {}))[0].toVector(), Values({0, 0}));
  EXPECT_THAT(interpreter->getState("v"),
              FailsWith(absl::StatusCode::kNotFound, "the module has no state 'v'"));
}

TEST_F(InterpreterTest, WritesInPlace) {
  auto interpreter = make(counting);
  ASSERT_TRUE(interpreter);
  const double* before = interpreter->getState("k")->getValues().data();
  auto results = interpreter->run("write", {tensor("tensor<1x1x1xf32>", {5}), index(1)});
  ASSERT_THAT(results, IsOk());
  EXPECT_EQ((*results)[0].getValues().data(), before);
}

TEST_F(InterpreterTest, StateArgumentsAreCopied) {
  auto interpreter = make(R"(
    func.func @f(%k: !tenon.state<1x1x1x1xf32>, %v: tensor<1x1x1xf32>, %p: tensor<1xi32>)
        -> !tenon.state<1x1x1x1xf32> {
      %0 = tenon.kv_write %v, %p, %p into %k
          : (tensor<1x1x1xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x1x1x1xf32>)
          -> !tenon.state<1x1x1x1xf32>
      return %0 : !tenon.state<1x1x1x1xf32>
    })");
  ASSERT_TRUE(interpreter);
  ReferenceTensor state = tensor("tensor<1x1x1x1xf32>", {1});
  auto results = interpreter->run("f", {state, tensor("tensor<1x1x1xf32>", {2}), index(0)});
  ASSERT_THAT(results, IsOk());
  EXPECT_EQ((*results)[0].toVector(), Values({2}));
  EXPECT_EQ(state.toVector(), Values({1}));
}

constexpr std::string_view inKernels = R"(
  func.func @f(%x: tensor<1xf32>) -> (tensor<1xf16>, tensor<1xf32>) {
    %c = tenon.constant dense<3.0> : tensor<1xf32> : tensor<1xf32>
    %0:2 = tenon.kernel (%a = %x : tensor<1xf32>, %b = %c : tensor<1xf32>)
        -> (tensor<1xf16>, tensor<1xf32>) {
      %1 = tenon.div %a, %b : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf16>
      %2 = tenon.cast %1 : (tensor<1xf16>) -> tensor<1xf32>
      %3 = tenon.add %2, %b : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      tenon.yield %1, %3 : tensor<1xf16>, tensor<1xf32>
    }
    return %0#0, %0#1 : tensor<1xf16>, tensor<1xf32>
  })";

TEST_F(InterpreterTest, KernelsAreTransparentAndProbed) {
  std::vector<std::string> names;
  Values values;
  auto results =
      run(inKernels, {scalar(1)},
          {.probe = [&](mlir::Operation* op, unsigned result, const ReferenceTensor& value) {
            names.push_back(op->getName().stripDialect().str());
            values.push_back(value.toVector()[0]);
            EXPECT_EQ(result, 0u);
          }});
  const double third = 0x1.554p-2; // 1/3 in f16
  EXPECT_THAT(results, ElementsAre(Values({third}), Values({3 + third})));
  EXPECT_THAT(names, ElementsAre("div", "cast", "add"));
  EXPECT_THAT(values, ElementsAre(third, third, 3 + third));
}

TEST_F(InterpreterTest, LeavesOutRounding) {
  auto results = run(inKernels, {scalar(1)}, {.round = false});
  EXPECT_THAT(results, ElementsAre(Values({1.0 / 3}), Values({3 + 1.0 / 3})));
}

TEST_F(InterpreterTest, AKernelMayYieldTwiceTheSame) {
  auto results =
      run(R"(func.func @f(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
    %0:3 = tenon.kernel (%a = %x : tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
      %1 = tenon.neg %a : (tensor<1xf32>) -> tensor<1xf32>
      %2 = tenon.square %a : (tensor<1xf32>) -> tensor<1xf32>
      tenon.yield %1, %2, %1 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
    }
    return %0#0, %0#1, %0#2 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
  })",
          {scalar(2)});
  EXPECT_THAT(results, ElementsAre(Values({-2}), Values({4}), Values({-2})));
}

TEST_F(InterpreterTest, ConstantsOfEveryType) {
  auto results =
      run(R"(func.func @f() -> (tensor<2xi32>, tensor<2xf16>, tensor<2xbf16>, tensor<f32>) {
    %0 = tenon.constant dense<[-2147483648, 7]> : tensor<2xi32> : tensor<2xi32>
    %1 = tenon.constant dense<[0.1, -2.0]> : tensor<2xf16> : tensor<2xf16>
    %2 = tenon.constant dense<0.1> : tensor<2xbf16> : tensor<2xbf16>
    %3 = tenon.constant dense<0.1> : tensor<f32> : tensor<f32>
    return %0, %1, %2, %3 : tensor<2xi32>, tensor<2xf16>, tensor<2xbf16>, tensor<f32>
  })",
          {});
  EXPECT_THAT(results, ElementsAre(Values({-2147483648.0, 7}), Values({0x1.998p-4, -2}),
                                   Values({0x1.9ap-4, 0x1.9ap-4}), Values({0.1f})));
}

TEST_F(InterpreterTest, TakesEncodedInputs) {
  std::vector<std::byte> one = scalar(1.5).encode();
  auto results = run("func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> { %0 = tenon.add %x, %x : "
                     "(tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> return %0 : tensor<1xf32> }",
                     {ReferenceTensor(type("tensor<1xf32>"), one, nullptr)});
  EXPECT_THAT(results, ElementsAre(Values({3})));
}

TEST_F(InterpreterTest, RefusesUnknownFunctions) {
  auto interpreter = make("func.func private @declared() func.func @two() { return ^bb1: return }");
  ASSERT_TRUE(interpreter);
  EXPECT_THAT(interpreter->run("g", {}),
              FailsWith(absl::StatusCode::kNotFound, "the module has no function 'g'"));
  EXPECT_THAT(interpreter->run("declared", {}),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        "function 'declared': expects a body of one block, but got 0"));
  EXPECT_THAT(interpreter->run("two", {}),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        "function 'two': expects a body of one block, but got 2"));
}

TEST_F(InterpreterTest, RefusesWrongInputs) {
  auto interpreter = make("func.func @f(%x: tensor<1xf32>, %i: tensor<1xi32>) { return } "
                          "func.func @g(%x: index) { return }");
  ASSERT_TRUE(interpreter);
  auto invalid = [](std::string message) {
    return FailsWith(absl::StatusCode::kInvalidArgument, message);
  };
  EXPECT_THAT(interpreter->run("f", {}), invalid("function 'f': expects 2 inputs, but got 0"));
  EXPECT_THAT(interpreter->run("f", {scalar(1), scalar(1)}),
              invalid("function 'f': argument #1: expects tensor<1xi32>, but got tensor<1xf32>"));
  EXPECT_THAT(interpreter->run("f", {ReferenceTensor(), index(1)}),
              invalid("function 'f': argument #0: expects tensor<1xf32>, but got nothing"));
  for (auto [value, text] : std::vector<std::pair<double, std::string>>{
           {0.5, "0.5"}, {NAN, "nan"}, {2147483648.0, "2.14748e+09"}, {-3e9, "-3e+09"}})
    EXPECT_THAT(interpreter->run("f", {scalar(1), index(value)}),
                invalid("function 'f': argument #1: expects integers of 32 bits, but got " + text +
                        " at element 0"));
  EXPECT_THAT(interpreter->run("g", {scalar(1)}),
              invalid("function 'g': argument #0: expects a tensor or state of static size, but is "
                      "index"));
}

/// Of i64 it holds what a double does, and says where there is more.
TEST_F(InterpreterTest, RefusesIntegersOfMoreThan53Bits) {
  auto interpreter = make(
      "func.func @f(%x: tensor<1xi64>) -> tensor<1xi64> {\n  %0 = tenon.mul %x, %x : "
      "(tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>\n  return %0 : tensor<1xi64>\n}\n"
      "func.func @g() -> tensor<2xi64> {\n  %0 = tenon.constant dense<[1, 9007199254740993]> : "
      "tensor<2xi64> : tensor<2xi64>\n  return %0 : tensor<2xi64>\n}\n"
      "func.func @h(%x: tensor<1xi1>) {\n  return\n}");
  ASSERT_TRUE(interpreter);
  auto fails = [](std::string message) {
    return FailsWith(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr(message));
  };
  ReferenceTensor wide(type("tensor<1xi64>")), truth(type("tensor<1xi1>"));
  wide.getValues()[0] = 0x1p26;
  EXPECT_THAT(interpreter->run("f", {wide}), IsOk());
  wide.getValues()[0] = 0x1p27;
  const std::string message =
      "expects integers of 64 bits of which a double holds each, of at most 53 bits, but got ";
  EXPECT_THAT(interpreter->run("f", {wide}), fails(message + "1.80144e+16 at element 0"));
  wide.getValues()[0] = -0x1p53;
  EXPECT_THAT(interpreter->run("f", {wide}),
              fails("argument #0: " + message + "-9.0072e+15 at element 0"));
  auto bytes = std::make_shared<std::vector<std::byte>>(8, std::byte{0x7f});
  EXPECT_THAT(interpreter->run("f", {ReferenceTensor(type("tensor<1xi64>"), *bytes, bytes)}),
              fails("argument #0: " + message));
  EXPECT_THAT(interpreter->run("g", {}), fails(message + "9.0072e+15 at element 1"));
  truth.getValues()[0] = 2;
  EXPECT_THAT(interpreter->run("h", {truth}),
              fails("argument #0: expects bools, 0 or 1, but got 2 at element 0"));
}

TEST_F(InterpreterTest, NamesFunctionOperationAndLocation) {
  auto interpreter = make("func.func @f(%x: tensor<1xf32>) {\n  %0 = arith.addf %x, %x : "
                          "tensor<1xf32>\n  return\n}");
  ASSERT_TRUE(interpreter);
  auto status = interpreter->run("f", {scalar(1)});
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kUnimplemented,
                                ::testing::MatchesRegex("function 'f': arith.addf at .*:2:8: is no "
                                                        "operation of the interpreter")));
}

TEST_F(InterpreterTest, RefusesModulesThatDoNotVerify) {
  mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto broken = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @f(%x: tensor<1xf32>) { %0 = tenon.neg %x : (tensor<1xf32>) -> tensor<2xf32> "
      "return }",
      config);
  EXPECT_THAT(Interpreter::create(*broken),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        HasSubstr("'tenon.neg' op expects result #0 of shape [1]")));
}

/// Memory: what a module may hold at once.
TEST_F(InterpreterTest, RefusesLargeStates) {
  module = parse("tenon.state @a : !tenon.state<60xf32> tenon.state @b : !tenon.state<50xf32>");
  EXPECT_THAT(Interpreter::create(*module, {.maxElements = 100}),
              FailsWith(absl::StatusCode::kResourceExhausted,
                        "state 'b': expects at most 100 elements held at once, but "
                        "!tenon.state<50xf32> comes on top of 60"));
  EXPECT_THAT(Interpreter::create(*module, {.maxElements = 110}), IsOk());
}

TEST_F(InterpreterTest, RefusesLargeIntermediates) {
  auto interpreter = make(R"(
    func.func @outer(%x: tensor<1048576x1xf32>, %y: tensor<1048576xf32>) -> tensor<1048576x1048576xf32> {
      %0 = tenon.add %x, %y : (tensor<1048576x1xf32>, tensor<1048576xf32>) -> tensor<1048576x1048576xf32>
      return %0 : tensor<1048576x1048576xf32>
    }
    func.func @constant() -> tensor<4000x4000xf32> {
      %0 = tenon.constant dense<0.0> : tensor<4000x4000xf32> : tensor<4000x4000xf32>
      return %0 : tensor<4000x4000xf32>
    })",
                          {.maxElements = 10000000});
  ASSERT_TRUE(interpreter);
  EXPECT_THAT(interpreter->run("outer", {ReferenceTensor(type("tensor<1048576x1xf32>")),
                                         ReferenceTensor(type("tensor<1048576xf32>"))}),
              FailsWith(absl::StatusCode::kResourceExhausted,
                        HasSubstr("tensor<1048576x1048576xf32> comes on top of 0")));
  EXPECT_THAT(interpreter->run("constant", {}),
              FailsWith(absl::StatusCode::kResourceExhausted, HasSubstr("tenon.constant at ")));
}

/// A chain of `length` operations on [8]; with `keep`, the first result is used at the end.
std::string chain(int length, bool keep) {
  std::string text = "func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n";
  std::string types = " : (tensor<8xf32>) -> tensor<8xf32>\n";
  for (int i = 0; i < length; ++i)
    text += "%" + std::to_string(i) + " = tenon.neg %" + (i ? std::to_string(i - 1) : "x") + types;
  std::string last = "%" + std::to_string(length - 1);
  text += "%r = tenon.add " + last + ", " + (keep ? "%0" : last) +
          " : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>\n return %r : tensor<8xf32> }";
  return text;
}

TEST_F(InterpreterTest, FreesAfterTheLastUse) {
  ReferenceTensor input(type("tensor<8xf32>"));
  auto interpreter = make(chain(50, /*keep=*/false), {.maxElements = 16});
  ASSERT_TRUE(interpreter);
  EXPECT_THAT(interpreter->run("f", {input}), IsOk());
  EXPECT_THAT(interpreter->run("f", {input}), IsOk()) << "what a call held is free again";
  interpreter = make(chain(50, /*keep=*/true), {.maxElements = 16});
  ASSERT_TRUE(interpreter);
  EXPECT_THAT(interpreter->run("f", {input}),
              FailsWith(absl::StatusCode::kResourceExhausted, HasSubstr("on top of 16")));
  interpreter = make(chain(50, /*keep=*/true), {.maxElements = 24});
  ASSERT_TRUE(interpreter);
  EXPECT_THAT(interpreter->run("f", {input}), IsOk());
}

/// What a kernel yields twice counts for as long as one of the two lives.
TEST_F(InterpreterTest, SharedElementsStayCounted) {
  auto interpreter = make(R"(func.func @f(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %1:2 = tenon.kernel (%a = %x : tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %0 = tenon.neg %a : (tensor<8xf32>) -> tensor<8xf32>
      tenon.yield %0, %0 : tensor<8xf32>, tensor<8xf32>
    }
    %2 = tenon.neg %x : (tensor<8xf32>) -> tensor<8xf32>
    return %1#1, %2 : tensor<8xf32>, tensor<8xf32>
  })",
                          {.maxElements = 15});
  ASSERT_TRUE(interpreter);
  EXPECT_THAT(interpreter->run("f", {ReferenceTensor(type("tensor<8xf32>"))}),
              FailsWith(absl::StatusCode::kResourceExhausted, HasSubstr("on top of 8")));
}

TEST_F(InterpreterTest, UnusedResultsAndArgumentsAreFreed) {
  auto interpreter = make(R"(func.func @f(%x: tensor<8xf32>, %unused: tensor<8xf32>) {
    %0 = tenon.neg %x : (tensor<8xf32>) -> tensor<8xf32>
    %1 = tenon.neg %x : (tensor<8xf32>) -> tensor<8xf32>
    return
  })",
                          {.maxElements = 8});
  ASSERT_TRUE(interpreter);
  ReferenceTensor input(type("tensor<8xf32>"));
  EXPECT_THAT(interpreter->run("f", {input, input}), IsOk());
}

} // namespace
} // namespace tenon::tests
