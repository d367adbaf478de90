// A deferred norm means what the norm means, as near to it as exact numerics are.
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipeline.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::passes {
namespace {

using namespace mlir;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using tests::IsOk;

/// Products of one norm: a gated pair and one beside it.
struct Shape {
  int64_t rows, depth, columns;
};

struct Case {
  std::string name;
  std::string type;   ///< of activations
  std::string weight; ///< type of the matrices
  bool isWeighted;    ///< the norm

  friend void PrintTo(const Case& printed, std::ostream* out) { *out << printed.name; }
};

std::string graphOf(const Case& of, const Shape& shape) {
  std::string norm =
      of.isWeighted ? "%x, %g eps 1.0e-5 : ({X}, {G}) -> {X}" : "%x eps 1.0e-5 : ({X}) -> {X}";
  std::string text = R"(
func.func @f(%x: {X}, %g: {G}, %u: {W}, %v: {W}, %w: {W}) -> ({Y}, {Y}) {
  %n = tenon.rms_norm )" +
                     norm + R"(
  %0 = tenon.matmul %n, %u : ({X}, {W}) -> {Y}
  %1 = tenon.matmul %n, %v : ({X}, {W}) -> {Y}
  %2 = tenon.glu silu %0, %1 : ({Y}, {Y}) -> {Y}
  %3 = tenon.matmul %n, %w : ({X}, {W}) -> {Y}
  return %2, %3 : {Y}, {Y}
})";
  return absl::StrReplaceAll(
      text, {{"{X}", absl::StrFormat("tensor<%dx%dx%s>", shape.rows, shape.depth, of.type)},
             {"{Y}", absl::StrFormat("tensor<%dx%dx%s>", shape.rows, shape.columns, of.type)},
             {"{W}", absl::StrFormat("tensor<%dx%dx%s>", shape.columns, shape.depth, of.weight)},
             {"{G}", absl::StrFormat("tensor<%dxf32>", shape.depth)}});
}

/// Random floats that the types hold, x `scale` times as large, matrices so that sums are about 1.
std::vector<ReferenceTensor> makeInputs(ModuleOp module, double scale) {
  std::mt19937 engine(7);
  std::normal_distribution<double> gaussian;
  std::vector<ReferenceTensor> inputs;
  for (Type type : (*module.getOps<func::FuncOp>().begin()).getArgumentTypes()) {
    ReferenceTensor& input = inputs.emplace_back(llvm::cast<RankedTensorType>(type));
    bool isMatrix = inputs.size() > 2;
    double factor = inputs.size() == 1 ? scale
                    : isMatrix         ? 1 / std::sqrt(static_cast<double>(input.getShape().back()))
                                       : 1;
    for (double& value : input.getValues())
      value = factor * gaussian(engine);
    input.roundToElementType();
  }
  return inputs;
}

std::vector<double> runFunction(ModuleOp module, llvm::ArrayRef<ReferenceTensor> inputs,
                                bool round = true) {
  auto interpreter = Interpreter::create(module, {.round = round});
  EXPECT_THAT(interpreter, IsOk());
  auto results = (*interpreter)->run("f", inputs);
  EXPECT_THAT(results, IsOk());
  std::vector<double> all;
  for (const ReferenceTensor& result : *results)
    llvm::append_range(all, result.getValues());
  return all;
}

/// Root mean square of a − b.
double distance(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  double sum = 0;
  for (auto [one, other] : llvm::zip_equal(a, b))
    sum += (one - other) * (one - other);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

std::vector<NormDeferral> relax(ModuleOp module) {
  std::vector<NormDeferral> deferrals;
  PassManager manager(module.getContext());
  manager.addPass(createDeferNormsPass(&deferrals));
  EXPECT_TRUE(succeeded(manager.run(module)));
  return deferrals;
}

template <typename OpTy> int64_t countOf(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](OpTy) { ++count; });
  return count;
}

class Deferred : public testing::TestWithParam<Case> {};

constexpr Shape shapes[] = {{1, 64, 16}, {1, 517, 33}, {3, 96, 40}, {33, 160, 24}, {130, 256, 17}};

