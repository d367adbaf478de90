// Requests on the functions of a model on a GPU, over pages, and calls of several sequences' chunks.
#include "mlir/IR/MLIRContext.h"
#include "runtime/cuda/CudaExecutor.h"
#include "support/Status.h"
#include "tests/end-to-end/BatchInvariance.h"
#include "tests/end-to-end/MixedCalls.h"
#include "tests/end-to-end/Models.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/driver/ReferenceExecutor.h"

namespace tenon::tests {
namespace {

const std::string stories = std::string(TENON_TEST_DATA) + "/stories260K/stories260K.gguf";

/// A trained model in f16, for four requests of up to 64 tokens at once, without its tokeniser, which
/// would end texts.
absl::StatusOr<std::unique_ptr<runtime::Executor>> loadStories() {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  tools::ModelOptions options = {.path = stories,
                                 .activations = "f16",
                                 .shapes = {"decode:1", "decode:32", "prefill:32"},
                                 .page = 16,
                                 .contextLength = 64,
                                 .sequences = 4,
                                 .nextIds = true};
  TENON_ASSIGN_OR_RETURN(auto module, tools::readModel(*context, options, DeviceKind::Cuda));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "h200"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*module, target, {}));
  program.tokenizer.reset();
  return runtime::CudaExecutor::create(std::move(program), {});
}

TEST(CudaRequests, BatchInvariantLogitsAreThoseOfARequestAlone) {
  auto executor = loadStories();
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_THAT(executor, IsOk());
  expectAnswersAsAlone(**executor);
}

TEST(CudaManyRequests, WithCancelsLoseNothingAndAnswerAsAlone) {
  auto executor = loadStories();
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_THAT(executor, IsOk());
  expectNothingIsLost(**executor, 10'000);
}

/// The calls over these caches under that plan, as the interpreter has them.
void expectRaggedCalls(tools::ModelOptions options, passes::Plan plan) {
  options.activations = "f16";
  options.shapes = {"mixed:24"};
  options.sequences = mixedSequences;
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  auto module = tools::readModel(*context, options, DeviceKind::Cuda);
  ASSERT_THAT(module, IsOk());
  auto reference = tools::ReferenceExecutor::create(**module).value();
  std::vector<std::vector<float>> expected;
  for (const MixedCall& call : raggedCalls())
    expected.push_back(runMixed(*reference, 0, call).value());
  TargetAttr target = tools::chooseTarget(*context, "h200").value();
  auto program = tools::compileModel(**module, target, {.plan = plan});
  ASSERT_THAT(program, IsOk());
  auto executor = runtime::CudaExecutor::create(*std::move(program), {});
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_THAT(executor, IsOk());
  for (size_t call = 0; call < expected.size(); ++call)
    EXPECT_LE(
        relativeDifference(runMixed(**executor, 0, raggedCalls()[call]).value(), expected[call]),
        0.01)
        << "call " << call;
}

// Attention makes keys and values, and writes the caches, of rows that others of the call attend to.
TEST(CudaRequests, RaggedCallsEqualTheInterpreter) {
  expectRaggedCalls({.path = stories, .contextLength = 40}, passes::Plan::Fused);
}
TEST(CudaRequests, RaggedCallsEqualTheInterpreterOverPages) {
  expectRaggedCalls({.path = stories, .page = 16, .contextLength = 48}, passes::Plan::Fused);
}
TEST(CudaRequests, RaggedCallsEqualTheInterpreterOverRings) {
  expectRaggedCalls({.path = stories, .keptTokens = 2, .window = 8}, passes::Plan::Auto);
}

} // namespace
} // namespace tenon::tests
