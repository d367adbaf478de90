// Calls with chunks of several sequences, some of one token, on the CPU.

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/batching/BatchScheduler.h"
#include "runtime/cpu/CpuExecutor.h"
#include "runtime/text/Generator.h"
#include "tests/Tolerances.h"
#include "tests/common/StatusMatchers.h"
#include "tests/end-to-end/CpuModels.h"
#include "tests/end-to-end/MixedCalls.h"
#include "tests/end-to-end/Models.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/driver/ReferenceExecutor.h"

namespace tenon::tests {
namespace {

const std::string stories = std::string(TENON_TEST_DATA) + "/stories260K/stories260K-q8_0.gguf";

/// Caches of one kind.
struct MixedCaches {
  const char* name;
  tools::ModelOptions options;
  double tolerance;
};

void PrintTo(const MixedCaches& caches, std::ostream* out) { *out << caches.name; }

tools::ModelOptions mixedOptions(tools::ModelOptions options) {
  options.shapes = {"decode:1", "mixed:24"};
  options.sequences = mixedSequences;
  return options;
}

class CpuMixed : public testing::TestWithParam<MixedCaches> {};

/// The logits that decode gives for the output rows, each token of the call by itself.
std::vector<float> decodeOneByOne(runtime::Executor& cpu, const MixedCall& call) {
  std::map<int32_t, std::vector<float>> logits;
  for (size_t row = 0; row < call.rows.size(); ++row)
    if (call.rows[row].sequence >= 0)
      logits[static_cast<int32_t>(row)] = runMixed(cpu, 0, {.rows = {call.rows[row]}}).value();
  std::vector<float> all;
  for (int32_t row : call.outputRows)
    all.insert(all.end(), logits[row].begin(), logits[row].end());
  return all;
}

/// As the interpreter has it, and in every bit what the tokens give one by one, under every plan.
TEST_P(CpuMixed, RaggedCallsGiveWhatTheirTokensGiveOneByOne) {
  const tools::ModelOptions options = mixedOptions(GetParam().options);
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  auto module = tools::readModel(*context, options);
  ASSERT_THAT(module, IsOk());
  auto reference = tools::ReferenceExecutor::create(**module).value();
  std::vector<std::vector<float>> expected;
  for (const MixedCall& call : raggedCalls())
    expected.push_back(runMixed(*reference, 1, call).value());
  for (passes::Plan plan :
       {passes::Plan::Unfused, passes::Plan::Split, passes::Plan::Fused, passes::Plan::Auto}) {
    SCOPED_TRACE(int(plan));
    auto cpu = compile(options, plan);
    auto alone = compile(options, plan);
    ASSERT_THAT(cpu, IsOk());
    for (size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(i);
      const MixedCall call = raggedCalls()[i];
      const std::vector<float> found = runMixed(**cpu, 1, call).value();
      EXPECT_LE(relativeDifference(found, expected[i]), GetParam().tolerance);
      EXPECT_EQ(found, decodeOneByOne(**alone, call));
    }
  }
}

// Where a number lies between two quants, other roundings before it choose the other one.
INSTANTIATE_TEST_SUITE_P(
    Caches, CpuMixed,
    testing::Values(
        MixedCaches{"dense", {.path = stories, .contextLength = 40}, relativeToLargest},
        MixedCaches{"q8", {.path = stories, .cache = "q8", .contextLength = 40}, 0.02},
        MixedCaches{"pages", {.path = stories, .page = 16, .contextLength = 48}, relativeToLargest},
        MixedCaches{"ring", {.path = stories, .keptTokens = 2, .window = 8}, relativeToLargest}),
    [](const auto& info) { return std::string(info.param.name); });

// A model whose attention has no rope, and whose blocks are of another kind.
TEST(CpuMixedFamilies, RaggedCallsGiveWhatTheirTokensGiveOneByOne) {
  tools::ModelOptions options =
      mixedOptions({.path = std::string(TENON_TEST_DATA) + "/tiny-neox/tiny-neox-262k-f32.gguf",
                    .contextLength = 40});
  for (passes::Plan plan : {passes::Plan::Fused, passes::Plan::Auto}) {
    auto cpu = compile(options, plan);
    auto alone = compile(options, plan);
    ASSERT_THAT(cpu, IsOk());
    for (const MixedCall& call : raggedCalls())
      EXPECT_EQ(runMixed(**cpu, 1, call).value(), decodeOneByOne(**alone, call));
  }
}

// Requests come while others decode, over pages that are too few for all: each answers as alone.
TEST(CpuMixedRequests, AnswerAsAlone) {
  const std::vector<std::string> shapes = {"decode:1", "decode:8", "prefill:16", "mixed:24"};
  auto dense = compile({.path = stories, .shapes = shapes, .contextLength = 128}).value();
  auto paged =
      compile({.path = stories, .shapes = shapes, .page = 16, .pages = 20, .contextLength = 128})
          .value();
  for (runtime::Executor* executor : {dense.get(), paged.get()}) {
    auto scheduler = runtime::BatchScheduler::create(*executor).value();
    std::map<runtime::RequestId, std::vector<int32_t>> prompts, answers;
    for (int32_t request = 0; request < 16; ++request) {
      std::vector<int32_t> prompt;
      for (int32_t at = 0; at < 10 + 7 * (request % 6); ++at)
        prompt.push_back(3 + (at < 20 ? at * at : at * request) % 499);
      auto id = scheduler->submit(
          {.prompt = prompt, .maxTokens = 40, .onEnd = [&](runtime::RequestResult result) {
             EXPECT_THAT(result.status, IsOk());
             answers[result.id] = std::move(result.ids);
           }});
      ASSERT_THAT(id, IsOk());
      prompts[*id] = std::move(prompt);
      for (int32_t step = 0; step < request % 3; ++step)
        ASSERT_THAT(scheduler->step(), IsOk());
    }
    while (scheduler->step().value()) {
    }
    const runtime::BatchStatistics statistics = scheduler->statistics();
    EXPECT_GT(statistics.mixedCalls, 10);
    EXPECT_EQ(statistics.preemptions > 0, executor == paged.get());
    ASSERT_THAT(dense->resetStates(), IsOk());
    auto generator = runtime::Generator::create(*dense).value();
    auto sampler = runtime::Sampler::create({}).value();
    for (const auto& [id, prompt] : prompts)
      EXPECT_EQ(answers.at(id), generator.generate(prompt, 40, sampler)->ids) << "request " << id;
  }
}

} // namespace
} // namespace tenon::tests
