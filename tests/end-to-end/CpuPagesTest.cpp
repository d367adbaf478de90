// A model whose caches are pages that sequences share, on the CPU.

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/batching/BatchScheduler.h"
#include "runtime/cpu/CpuExecutor.h"
#include "runtime/text/Generator.h"
#include "support/Status.h"
#include "tests/common/StatusMatchers.h"
#include "tests/end-to-end/BatchInvariance.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/driver/ReferenceExecutor.h"

namespace tenon::tests {
namespace {

const std::string stories = std::string(TENON_TEST_DATA) + "/stories260K/stories260K.gguf";

/// A model on the CPU, without the tokeniser, which would end texts.
absl::StatusOr<std::unique_ptr<runtime::Executor>> compile(const tools::ModelOptions& options) {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(auto module, tools::readModel(*context, options));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "cpu"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*module, target, {}));
  program.tokenizer.reset();
  return runtime::CpuExecutor::create(std::move(program), {.threads = 1});
}

std::vector<int32_t> someIds(size_t count, int32_t first) {
  std::vector<int32_t> ids(count);
  for (size_t i = 0; i < count; ++i)
    ids[i] = static_cast<int32_t>(3 + (first + i * i) % 499);
  return ids;
}

std::vector<int32_t> generate(runtime::Executor& executor, const std::vector<int32_t>& prompt,
                              int64_t count) {
  auto generator = runtime::Generator::create(executor).value();
  auto sampler = runtime::Sampler::create({}).value();
  auto generation = generator.generate(prompt, count, sampler);
  EXPECT_THAT(generation, IsOk());
  return generation.ok() ? generation->ids : std::vector<int32_t>();
}

TEST(CpuPages, ChangeNoToken) {
  const std::vector<int32_t> prompt = someIds(70, 0);
  for (const char* cache : {"f32", "q8"}) {
    auto dense = compile({.path = stories, .cache = cache, .contextLength = 300}).value();
    const std::vector<int32_t> ids = generate(*dense, prompt, 220);
    for (int64_t page : {16, 128}) {
      SCOPED_TRACE(page);
      auto paged =
          compile({.path = stories, .cache = cache, .page = page, .contextLength = 300}).value();
      EXPECT_EQ(generate(*paged, prompt, 220), ids);
    }
  }
}

// The model as the interpreter runs it.
TEST(CpuPages, TheReferenceTakesThem) {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  auto module = tools::readModel(
      *context, {.path = stories, .shapes = {"decode:1"}, .page = 16, .contextLength = 40});
  ASSERT_THAT(module, IsOk());
  auto reference = tools::ReferenceExecutor::create(**module);
  ASSERT_THAT(reference, IsOk());
  auto dense = compile({.path = stories, .shapes = {"decode:1"}, .contextLength = 40}).value();
  const std::vector<int32_t> prompt = someIds(18, 5);
  EXPECT_EQ(generate(**reference, prompt, 12), generate(*dense, prompt, 12));
}

// Eight sequences of up to 100 tokens share 20 pages of 16: prompts with a common begin share pages, and
// some requests lose theirs and are fed anew. Each answers as alone, over dense caches.
TEST(CpuPages, RequestsThatShareAndLosePagesAnswerAsAlone) {
  const std::vector<std::string> shapes = {"decode:1", "decode:8", "prefill:16"};
  auto dense = compile({.path = stories, .shapes = shapes, .contextLength = 128}).value();
  auto paged =
      compile({.path = stories, .shapes = shapes, .page = 16, .pages = 20, .contextLength = 128})
          .value();
  ASSERT_EQ(paged->program().model->pages, 20);
  auto scheduler = runtime::BatchScheduler::create(*paged).value();
  const std::vector<int32_t> begin = someIds(40, 7);
  std::map<runtime::RequestId, std::vector<int32_t>> prompts, answers;
  for (int32_t request = 0; request < 24; ++request) {
    std::vector<int32_t> prompt = request % 2 == 0 ? begin : someIds(20, request);
    const std::vector<int32_t> end = someIds(5, 31 * request);
    prompt.insert(prompt.end(), end.begin(), end.end());
    auto id = scheduler->submit(
        {.prompt = prompt, .maxTokens = 50, .onEnd = [&](runtime::RequestResult result) {
           EXPECT_THAT(result.status, IsOk());
           answers[result.id] = std::move(result.ids);
         }});
    ASSERT_THAT(id, IsOk());
    prompts[*id] = std::move(prompt);
  }
  while (scheduler->step().value()) {
  }
  for (const auto& [id, prompt] : prompts) {
    ASSERT_THAT(dense->resetStates(), IsOk());
    EXPECT_EQ(answers.at(id), generate(*dense, prompt, 50)) << "request " << id;
  }
  const runtime::BatchStatistics statistics = scheduler->statistics();
  EXPECT_EQ(statistics.freePages, 20);
  EXPECT_GT(statistics.preemptions, 0);
  EXPECT_GT(statistics.reusedTokens, 100);
}

TEST(CpuPages, BatchInvariantAnswersAreThoseOfARequestAlone) {
  auto paged = compile({.path = stories,
                        .shapes = {"decode:1", "decode:8", "prefill:32"},
                        .page = 16,
                        .contextLength = 64,
                        .sequences = 4})
                   .value();
  expectAnswersAsAlone(*paged);
  expectNothingIsLost(*paged, 300);
}

} // namespace
} // namespace tenon::tests
