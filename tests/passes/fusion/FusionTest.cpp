#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Pipeline.h"
#include "tests/common/RandomGraph.h"
#include "tests/common/StatusMatchers.h"

using namespace mlir;

namespace tenon::tests {
namespace {

constexpr uint64_t graphs = 200;

std::vector<std::vector<double>> interpret(ModuleOp module, uint64_t seed) {
  auto interpreter = Interpreter::create(module);
  EXPECT_THAT(interpreter, IsOk());
  auto results = (*interpreter)->run("f", makeRandomInputs(module, seed));
  EXPECT_THAT(results, IsOk());
  std::vector<std::vector<double>> values;
  for (const ReferenceTensor& tensor : *results)
    values.push_back(tensor.toVector());
  return values;
}

/// The graphs that `RandomGraphs` runs have every operation that computes; quants are made by a pass.
TEST(RandomGraph, HasEveryOperation) {
  constexpr std::pair<uint64_t, uint64_t> seeds[] = {{0, 150},        {3'000'000, 80},
                                                     {4'000'000, 24}, {5'000'000, 24},
                                                     {6'000'000, 80}, {10'000'000, 40}};
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::set<std::string> found;
  for (auto [first, count] : seeds)
    for (uint64_t seed = first; seed < first + count; ++seed) {
      auto module = makeRandomGraph(context, seed, GraphOps::All);
      ASSERT_THAT(module, IsOk());
      (*module)->walk([&](Operation* op) { found.insert(op->getName().getStringRef().str()); });
    }
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect(TenonDialect::getDialectNamespace()))
    if (name.hasInterface<ComputeOpInterface>() && name.getStringRef() != "tenon.quantize")
      EXPECT_TRUE(found.contains(name.getStringRef().str())) << name.getStringRef().str();
}

class Fusion : public testing::TestWithParam<const char*> {};

/// To the interpreter a fusion changes nothing: every element is the same double as with one kernel
/// an operation. What stands in front of fusion rounds alike under every plan.
TEST_P(Fusion, MeansTheSameToTheInterpreter) {
  size_t fusions = 0;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    SCOPED_TRACE(seed);
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto module = makeRandomGraph(context, seed);
    ASSERT_THAT(module, IsOk());
    TargetAttr target = findTarget(&context, GetParam());
    ASSERT_THAT(passes::runPipeline(**module, {.upTo = Phase::Simplified, .target = target}),
                IsOk());
    OwningOpRef<ModuleOp> apart = (*module)->clone();
    ASSERT_THAT(passes::runPipeline(*apart, {.upTo = Phase::Fused, .target = target}), IsOk());
    auto expected = interpret(*apart, seed);
    for (passes::Plan plan : {passes::Plan::Fused, passes::Plan::Auto}) {
      OwningOpRef<ModuleOp> copy = (*module)->clone();
      std::vector<passes::FusionDecision> decisions;
      ASSERT_THAT(passes::runPipeline(*copy, {.upTo = Phase::Planned,
                                              .target = target,
                                              .fusion = {.plan = plan, .report = &decisions}}),
                  IsOk());
      fusions += llvm::count_if(decisions, [](const auto& decision) { return decision.taken; });
      EXPECT_EQ(interpret(*copy, seed), expected);
    }
  }
  EXPECT_GT(fusions, graphs);
}

/// The same graph gives the same kernels, whatever else the process has done.
TEST_P(Fusion, IsDeterministic) {
  auto fuse = [](uint64_t seed) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto module = makeRandomGraph(context, seed);
    EXPECT_THAT(passes::runPipeline(**module, {.upTo = Phase::Fused,
                                               .target = findTarget(&context, GetParam()),
                                               .fusion = {.plan = passes::Plan::Auto}}),
                IsOk());
    std::string text;
    llvm::raw_string_ostream(text) << **module;
    return text;
  };
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(fuse(seed), fuse(seed)) << "seed " << seed;
}

/// `auto` never chooses what the model says is slower than one kernel an operation, nor slower than
/// `fused`, but for the rules that fill gaps: of these it takes what is faster than without them by
/// more than the model may err.
TEST_P(Fusion, AutoIsNoSlowerByItsOwnModel) {
  auto predictedNs = [](uint64_t seed, passes::Plan plan, std::vector<std::string> disabled) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto module = makeRandomGraph(context, seed);
    std::vector<passes::FusionDecision> decisions;
    EXPECT_THAT(passes::runPipeline(**module, {.upTo = Phase::Fused,
                                               .target = findTarget(&context, GetParam()),
                                               .fusion = {.plan = plan,
                                                          .disabledRules = std::move(disabled),
                                                          .report = &decisions}}),
                IsOk());
    int64_t saved = 0;
    for (const passes::FusionDecision& decision : decisions)
      if (decision.taken)
        saved += decision.unfused.ns - decision.fused.ns;
    return saved;
  };
  for (uint64_t seed = 0; seed < 60; ++seed) {
    int64_t saved = predictedNs(seed, passes::Plan::Auto, {"neighbours"});
    EXPECT_GE(saved, 0) << "seed " << seed;
    EXPECT_GE(saved, predictedNs(seed, passes::Plan::Fused, {"neighbours"})) << "seed " << seed;
    EXPECT_GE(predictedNs(seed, passes::Plan::Auto, {}), saved) << "seed " << seed;
  }
}

/// What the pass makes of a random graph where a call on an H200 takes `ns` beyond its kernels, and the
/// function's predicted times.
std::pair<std::string, passes::FunctionFusion> fuseWithCallsOf(int64_t ns, uint64_t seed) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = makeRandomGraph(context, seed);
  TargetAttr h200 = findTarget(&context, "h200");
  NamedAttrList properties(h200.getProperties());
  properties.set("call_graph_ns", IntegerAttr::get(IntegerType::get(&context, 64), ns));
  TargetAttr target = TargetAttr::get(&context, h200.getName(), h200.getDevice(),
                                      h200.getFeatures(), properties.getDictionary(&context));
  std::vector<passes::FunctionFusion> functions;
  EXPECT_THAT(passes::runPipeline(
                  **module, {.upTo = Phase::Fused,
                             .target = target,
                             .fusion = {.plan = passes::Plan::Auto, .functions = &functions}}),
              IsOk());
  EXPECT_EQ(functions.size(), 1u);
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (Operation& function : (*module)->getOps())
    stream << function << "\n";
  return {text, functions.front()};
}

/// What a call takes beyond its kernels is in what a function takes, and changes no choice.
TEST(FunctionFusion, HasWhatACallTakesBeyondItsKernels) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto [kernels, none] = fuseWithCallsOf(0, seed);
    auto [others, some] = fuseWithCallsOf(1'000'000, seed);
    EXPECT_EQ(others, kernels) << "seed " << seed;
    EXPECT_EQ(some.apartNs - none.apartNs, 1'000'000) << "seed " << seed;
    EXPECT_EQ(some.plannedNs - none.plannedNs, 1'000'000) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Fusion, testing::Values("h200", "a100", "x86-64-v3", "x86-64-v4"),
                         [](const auto& info) {
                           std::string name = info.param;
                           llvm::replace(name, '-', '_');
                           return name;
                         });

} // namespace
} // namespace tenon::tests
