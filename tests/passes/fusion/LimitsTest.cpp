// What a kernel may take, and how the time of passes grows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontends/text/TextFrontend.h"
#include "ir/KernelLimits.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Pipeline.h"
#include "passes/fusion/Legality.h"
#include "tests/common/StatusMatchers.h"

using namespace mlir;

namespace tenon::tests {
namespace {

constexpr const char* row = "tensor<1x4xf32>";

/// `count` times `%PREFIXi: tensor<1x4xf32>`.
std::string arguments(const std::string& prefix, int count) {
  std::vector<std::string> list;
  for (int i = 0; i < count; ++i)
    list.push_back(absl::StrCat("%", prefix, i, ": ", row));
  return absl::StrJoin(list, ", ");
}

std::string repeat(const std::string& text, int count) {
  return absl::StrJoin(std::vector<std::string>(count, text), ", ");
}

/// A function that puts `count` rows after one another.
std::string concatText(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    names.push_back(absl::StrCat("%x", i));
  std::string result = absl::StrCat("tensor<1x", 4 * count, "xf32>");
  return absl::StrCat("func.func @f(", arguments("x", count), ") -> ", result,
                      " {\n  %y = tenon.concat ", absl::StrJoin(names, ", "), " along 1 : (",
                      repeat(row, count), ") -> ", result, "\n  return %y : ", result, "\n}\n");
}

TEST(Limits, WideConcatsComeInPieces) {
  constexpr int count = 1200;
  for (const char* target : {"h200", "x86-64-v3"}) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    auto module = frontends::parseModuleText(context, concatText(count), "test");
    ASSERT_THAT(module, IsOk());
    ASSERT_THAT(passes::runPipeline(**module, {.target = findTarget(&context, target)}), IsOk());
    (*module)->walk([&](KernelOp kernel) {
      EXPECT_LE(kernel.getNumOperands() + kernel.getNumResults(), mostKernelArguments);
    });
    std::vector<ReferenceTensor> inputs;
    for (Type type : (*(*module)->getOps<func::FuncOp>().begin()).getArgumentTypes()) {
      ReferenceTensor& input = inputs.emplace_back(llvm::cast<RankedTensorType>(type));
      llvm::fill(input.getValues(), static_cast<double>(inputs.size()));
    }
    auto interpreter = Interpreter::create(**module);
    ASSERT_THAT(interpreter, IsOk());
    auto results = (*interpreter)->run("f", inputs);
    ASSERT_THAT(results, IsOk());
    std::vector<double> values = (*results)[0].toVector();
    for (int i = 0; i < 4 * count; ++i)
      ASSERT_EQ(values[i], i / 4 + 1);
  }
}

/// A kernel that adds `count` rows, one after the other.
std::string sumText(int count) {
  std::vector<std::string> bindings;
  for (int i = 0; i < count; ++i)
    bindings.push_back(absl::StrCat("%a", i, " = %x", i, " : ", row));
  std::string text = absl::StrCat("func.func @f(", arguments("x", count), ") -> ", row,
                                  " {\n  %y = tenon.kernel (", absl::StrJoin(bindings, ", "),
                                  ") -> ", row, " {\n");
  std::string sum = "%a0";
  for (int i = 1; i < count; ++i) {
    absl::StrAppend(&text, "    %s", i, " = tenon.add ", sum, ", %a", i, " : (", row, ", ", row,
                    ") -> ", row, "\n");
    sum = absl::StrCat("%s", i);
  }
  return absl::StrCat(text, "    tenon.yield ", sum, " : ", row, "\n  }\n  return %y : ", row,
                      "\n}\n");
}

/// Whether the region of a sum of `count` rows becomes a kernel.
Verdict verdictOfSum(int count, const char* targetName) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, sumText(count), "test");
  EXPECT_THAT(module, IsOk());
  TargetAttr target = findTarget(&context, targetName);
  auto scheduler = passes::schedule::Scheduler::create(**module, target);
  EXPECT_TRUE(succeeded(scheduler));
  Verdict verdict = Refusal{"no kernel"};
  (*module)->walk(
      [&](KernelOp kernel) { verdict = passes::fusion::acceptsRegion(*scheduler, kernel); });
  return verdict;
}

TEST(Limits, LegalityCountsArguments) {
  for (const char* target : {"h200", "x86-64-v3"}) {
    EXPECT_TRUE(verdictOfSum(511, target));
    EXPECT_EQ(verdictOfSum(512, target).reason(),
              "a kernel takes at most 512 inputs and results, not 513");
  }
}

/// A module of `layers` weights and caches, each read and the cache written.
std::string layersText(int layers) {
  std::string symbols = "tenon.file @m \"m\" bytes 16777216 fingerprint 0\n", body;
  std::string state = "!tenon.state<1x8x1x4xf32>";
  std::string x = "%x";
  for (int i = 0; i < layers; ++i) {
    absl::StrAppend(&symbols, "tenon.weight @w", i,
                    " : tensor<4x4xf32> from [#tenon.range<@m, offset = ", 64 * i,
                    ", bytes = 64>]\ntenon.state @k", i, " : ", state, "\n");
    absl::StrAppend(&body, "  %w", i, " = tenon.get_weight @w", i, " : tensor<4x4xf32>\n  %k", i,
                    " = tenon.get_state @k", i, " : ", state, "\n  %v", i, " = tenon.reshape ", x,
                    " to [1, 1, 4] : (", row, ") -> tensor<1x1x4xf32>\n  %n", i,
                    " = tenon.kv_write %v", i, ", %s, %p into %k", i,
                    " : (tensor<1x1x4xf32>, tensor<1xi32>, tensor<1xi32>, ", state, ") -> ", state,
                    "\n  %y", i, " = tenon.matmul ", x, ", %w", i, " : (", row,
                    ", tensor<4x4xf32>) -> ", row, "\n");
    x = absl::StrCat("%y", i);
  }
  return absl::StrCat(symbols, "func.func @f(%x: ", row,
                      ", %s: tensor<1xi32>, %p: tensor<1xi32>) -> ", row, " {\n", body, "  return ",
                      x, " : ", row, "\n}\n");
}

/// The least CPU seconds of three times: parsing, verifying and simplifying.
double secondsOf(const std::string& text) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    std::clock_t begin = std::clock();
    auto module = frontends::parseModuleText(context, text, "test");
    EXPECT_THAT(module, IsOk());
    EXPECT_THAT(passes::runPipeline(**module, {.upTo = Phase::Simplified}), IsOk());
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

/// Twice as many layers take twice as long; a walk over all of them for each takes four. 4,000 and
/// 8,000 weights and caches: fewer fit into a core's own cache, and twice those then take three times
/// as long. 2.4 times on a machine without other work, up to 2.8 beside it; in one of five tries.
TEST(Limits, TimeGrowsWithTheModule) {
  constexpr int tries = 5;
  double single = 0, twice = 0;
  for (int i = 0; i < tries; ++i) {
    single = secondsOf(layersText(4000)), twice = secondsOf(layersText(8000));
    if (twice <= 3 * single)
      return;
  }
  ADD_FAILURE() << single << " and " << twice << " s";
}

} // namespace
} // namespace tenon::tests
