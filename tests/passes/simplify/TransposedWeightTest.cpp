// A weight that is laid out anew at load means what the transpose of it meant.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Dialect.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Pipeline.h"
#include "support/Fingerprint.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::passes {
namespace {

using namespace mlir;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;
using tests::IsOk;

struct TransposedCase {
  std::string name;
  std::string stored; ///< type and mark of a weight of 24 elements
  std::string read;   ///< that type
  std::string permutation, transposed;
};

/// f(x) = x · wᵀ, where w is a transpose of the 24 numbers of a file, seen as [N, 4].
std::string moduleText(const TransposedCase& test, const std::string& path, uint64_t fingerprint) {
  return absl::StrFormat(R"(
tenon.file @m "%s" bytes 96 fingerprint %d
tenon.weight @w : %s from [#tenon.range<@m, offset = 0, bytes = 96>]
func.func @f(%%x: tensor<2x4xf32>) -> tensor<2x6xf32> {
  %%w = tenon.get_weight @w : %s
  %%t = tenon.transpose %%w by %s : (%s) -> %s
  %%r = tenon.reshape %%t to [6, 4] : (%s) -> tensor<6x4xf32>
  %%y = tenon.matmul %%x, %%r : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32>
  return %%y : tensor<2x6xf32>
})",
                         path, static_cast<int64_t>(fingerprint), test.stored, test.read,
                         test.permutation, test.read, test.transposed, test.transposed);
}

std::vector<double> runFunction(ModuleOp module) {
  auto interpreter = Interpreter::create(module);
  EXPECT_THAT(interpreter, IsOk());
  ReferenceTensor input(RankedTensorType::get({2, 4}, Float32Type::get(module.getContext())));
  std::iota(input.getValues().begin(), input.getValues().end(), -3);
  auto results = (*interpreter)->run("f", {input});
  EXPECT_THAT(results, IsOk());
  llvm::ArrayRef<double> values = results->front().getValues();
  return {values.begin(), values.end()};
}

class TransposedWeight : public testing::TestWithParam<TransposedCase> {};

TEST_P(TransposedWeight, MeansTheSame) {
  tests::TempFolder folder;
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  std::span<const std::byte> bytes = std::as_bytes(std::span(numbers));
  std::string path =
      folder.write("w.bin", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(
      context, moduleText(GetParam(), path, fingerprintFile(bytes)), "test");
  ASSERT_THAT(module, IsOk());
  std::vector<double> expected = runFunction(**module);
  std::vector<RaisedOperation> raised;
  ASSERT_THAT(runPipeline(**module, {.upTo = Phase::Simplified, .raised = &raised}), IsOk());
  EXPECT_FALSE(
      (*module)->walk([](TransposeOp) { return WalkResult::interrupt(); }).wasInterrupted());
  EXPECT_THAT(raised, ElementsAre(Field(&RaisedOperation::operation, "transposed_weight")));
  EXPECT_EQ(runFunction(**module), expected);
  EXPECT_THAT(expected, SizeIs(12));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, TransposedWeight,
    testing::Values(TransposedCase{"matrix", "tensor<4x6xf32>", "tensor<4x6xf32>", "[1, 0]",
                                   "tensor<6x4xf32>"},
                    TransposedCase{"heads", "tensor<4x3x2xf32>", "tensor<4x3x2xf32>", "[1, 2, 0]",
                                   "tensor<3x2x4xf32>"},
                    TransposedCase{"halves", "tensor<2x2x6xf32>", "tensor<2x2x6xf32>", "[2, 0, 1]",
                                   "tensor<6x2x2xf32>"},
                    TransposedCase{"batches", "tensor<1x4x6xf32>", "tensor<1x4x6xf32>", "[0, 2, 1]",
                                   "tensor<1x6x4xf32>"},
                    TransposedCase{"taken_back", "tensor<4x6xf32> transposed", "tensor<4x6xf32>",
                                   "[1, 0]", "tensor<6x4xf32>"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::passes
