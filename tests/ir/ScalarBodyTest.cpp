#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "mlir/IR/Verifier.h"
#include "tests/ir/IrTest.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tenon::tests {
namespace {

using namespace mlir;

/// An elementwise operation, and by how much its body may differ from its reference.
struct Case {
  std::string name;
  std::string assembly; ///< with %x, %y where there are two operands, %z where there are three
  int operands;
  double relative;             ///< 0: correctly rounded, equal
  double absolutePerInput = 0; ///< times |x|: what a cancelling formula loses
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::string name :
       {"neg", "abs", "square", "sqrt", "relu", "cast", "sign", "floor", "ceil", "round", "trunc"})
    all.push_back({name, name + " %x", 1, 0});
  all.push_back({"scale", "scale %x by 0.1", 1, 0});
  for (std::string bounds :
       {"-2.0 to 3.5", "0.0 to 6.0", "-6.0 to -0.0", "0xFFF0000000000000 to 1.0"})
    all.push_back({"clamp", "clamp %x from " + bounds, 1, 0});
  for (std::string predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
    all.push_back({"compare", "compare " + predicate + " %x, %y", 2, 0});
  all.push_back({"select", "select %x, %y, %z", 3, 0});
  all.push_back({"pow", "pow %x, %y", 2, 5e-7});
  all.push_back({"mod", "mod %x, %y", 2, 0});
  for (std::string name : {"add", "sub", "mul", "div", "max", "min"})
    all.push_back({name, name + " %x, %y", 2, 0});
  for (std::string name : {"rsqrt", "exp", "log", "sin", "cos", "tanh", "erf", "sigmoid", "silu"})
    all.push_back({name, name + " %x", 1, 5e-7});
  for (std::string activation : {"silu", "relu", "sigmoid"})
    all.push_back({"glu", "glu " + activation + " %x, %y", 2, 5e-7});
  all.push_back({"gelu", "gelu %x", 1, 5e-7, 1.2e-7});
  all.push_back({"glu", "glu gelu %x, %y", 2, 5e-7, 1.2e-7});
  // e⁻²ᵘ is off by the rounding of 2u, which is below 100.
  all.push_back({"gelu_tanh", "gelu_tanh %x", 1, 1.2e-5});
  all.push_back({"glu", "glu gelu_tanh %x, %y", 2, 1.2e-5});
  return all;
}

/// Runs arith and math operations on f32.
class BodyEvaluator {
public:
  float evaluate(Block& block, llvm::ArrayRef<float> arguments, Value result) {
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
      values[argument] = value;
    for (Operation& op : block)
      if (op.getNumResults() == 1)
        values[op.getResult(0)] = step(op);
    return values.at(result);
  }

private:
  float operand(Operation& op, unsigned index) { return values.at(op.getOperand(index)); }

  float step(Operation& op) {
    if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op))
      return llvm::cast<FloatAttr>(constant.getValue()).getValue().convertToFloat();
    if (llvm::isa<arith::SelectOp>(op))
      return operand(op, 0) != 0 ? operand(op, 1) : operand(op, 2);
    if (auto comparison = llvm::dyn_cast<arith::CmpFOp>(op))
      return compare(comparison.getPredicate(), operand(op, 0), operand(op, 1));
    if (llvm::isa<math::FmaOp>(op))
      return std::fma(operand(op, 0), operand(op, 1), operand(op, 2));
    if (op.getNumOperands() == 2)
      return binary(op, operand(op, 0), operand(op, 1));
    return unary(op, operand(op, 0));
  }

  static float compare(arith::CmpFPredicate predicate, float a, float b) {
    switch (predicate) {
    case arith::CmpFPredicate::OEQ:
      return a == b;
    case arith::CmpFPredicate::UNE:
      return a != b;
    case arith::CmpFPredicate::OLT:
      return a < b;
    case arith::CmpFPredicate::OLE:
      return a <= b;
    case arith::CmpFPredicate::OGT:
      return a > b;
    case arith::CmpFPredicate::OGE:
      return a >= b;
    default:
      ADD_FAILURE() << "the test does not know the predicate";
      return 0;
    }
  }

  static float binary(Operation& op, float a, float b) {
    if (llvm::isa<arith::MaximumFOp>(op))
      return std::isnan(a) || std::isnan(b) ? NAN
             : a == b                       ? (std::signbit(a) ? b : a)
                                            : std::max(a, b);
    if (llvm::isa<arith::MinimumFOp>(op))
      return std::isnan(a) || std::isnan(b) ? NAN
             : a == b                       ? (std::signbit(a) ? a : b)
                                            : std::min(a, b);
    return llvm::TypeSwitch<Operation*, float>(&op)
        .Case<arith::AddFOp>([&](auto) { return a + b; })
        .Case<arith::SubFOp>([&](auto) { return a - b; })
        .Case<arith::MulFOp>([&](auto) { return a * b; })
        .Case<arith::DivFOp>([&](auto) { return a / b; })
        .Case<math::PowFOp>([&](auto) { return std::pow(a, b); })
        .Default([](Operation* op) { return unknown(*op); });
  }

  static float unary(Operation& op, float x) {
    return llvm::TypeSwitch<Operation*, float>(&op)
        .Case<arith::NegFOp>([&](auto) { return -x; })
        .Case<math::AbsFOp>([&](auto) { return std::fabs(x); })
        .Case<math::SqrtOp>([&](auto) { return std::sqrt(x); })
        .Case<math::ExpOp>([&](auto) { return std::exp(x); })
        .Case<math::Exp2Op>([&](auto) { return std::exp2(x); })
        .Case<math::LogOp>([&](auto) { return std::log(x); })
        .Case<math::SinOp>([&](auto) { return std::sin(x); })
        .Case<math::CosOp>([&](auto) { return std::cos(x); })
        .Case<math::TanhOp>([&](auto) { return std::tanh(x); })
        .Case<math::ErfOp>([&](auto) { return std::erf(x); })
        .Case<math::FloorOp>([&](auto) { return std::floor(x); })
        .Case<math::CeilOp>([&](auto) { return std::ceil(x); })
        .Case<math::RoundEvenOp>([&](auto) { return std::nearbyint(x); })
        .Case<math::TruncOp>([&](auto) { return std::trunc(x); })
        .Case<arith::UIToFPOp>([&](auto) { return x; })
        .Default([](Operation* op) { return unknown(*op); });
  }

  static float unknown(Operation& op) {
    ADD_FAILURE() << "the test does not know " << op.getName().getStringRef().str();
    return 0;
  }

  llvm::DenseMap<Value, float> values;
};

