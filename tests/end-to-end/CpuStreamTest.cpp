// Models whose caches are rings, which go on for ever, or of few bits, on the CPU.

#include <algorithm>
#include <cmath>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/batching/BatchScheduler.h"
#include "runtime/cpu/CpuExecutor.h"
#include "runtime/text/Generator.h"
#include "support/Status.h"
#include "tests/Tolerances.h"
#include "tests/common/StatusMatchers.h"
#include "tests/end-to-end/CpuModels.h"
#include "tests/end-to-end/Models.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/driver/ReferenceExecutor.h"

namespace tenon::tests {
namespace {

const std::string stories = std::string(TENON_TEST_DATA) + "/stories260K/stories260K.gguf";

/// Ids of no meaning that do not repeat soon.
std::vector<int32_t> someIds(size_t count) {
  std::vector<int32_t> ids(count);
  for (size_t i = 0; i < count; ++i)
    ids[i] = static_cast<int32_t>(3 + i * i % 499);
  return ids;
}

runtime::Generation generate(runtime::Executor& executor, const std::vector<int32_t>& prompt,
                             int64_t count) {
  auto generator = runtime::Generator::create(executor).value();
  auto sampler = runtime::Sampler::create({}).value();
  auto generation = generator.generate(prompt, count, sampler);
  EXPECT_THAT(generation, IsOk());
  return generation.ok() ? *generation : runtime::Generation();
}

uint64_t stateBytes(const runtime::Executor& executor) {
  uint64_t bytes = 0;
  for (const runtime::State& state : executor.program().states)
    bytes += state.bytes;
  return bytes;
}

/// Beyond the context of 2,048 positions that the model was made for, in the memory of 163, and no
/// slower at the end than at the beginning.
TEST(CpuStream, GoesOnAtConstantMemoryAndTime) {
  auto executor = compile({.path = stories, .keptTokens = 4, .window = 128}).value();
  EXPECT_EQ(stateBytes(*executor), 5u * 2 * (4 + 128 + 31) * 4 * 8 * sizeof(float));
  constexpr int64_t count = 12'000;
  runtime::Generation generation = generate(*executor, someIds(300), count);
  EXPECT_EQ(generation.reason, runtime::StopReason::TokenLimit);
  ASSERT_EQ(generation.ids.size(), size_t(count));
  auto medianOf = [&](int64_t first) {
    std::vector<int64_t> times(generation.tokenNs.begin() + first,
                               generation.tokenNs.begin() + first + 1000);
    std::ranges::nth_element(times, times.begin() + 500);
    return times[500];
  };
  // Were all positions attended to, the last tokens would take tens of times as long.
  EXPECT_LT(medianOf(count - 1001), 2 * medianOf(1000));
}

/// The same mask over caches that hold every one of the first 2,000 tokens: a call of 2,048 rows makes the
/// ring so long that it does not wrap.
TEST(CpuStream, EqualsUncompressedCachesOfTheSameMask) {
  tools::ModelOptions options = {
      .path = stories, .shapes = {"decode:1", "prefill:32"}, .keptTokens = 4, .window = 128};
  auto ring = compile(options).value();
  options.shapes = {"decode:1", "prefill:2048"};
  auto whole = compile(options).value();
  EXPECT_GT(stateBytes(*whole), 13 * stateBytes(*ring));
  const std::vector<int32_t> ids = someIds(2000);
  std::vector<float> found = runtime::Generator::create(*ring)->computeLogits(ids).value();
  std::vector<float> expected = runtime::Generator::create(*whole)->computeLogits(ids).value();
  EXPECT_LE(relativeDifference(found, expected), relativeToLargest);
  // Chunks of a prompt give what its tokens give one by one.
  EXPECT_EQ(generate(*ring, ids, 20).ids, generate(*whole, ids, 20).ids);
}

/// Tokens that all fit into the window see what they see in a dense cache.
TEST(CpuStream, BeginsAsAnyOtherText) {
  auto stream = compile({.path = stories, .keptTokens = 4, .window = 64}).value();
  auto dense = compile({.path = stories}).value();
  const std::vector<int32_t> ids = someIds(64);
  std::vector<float> found = runtime::Generator::create(*stream)->computeLogits(ids).value();
  std::vector<float> expected = runtime::Generator::create(*dense)->computeLogits(ids).value();
  EXPECT_LE(relativeDifference(found, expected), relativeToLargest);
}

TEST(CpuStream, EqualsTheInterpreterUnderEveryPlan) {
  tools::ModelOptions options = {.path = stories,
                                 .shapes = {"decode:1", "prefill:8"},
                                 .cache = "q8",
                                 .keptTokens = 2,
                                 .window = 16};
  const std::vector<int32_t> ids = someIds(90);
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  auto module = tools::readModel(*context, options).value();
  auto reference = tools::ReferenceExecutor::create(*module).value();
  std::vector<float> expected = runtime::Generator::create(*reference)->computeLogits(ids).value();
  std::vector<float> split;
  for (passes::Plan plan : {passes::Plan::Split, passes::Plan::Fused, passes::Plan::Unfused}) {
    auto cpu = compile(options, plan).value();
    std::vector<float> found = runtime::Generator::create(*cpu)->computeLogits(ids).value();
    // Where a number lies between two quants, other roundings before it choose the other one.
    EXPECT_LE(relativeDifference(found, expected), 0.02);
    if (plan == passes::Plan::Split)
      split = found;
    if (plan == passes::Plan::Fused)
      EXPECT_EQ(found, split);
  }
}

/// A request whose prompt begins as the one before, which has gone on: the ring no longer holds what
/// stood before the end of the prompt.
TEST(CpuStream, RequestsReuseNoPrefix) {
  auto executor =
      compile({.path = stories, .shapes = {"decode:1", "prefill:8"}, .keptTokens = 4, .window = 24})
          .value();
  const std::vector<int32_t> prompt = someIds(40);
  const std::vector<int32_t> alone = generate(*executor, prompt, 100).ids;
  ASSERT_THAT(executor->resetStates(), IsOk());
  auto scheduler = runtime::BatchScheduler::create(*executor).value();
  for (int request = 0; request < 2; ++request) {
    std::vector<int32_t> found;
    ASSERT_THAT(scheduler->submit({.prompt = prompt,
                                   .maxTokens = 100,
                                   .onEnd =
                                       [&](runtime::RequestResult result) {
                                         EXPECT_THAT(result.status, IsOk());
                                         found = std::move(result.ids);
                                       }}),
                IsOk());
    while (scheduler->step().value()) {
    }
    EXPECT_EQ(found, alone) << "request " << request;
  }
}

/// Of a chat whose text changed the turns so far are computed again, of one that goes on none.
TEST(CpuStream, KeptStatesChangeNothing) {
  auto executor =
      compile({.path = stories, .shapes = {"decode:1"}, .keptTokens = 4, .window = 24}).value();
  auto sampler = runtime::Sampler::create({}).value();
  auto keeping = runtime::Generator::create(*executor).value();
  keeping.keepStates();
  std::vector<int32_t> prompt = someIds(40);
  for (size_t keptIds : {size_t(139), size_t(60), size_t(30)}) {
    const std::vector<int32_t> answer = keeping.generate(prompt, 100, sampler).value().ids;
    prompt.insert(prompt.end(), answer.begin(), answer.end());
    prompt.resize(keptIds);
    prompt.push_back(3);
    auto other = compile({.path = stories, .shapes = {"decode:1"}, .keptTokens = 4, .window = 24});
    EXPECT_EQ(keeping.generate(prompt, 20, sampler).value().ids, generate(**other, prompt, 20).ids)
        << keptIds;
  }
}

/// Guesses that were wrong have been written to the ring, and no row misses what they overwrote.
TEST(CpuStream, GuessesChangeNothing) {
  auto executor = compile({.path = stories,
                           .shapes = {"decode:1", "decode:6", "prefill:8"},
                           .keptTokens = 4,
                           .window = 40,
                           .sequences = 1})
                      .value();
  const std::vector<int32_t> prompt = someIds(60);
  const std::vector<int32_t> plain = generate(*executor, prompt, 300).ids;
  auto generator = runtime::Generator::create(*executor).value();
  auto sampler = runtime::Sampler::create({}).value();
  runtime::NgramDrafter drafter(5);
  auto drafted = generator.generate(prompt, 300, sampler, {}, &drafter).value();
  EXPECT_EQ(drafted.ids, plain);
  EXPECT_GT(drafted.draftedTokens, drafted.acceptedTokens);
}

/// A cache of each kind, and how much more than f32's its perplexity and its bytes may be.
struct SmallCache {
  const char* name;
  double perplexity, bytes;
};

class CpuSmallCache : public testing::TestWithParam<SmallCache> {};

/// What the model itself writes, drawn with several seeds: 1,800 tokens, since of 200 the difference says
/// little.
std::vector<std::vector<int32_t>> writeStories(runtime::Executor& executor) {
  auto generator = runtime::Generator::create(executor).value();
  std::vector<std::vector<int32_t>> texts;
  for (uint64_t seed : {1, 2, 3, 4}) {
    std::vector<int32_t> ids = {1, 403, 407};
    auto sampler = runtime::Sampler::create({.temperature = 0.9f, .seed = seed}).value();
    std::vector<int32_t> more = generator.generate(ids, 450, sampler).value().ids;
    ids.insert(ids.end(), more.begin(), more.end());
    texts.push_back(ids);
  }
  return texts;
}

double perplexityOf(runtime::Executor& executor, const std::vector<std::vector<int32_t>>& texts) {
  auto generator = runtime::Generator::create(executor).value();
  auto vocabulary = static_cast<size_t>(executor.program().model->vocabulary);
  double logLikelihood = 0, predicted = 0;
  for (const std::vector<int32_t>& ids : texts) {
    std::vector<float> logits = generator.computeLogits(ids).value();
    for (size_t i = 1; i < ids.size(); ++i) {
      std::span<const float> row = std::span(logits).subspan((i - 1) * vocabulary, vocabulary);
      double sum = 0;
      for (float logit : row)
        sum += std::exp(static_cast<double>(logit));
      logLikelihood += row[static_cast<size_t>(ids[i])] - std::log(sum);
      ++predicted;
    }
  }
  return std::exp(-logLikelihood / predicted);
}

TEST_P(CpuSmallCache, PredictsAsWell) {
  auto whole = compile({.path = stories, .cache = "f32"}).value();
  auto small = compile({.path = stories, .cache = GetParam().name}).value();
  const std::vector<std::vector<int32_t>> texts = writeStories(*whole);
  double ratio = perplexityOf(*small, texts) / perplexityOf(*whole, texts);
  EXPECT_LE(std::fabs(ratio - 1), GetParam().perplexity);
  EXPECT_DOUBLE_EQ(double(stateBytes(*small)) / double(stateBytes(*whole)), GetParam().bytes);
}

// Heads of 8 elements: quants in 8 bytes or 4, and a scale of 4 bytes, for 32. Keys of so short
// heads are more than 4 bits hold (docs/notebook/2026-11-27-four-bits-of-keys.md); without the
// transform the perplexity doubles.
INSTANTIATE_TEST_SUITE_P(Types, CpuSmallCache,
                         testing::Values(SmallCache{"f16", 0.001, 0.5},
                                         SmallCache{"bf16", 0.005, 0.5},
                                         SmallCache{"q8", 0.005, 0.375},
                                         SmallCache{"fp8", 0.02, 0.375},
                                         SmallCache{"q4", 0.5, 0.25}),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
} // namespace tenon::tests