TEST_P(Deferred, IsAsNearToTheResultInDouble) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(absl::StrFormat("%dx%dx%d", shape.rows, shape.depth, shape.columns));
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto module = frontends::parseModuleText(context, graphOf(GetParam(), shape), "test");
    ASSERT_THAT(module, IsOk());
    // Activations in the middle of a model, and those of an embedding.
    for (double scale : {30.0, 0.01}) {
      std::vector<ReferenceTensor> inputs = makeInputs(**module, scale);
      std::vector<double> truth = runFunction(**module, inputs, /*round=*/false);
      std::vector<double> exact = runFunction(**module, inputs);
      OwningOpRef<ModuleOp> relaxed = (*module)->clone();
      std::vector<NormDeferral> deferrals = relax(*relaxed);
      ASSERT_THAT(deferrals, SizeIs(1));
      EXPECT_THAT(deferrals[0].refusal, IsEmpty());
      EXPECT_EQ(deferrals[0].gemms, 3);
      EXPECT_EQ(countOf<RmsNormOp>(*relaxed), 0);
      EXPECT_EQ(countOf<RsqrtOp>(*relaxed), 1) << "one factor for three GEMMs";
      std::vector<double> found = runFunction(*relaxed, inputs);
      // The factor is rounded four times in f32, the norm's not.
      EXPECT_LE(distance(found, truth), 1.5 * distance(exact, truth) + 4 * std::ldexp(1, -24));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Deferred,
                         testing::Values(Case{"f32", "f32", "f32", true},
                                         Case{"f32_of_f16", "f32", "f16", true},
                                         Case{"bf16", "bf16", "bf16", true},
                                         Case{"bf16_alone", "bf16", "bf16", false},
                                         Case{"f16_alone", "f16", "f16", false}),
                         [](const auto& info) { return info.param.name; });

/// Sums of x, and x², are outside the range of f16; the results are not.
TEST(DeferNorms, KeepsSumsOfF16InF32) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Case f16{"f16_alone", "f16", "f16", false};
  auto module = frontends::parseModuleText(context, graphOf(f16, {2, 256, 8}), "test");
  ASSERT_THAT(module, IsOk());
  std::vector<ReferenceTensor> inputs = makeInputs(**module, 1);
  for (double& value : inputs[0].getValues())
    value = 60000;
  for (double& value : inputs[4].getValues())
    value = 1;
  std::vector<double> exact = runFunction(**module, inputs);
  relax(**module);
  EXPECT_EQ(runFunction(**module, inputs), exact);
  EXPECT_EQ(exact.back(), 256);
}

/// The reason why the norm of `graph` stays; empty where it is deferred.
std::string refusalOf(const std::string& graph) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, graph, "test");
  EXPECT_THAT(module, IsOk());
  int64_t norms = countOf<RmsNormOp>(**module);
  std::vector<NormDeferral> deferrals = relax(**module);
  EXPECT_THAT(deferrals, SizeIs(1));
  EXPECT_EQ(deferrals[0].function, "f");
  EXPECT_EQ(countOf<RmsNormOp>(**module), norms - (deferrals[0].refusal.empty() ? 1 : 0));
  return deferrals[0].refusal;
}

TEST(DeferNorms, KeepsWhatF16CannotHold) {
  EXPECT_EQ(refusalOf(graphOf({"f16", "f16", "f16", true}, {2, 64, 8})),
            "x · w may leave the range of f16, which the norm does not");
  EXPECT_EQ(refusalOf(R"(
func.func @f(%x: tensor<2x8xf32>, %w: tensor<4x8xf16>) -> tensor<2x4xf16> {
  %n = tenon.rms_norm %x eps 1.0e-5 : (tensor<2x8xf32>) -> tensor<2x8xf16>
  %y = tenon.matmul %n, %w : (tensor<2x8xf16>, tensor<4x8xf16>) -> tensor<2x4xf16>
  return %y : tensor<2x4xf16>
})"),
            "x of f32 may leave the range of f16, which the norm does not");
}

/// A norm and a GEMM of it, `beside` other operations, with those results.
std::string beside(const std::string& operations, const std::string& results,
                   const std::string& types) {
  return absl::StrFormat(R"(
func.func @f(%%x: tensor<2x8xf32>, %%w: tensor<4x8xf32>) -> (tensor<2x4xf32>, %s) {
  %%n = tenon.rms_norm %%x eps 1.0e-5 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %%y = tenon.matmul %%n, %%w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %s
  return %%y, %s : tensor<2x4xf32>, %s
})",
                         types, operations, results, types);
}