std::vector<float> points() {
  std::vector<float> all = {0,
                            1e-45f,
                            1e-40f,
                            1e-30f,
                            1e-5f,
                            0.1f,
                            0.5f,
                            1,
                            1.5f,
                            3,
                            5,
                            10,
                            20,
                            50,
                            87,
                            88.5f,
                            89,
                            100,
                            104,
                            1e4f,
                            1e10f,
                            1e30f,
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::infinity()};
  std::mt19937 generator(1);
  std::normal_distribution<float> normal(0, 4);
  for (int i = 0; i < 300; ++i)
    all.push_back(normal(generator));
  for (size_t i = 0, e = all.size(); i < e; ++i)
    all.push_back(-all[i]);
  all.push_back(NAN);
  return all;
}

class ScalarBodyTest : public IrTest {
protected:
  OwningOpRef<ModuleOp> makeModule(const Case& testCase) {
    std::string types = "tensor<1xf32>";
    for (int i = 1; i < testCase.operands; ++i)
      types += ", tensor<1xf32>";
    return parse("func.func @f(%x: tensor<1xf32>, %y: tensor<1xf32>, %z: tensor<1xf32>) { "
                 "%0 = tenon." +
                 testCase.assembly + " : (" + types + ") -> tensor<1xf32> return }");
  }

  /// Compares body and reference at one point.
  void compare(const Case& testCase, ElementwiseOpInterface op, Block& body, Value result,
               llvm::ArrayRef<float> x) {
    // Beyond that a quotient in f32 does not tell an integer from the next.
    if (testCase.name == "mod" && std::abs(x[0] / x[1]) >= 0x1p24f)
      return;
    llvm::SmallVector<double> wide(x.begin(), x.end());
    float expected = static_cast<float>(op.evaluateElement(wide));
    float found = BodyEvaluator().evaluate(body, x, result);
    std::string where = testCase.assembly + " at " + std::to_string(x.front()) +
                        (x.size() > 1 ? ", " + std::to_string(x[1]) : "");
    if (std::isnan(expected) || std::isnan(found)) {
      EXPECT_EQ(std::isnan(expected), std::isnan(found)) << where << ": " << found;
      return;
    }
    if (testCase.relative == 0 || expected == 0 || std::isinf(expected)) {
      EXPECT_EQ(expected, found) << where;
      EXPECT_EQ(std::signbit(expected), std::signbit(found)) << where;
      return;
    }
    double factor = testCase.name == "glu" ? std::max(1.0f, std::fabs(x[1])) : 1;
    double tolerance = testCase.relative * std::fabs(expected) + 1e-36 * factor;
    if (std::isfinite(x[0]))
      tolerance += testCase.absolutePerInput * std::fabs(x[0]) * factor;
    EXPECT_NEAR(expected, found, tolerance) << where;
  }

