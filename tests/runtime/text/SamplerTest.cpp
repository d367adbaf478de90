#include "runtime/text/Sampler.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/text/internal/Philox.h"
#include "runtime/text/internal/PortableExp.h"

namespace tenon::runtime {
namespace {

using testing::ElementsAre;
constexpr float infinity = std::numeric_limits<float>::infinity();

Sampler make(const SamplerOptions& options) { return Sampler::create(options).value(); }

int32_t sample(const Sampler& sampler, const std::vector<float>& logits, uint64_t position = 0,
               uint32_t sequence = 0) {
  return sampler.sample(logits, std::vector<int32_t>(position), sequence).value();
}

std::vector<int32_t> sampleMany(const SamplerOptions& options, const std::vector<float>& logits,
                                int count) {
  const Sampler sampler = make(options);
  std::vector<int32_t> ids;
  for (int position = 0; position < count; ++position)
    ids.push_back(sample(sampler, logits, uint64_t(position)));
  return ids;
}

std::set<int32_t> drawnIds(const SamplerOptions& options, const std::vector<float>& logits) {
  const std::vector<int32_t> ids = sampleMany(options, logits, 4000);
  return {ids.begin(), ids.end()};
}

TEST(Philox, givesTheKnownAnswers) { // Random123's kat_vectors
  using internal::philox4x32;
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(
      philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(
      philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(PortableExp, agreesWithTheLibrary) {
  for (int i = 0; i < 50000; ++i) {
    const double x = -0.0137 * i;
    ASSERT_NEAR(internal::portableExp(x) / std::exp(x), 1, 1e-15) << x;
  }
  EXPECT_EQ(internal::portableExp(0), 1);
  EXPECT_EQ(internal::portableExp(-1e300), 0);
  EXPECT_EQ(internal::portableExp(-double(infinity)), 0);
}

TEST(Sampler, greedyTakesTheHighestAndOfEqualsTheFirst) {
  const Sampler greedy = make({});
  EXPECT_EQ(sample(greedy, {1, 3, 2}), 1);
  EXPECT_EQ(sample(greedy, {1, 3, 3, 2, 3}), 1);
  EXPECT_EQ(sample(greedy, {-infinity, -5, -infinity}), 1);
  EXPECT_EQ(sample(greedy, {-0.0f, 0.0f}), 0);
}

TEST(Sampler, drawsInProportion) {
  const std::vector<float> logits = {std::log(1.0f), std::log(2.0f), std::log(5.0f), -infinity};
  const int count = 80000;
  std::map<int32_t, int> counts;
  for (int32_t id : sampleMany({.temperature = 1, .seed = 7}, logits, count))
    ++counts[id];
  EXPECT_NEAR(counts[0], count / 8.0, 400); // four standard deviations
  EXPECT_NEAR(counts[1], count / 4.0, 500);
  EXPECT_NEAR(counts[2], count / 1.6, 550);
  EXPECT_EQ(counts.count(3), 0u);
}

TEST(Sampler, temperatureSharpens) {
  const std::vector<float> logits = {0, 1};
  const auto share = [&](float temperature) {
    int ones = 0;
    for (int32_t id : sampleMany({.temperature = temperature}, logits, 20000))
      ones += id;
    return ones / 20000.0;
  };
  EXPECT_NEAR(share(1), 1 / (1 + std::exp(-1.0)), 0.015);
  EXPECT_NEAR(share(0.5), 1 / (1 + std::exp(-2.0)), 0.015);
  EXPECT_NEAR(share(4), 1 / (1 + std::exp(-0.25)), 0.015);
  EXPECT_EQ(share(1e-30f), 1);
}

TEST(Sampler, topKKeepsTheLikeliest) {
  const std::vector<float> logits = {1, 2, 1.5, 2, 0};
  EXPECT_THAT(drawnIds({.temperature = 1}, logits), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(drawnIds({.temperature = 1, .topK = 3}, logits), ElementsAre(1, 2, 3));
  EXPECT_THAT(drawnIds({.temperature = 1, .topK = 1}, logits), ElementsAre(1));
  EXPECT_THAT(drawnIds({.temperature = 1, .topK = 100}, logits), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Sampler, topPKeepsTheSmallestSetThatReachesIt) {
  const std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.2f),
                                     std::log(0.3f)};
  EXPECT_THAT(drawnIds({.temperature = 1, .topP = 0.39f}, logits), ElementsAre(1));
  EXPECT_THAT(drawnIds({.temperature = 1, .topP = 0.65f}, logits), ElementsAre(1, 3));
  EXPECT_THAT(drawnIds({.temperature = 1, .topP = 0.75f}, logits), ElementsAre(1, 2, 3));
  EXPECT_THAT(drawnIds({.temperature = 1, .topP = 1e-9f}, logits), ElementsAre(1));
  // Of the two that top-k leaves, the likelier has 4/7.
  EXPECT_THAT(drawnIds({.temperature = 1, .topK = 2, .topP = 0.5f}, logits), ElementsAre(1));
}

TEST(Sampler, minPKeepsThoseNearTheLikeliest) {
  const std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.2f),
                                     std::log(0.3f)};
  EXPECT_THAT(drawnIds({.temperature = 1, .minP = 0.2f}, logits), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(drawnIds({.temperature = 1, .minP = 0.3f}, logits), ElementsAre(1, 2, 3));
  EXPECT_THAT(drawnIds({.temperature = 1, .minP = 0.7f}, logits), ElementsAre(1, 3));
  EXPECT_THAT(drawnIds({.temperature = 1, .minP = 1}, logits), ElementsAre(1));
  // Shares are of the probabilities that the temperature leaves: 1/16, 1, 1/4, 9/16.
  EXPECT_THAT(drawnIds({.temperature = 0.5f, .minP = 0.3f}, logits), ElementsAre(1, 3));
}

TEST(Sampler, penalizesTokensOfTheTextOnce) {
  const std::vector<float> logits = {1, 3, 2.5f, -1};
  const auto next = [&](float penalty, const std::vector<int32_t>& text) {
    return make({.repetitionPenalty = penalty}).sample(logits, text).value();
  };
  EXPECT_EQ(next(1.3f, {}), 1);
  EXPECT_EQ(next(1.1f, {1}), 1);         // 2.73
  EXPECT_EQ(next(1.1f, {1, 1, 1}), 1);   // once, however often it occurs
  EXPECT_EQ(next(1.3f, {1, 0}), 2);      // 2.31
  EXPECT_EQ(next(1.3f, {1, 2}), 1);      // 2.31 and 1.92
  EXPECT_EQ(next(4, {1, 2, -1, 99}), 0); // ids that are no tokens count for nothing
  EXPECT_EQ(next(1e9f, {0, 1, 2}), 1);   // lower, but above those below 0
  EXPECT_EQ(next(0.5f, {2}), 2);         // a reward
  EXPECT_EQ(make({.repetitionPenalty = 2}).sample(std::vector<float>{-1, -1.5f}, {{0}}).value(), 1);
  EXPECT_TRUE(make({}).isGreedy());
  EXPECT_FALSE(make({.repetitionPenalty = 1.1f}).isGreedy());
}

TEST(Sampler, dependsOnSeedPositionAndSequenceAlone) {
  std::vector<float> logits(1000);
  for (size_t id = 0; id < logits.size(); ++id)
    logits[id] = float(id % 17) * 0.1f;
  const SamplerOptions options = {.temperature = 0.8f, .topK = 500, .topP = 0.95f, .seed = 42};
  const std::vector<int32_t> ids = sampleMany(options, logits, 64);
  EXPECT_EQ(sampleMany(options, logits, 64), ids);
  EXPECT_EQ(sample(make(options), logits, 63), ids[63]);
  SamplerOptions other = options;
  other.seed = 43;
  EXPECT_NE(sampleMany(other, logits, 64), ids);
  other.seed = 42 + (uint64_t(1) << 32);
  EXPECT_NE(sampleMany(other, logits, 64), ids);
  int equal = 0;
  for (uint64_t position = 0; position < 64; ++position)
    equal += sample(make(options), logits, position, 1) == ids[position];
  EXPECT_LT(equal, 8);
}

// Computed with Python's integers from the steps in Sampler.h. Changing them changes what users get
// for a seed.
TEST(Sampler, drawsTheRecordedIds) {
  std::vector<float> logits(100);
  for (size_t id = 0; id < logits.size(); ++id)
    logits[id] = float(id * 37 % 101) / 16;
  EXPECT_THAT(sampleMany({.temperature = 1, .seed = 1}, logits, 8),
              ElementsAre(90, 89, 57, 5, 65, 30, 16, 49));
  EXPECT_THAT(sampleMany({.temperature = 0.7f, .topK = 40, .topP = 0.9f, .seed = 1}, logits, 8),
              ElementsAre(90, 90, 57, 8, 65, 30, 16, 49));
}

TEST(Sampler, refusesBrokenLogits) {
  for (float temperature : {0.0f, 1.0f}) {
    const Sampler sampler = make({.temperature = temperature});
    const auto refusal = [&](const std::vector<float>& logits) {
      const absl::Status status = sampler.sample(logits, {}).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      return std::string(status.message());
    };
    EXPECT_EQ(refusal({0, 1, NAN}),
              "sampler: expects a number as the logit of token 2, but got nan");
    EXPECT_EQ(refusal({NAN}), "sampler: expects a number as the logit of token 0, but got nan");
    EXPECT_EQ(refusal({0, infinity}),
              "sampler: expects a number as the logit of token 1, but got inf");
    EXPECT_EQ(refusal({-infinity, -infinity}),
              "sampler: expects a logit above -inf, but all tokens are excluded");
    EXPECT_EQ(refusal({}), "sampler: expects from 1 to 8388608 logits, but got 0");
  }
}

TEST(Sampler, refusesBrokenOptions) {
  const auto refusal = [](const SamplerOptions& options) {
    const absl::Status status = Sampler::create(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal({.temperature = -1}),
            "sampler: expects a finite temperature of at least 0, but got -1");
  EXPECT_EQ(refusal({.temperature = infinity}),
            "sampler: expects a finite temperature of at least 0, but got inf");
  EXPECT_EQ(refusal({.temperature = NAN}),
            "sampler: expects a finite temperature of at least 0, but got nan");
  EXPECT_EQ(refusal({.topK = -1}), "sampler: expects top-k of at least 0, but got -1");
  EXPECT_EQ(refusal({.topP = 0}), "sampler: expects top-p above 0 and at most 1, but got 0");
  EXPECT_EQ(refusal({.topP = 1.5f}), "sampler: expects top-p above 0 and at most 1, but got 1.5");
  EXPECT_EQ(refusal({.topP = NAN}), "sampler: expects top-p above 0 and at most 1, but got nan");
  EXPECT_EQ(refusal({.minP = -0.5f}), "sampler: expects min-p from 0 to 1, but got -0.5");
  EXPECT_EQ(refusal({.minP = NAN}), "sampler: expects min-p from 0 to 1, but got nan");
  EXPECT_EQ(refusal({.repetitionPenalty = 0}),
            "sampler: expects a finite repetition penalty above 0, but got 0");
  EXPECT_EQ(refusal({.repetitionPenalty = infinity}),
            "sampler: expects a finite repetition penalty above 0, but got inf");
}

} // namespace
} // namespace tenon::runtime