TEST(DeferNorms, KeepsWhatOthersRead) {
  EXPECT_EQ(refusalOf(beside("", "%n", "tensor<2x8xf32>")), "the function returns the norm");
  EXPECT_EQ(refusalOf(beside("%z = tenon.silu %n : (tensor<2x8xf32>) -> tensor<2x8xf32>", "%z",
                             "tensor<2x8xf32>")),
            "silu reads the norm, too");
  EXPECT_EQ(refusalOf(beside("%z = tenon.matmul %w, %n : (tensor<4x8xf32>, tensor<2x8xf32>) -> "
                             "tensor<4x2xf32>",
                             "%z", "tensor<4x2xf32>")),
            "the norm is the weight of a matmul");
  EXPECT_EQ(refusalOf(beside("%z = tenon.matmul %n, %n : (tensor<2x8xf32>, tensor<2x8xf32>) -> "
                             "tensor<2x2xf32>",
                             "%z", "tensor<2x2xf32>")),
            "the norm is the weight of a matmul");
}

/// Norms of one value that differ in weights alone, as a parallel block has them.
TEST(DeferNorms, SharesTheFactorOfOneInput) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, R"(
func.func @f(%x: tensor<2x8xf32>, %g: tensor<8xf32>, %h: tensor<8xf32>, %w: tensor<4x8xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = tenon.rms_norm %x, %g eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %b = tenon.rms_norm %x, %h eps 1.0e-5 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %c = tenon.rms_norm %x, %h eps 1.0e-6 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %0 = tenon.matmul %a, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = tenon.matmul %b, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %2 = tenon.matmul %c, %w : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
})",
                                           "test");
  ASSERT_THAT(module, IsOk());
  std::vector<ReferenceTensor> inputs = makeInputs(**module, 1);
  std::vector<double> truth = runFunction(**module, inputs, /*round=*/false);
  EXPECT_THAT(relax(**module), SizeIs(3));
  EXPECT_EQ(countOf<RsqrtOp>(**module), 2) << "one of each epsilon";
  EXPECT_LE(distance(runFunction(**module, inputs), truth), 1e-6);
}

/// What a plan makes of a norm of `rows` before GEMMs, on an H200.
struct Planned {
  std::vector<NormDeferral> deferrals;
  int64_t norms = 0;
  int64_t ns = 0; ///< predicted
};

Planned plan(Plan plan, Numerics numerics, int64_t rows) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(
      context, graphOf({"bf16", "bf16", "bf16", true}, {rows, 2048, 2048}), "test");
  EXPECT_THAT(module, IsOk());
  Planned planned;
  std::vector<FunctionFusion> functions;
  PipelineOptions options = {.upTo = Phase::Fused,
                             .target = findTarget(&context, "h200"),
                             .deferrals = &planned.deferrals};
  options.fusion = {.plan = plan, .numerics = numerics, .functions = &functions};
  EXPECT_THAT(runPipeline(**module, options), IsOk());
  planned.norms = countOf<RmsNormOp>(**module);
  planned.ns = functions.empty() ? 0 : functions.front().plannedNs;
  return planned;
}

TEST(DeferNorms, IsNotDoneUnasked) {
  for (Plan of : {Plan::Fused, Plan::Auto}) {
    Planned exact = plan(of, Numerics::Exact, 64);
    EXPECT_THAT(exact.deferrals, IsEmpty());
    EXPECT_EQ(exact.norms, 1);
  }
}

TEST(DeferNorms, FollowsThePlan) {
  EXPECT_EQ(plan(Plan::Unfused, Numerics::Relaxed, 64).norms, 1) << "the operations of the model";
  EXPECT_EQ(plan(Plan::Fused, Numerics::Relaxed, 64).norms, 0);
  EXPECT_EQ(plan(Plan::Split, Numerics::Relaxed, 64).norms, 0);
}

/// `auto` takes what is predicted to be faster, and says what the other would take.
TEST(DeferNorms, IsPricedUnderAuto) {
  for (int64_t rows : {1, 16, 64, 512}) {
    SCOPED_TRACE(rows);
    Planned exact = plan(Plan::Auto, Numerics::Exact, rows);
    Planned relaxed = plan(Plan::Auto, Numerics::Relaxed, rows);
    ASSERT_THAT(relaxed.deferrals, SizeIs(1));
    const std::string& refusal = relaxed.deferrals[0].refusal;
    EXPECT_LE(relaxed.ns, exact.ns);
    EXPECT_EQ(relaxed.norms, refusal.empty() ? 0 : 1);
    if (!refusal.empty())
      EXPECT_THAT(refusal, MatchesRegex("the function would take [0-9.]+ us instead of [0-9.]+"));
  }
}

} // namespace
} // namespace tenon::passes