  /// The second operands to try beside `x`: all that do not leave the range of f32 on the way.
  static std::vector<float> partners(const Case& testCase) {
    if (testCase.name == "glu")
      return {0, -0.0f, 1, -2.5f, 1e-3f, NAN};
    return {0, -0.0f, 1, -1, 0.3f, -7, 1e-40f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN};
  }
};

TEST_F(ScalarBodyTest, CoversEveryElementwiseOperation) {
  std::set<std::string> registered, covered;
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("tenon"))
    if (name.hasInterface<ElementwiseOpInterface>())
      registered.insert(name.stripDialect().str());
  for (const Case& testCase : cases())
    covered.insert(testCase.name);
  EXPECT_EQ(registered, covered);
}

TEST_F(ScalarBodyTest, AgreesWithReference) {
  for (const Case& testCase : cases()) {
    OwningOpRef<ModuleOp> module = makeModule(testCase);
    auto op = find<ElementwiseOpInterface>(*module);
    Block body;
    OpBuilder builder(&context);
    builder.setInsertionPointToStart(&body);
    for (int i = 0; i < testCase.operands; ++i)
      body.addArgument(builder.getF32Type(), builder.getUnknownLoc());
    Value result = op.buildScalarBody(builder, builder.getUnknownLoc(), body.getArguments());
    for (float x : points())
      if (testCase.operands == 1)
        compare(testCase, op, body, result, {x});
      else
        for (float y : partners(testCase))
          compare(testCase, op, body, result,
                  llvm::ArrayRef<float>({x, y, 2.5f}).take_front(testCase.operands));
  }
}

TEST_F(ScalarBodyTest, TakesVectors) {
  for (const Case& testCase : cases()) {
    OwningOpRef<ModuleOp> module = makeModule(testCase);
    auto op = find<ElementwiseOpInterface>(*module);
    OpBuilder builder(&context);
    auto vector = VectorType::get({8}, builder.getF32Type());
    auto function = func::FuncOp::create(
        builder, builder.getUnknownLoc(), "body",
        builder.getFunctionType(llvm::SmallVector<Type>(testCase.operands, vector), {vector}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    Value result = op.buildScalarBody(builder, builder.getUnknownLoc(), function.getArguments());
    EXPECT_EQ(result.getType(), vector) << testCase.assembly;
    func::ReturnOp::create(builder, builder.getUnknownLoc(), result);
    EXPECT_TRUE(succeeded(verify(function))) << testCase.assembly;
    function.erase();
  }
}

/// The values: ½ · x · (1 + tanh u) in Python's decimal with 60 digits. In f32 that form would have
/// no digit left at −6.
TEST_F(ScalarBodyTest, GeluTanhDoesNotCancel) {
  OwningOpRef<ModuleOp> module = makeModule({"gelu_tanh", "gelu_tanh %x", 1, 0});
  auto op = find<ElementwiseOpInterface>(*module);
  Block body;
  OpBuilder builder(&context);
  builder.setInsertionPointToStart(&body);
  body.addArgument(builder.getF32Type(), builder.getUnknownLoc());
  Value result = op.buildScalarBody(builder, builder.getUnknownLoc(), body.getArguments());
  for (auto [x, expected] : std::vector<std::pair<double, double>>{{-3, -3.637392081773019e-3},
                                                                   {-5, -2.291796196629506e-7},
                                                                   {-6, -8.43964670076230e-11},
                                                                   {-8, -3.1077829375011e-21}}) {
    EXPECT_NEAR(op.evaluateElement(x) / expected, 1, 1e-13) << x;
    EXPECT_NEAR(BodyEvaluator().evaluate(body, {static_cast<float>(x)}, result) / expected, 1, 2e-5)
        << x;
  }
}

/// ½ · x · erfc(−x / √2), of which 1 + erf in f32 would leave no digit at −6.
TEST_F(ScalarBodyTest, GeluDoesNotCancel) {
  OwningOpRef<ModuleOp> module = makeModule({"gelu", "gelu %x", 1, 0});
  auto op = find<ElementwiseOpInterface>(*module);
  Block body;
  OpBuilder builder(&context);
  builder.setInsertionPointToStart(&body);
  body.addArgument(builder.getF32Type(), builder.getUnknownLoc());
  Value result = op.buildScalarBody(builder, builder.getUnknownLoc(), body.getArguments());
  for (float x = -6; x <= 6; x += 0x1p-7f)
    if (x != 0)
      EXPECT_NEAR(BodyEvaluator().evaluate(body, {x}, result) / op.evaluateElement(double{x}), 1,
                  x < -1 ? 0x1p-8 : 5e-7)
          << x;
}

} // namespace
} // namespace tenon::tests
