// Requests on the functions of a model on a GPU, over pages.
#include "mlir/IR/MLIRContext.h"
#include "runtime/cuda/CudaExecutor.h"
#include "support/Status.h"
#include "tests/end-to-end/BatchInvariance.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace tenon::tests {
namespace {

/// A trained model in f16, for four requests of up to 64 tokens at once, without its tokeniser, which
/// would end texts.
absl::StatusOr<std::unique_ptr<runtime::Executor>> loadStories() {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  tools::ModelOptions options = {.path =
                                     std::string(TENON_TEST_DATA) + "/stories260K/stories260K.gguf",
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

} // namespace
} // namespace tenon::tests
