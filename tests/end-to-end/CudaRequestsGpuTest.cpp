// Requests on the functions of a model on a GPU, over pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mlir/IR/MLIRContext.h"
#include "runtime/batching/BatchScheduler.h"
#include "runtime/cuda/CudaExecutor.h"
#include "support/Status.h"
#include "tests/common/StatusMatchers.h"
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
                                 .shapes = {"decode:1", "decode:4", "prefill:32"},
                                 .page = 16,
                                 .contextLength = 64,
                                 .nextIds = true};
  TENON_ASSIGN_OR_RETURN(auto module, tools::readModel(*context, options, DeviceKind::Cuda));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "h200"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*module, target, {}));
  program.tokenizer.reset();
  return runtime::CudaExecutor::create(std::move(program), {});
}

using Ids = std::vector<int32_t>;

/// How a scheduler answers the prompts, of which each next one comes two steps later. Drawn tokens,
/// which depend on all logits.
std::vector<runtime::RequestResult> answersTo(runtime::Executor& executor,
                                              std::span<const Ids> prompts) {
  auto scheduler = runtime::BatchScheduler::create(executor, {.isBatchInvariant = true}).value();
  std::vector<runtime::RequestResult> results(prompts.size());
  for (size_t i = 0; i < prompts.size(); ++i) {
    auto onEnd = [&results, i](runtime::RequestResult result) {
      EXPECT_THAT(result.status, IsOk());
      results[i] = std::move(result);
    };
    EXPECT_THAT(scheduler->submit({.prompt = prompts[i],
                                   .maxTokens = 6,
                                   .sampling = {.temperature = 1, .seed = prompts[i].size()},
                                   .onEnd = onEnd}),
                IsOk());
    for (int step = 0; step < 2; ++step)
      EXPECT_THAT(scheduler->step(), IsOk());
  }
  while (scheduler->step().value()) {
  }
  return results;
}

// The third prompt takes over a page of the second. Alone, its last token stands in a chunk of its own.
TEST(CudaRequests, BatchInvariantAnswersAreThoseOfARequestAlone) {
  auto executor = loadStories();
  if (absl::IsNotFound(executor.status()))
    GTEST_SKIP() << "no GPU: " << executor.status();
  ASSERT_THAT(executor, IsOk());
  std::vector<Ids> prompts = {{1, 403, 407}, Ids(20), Ids(33)};
  for (Ids* prompt : {&prompts[1], &prompts[2]})
    for (size_t i = 0; i < prompt->size(); ++i)
      (*prompt)[i] = static_cast<int32_t>(1 + i * i % 499);
  const auto together = answersTo(**executor, prompts);
  EXPECT_EQ(together[2].reusedTokens, 16);
  for (size_t i = 0; i < prompts.size(); ++i)
    EXPECT_EQ(together[i].ids, answersTo(**executor, std::span(prompts).subspan(i, 1))[0].ids) << i;
}

} // namespace
} // namespace tenon::tests
