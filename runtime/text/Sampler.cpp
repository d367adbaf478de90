#include "runtime/text/Sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "runtime/text/internal/Philox.h"
#include "runtime/text/internal/PortableExp.h"
#include "support/Status.h"

namespace tenon::runtime {
namespace {

/// The most logits whose weights, at most 2^40 each, have a sum below 2^64.
constexpr size_t maxLogits = size_t(1) << 23;

struct Weighted {
  uint64_t weight; ///< probability times an unknown factor, in units of 2^-40
  int32_t id;
};

bool isLikelier(const Weighted& a, const Weighted& b) {
  return a.weight > b.weight || (a.weight == b.weight && a.id < b.id);
}

/// The id of the highest logit, of equals the lowest.
absl::StatusOr<int32_t> findHighest(std::span<const float> logits) {
  if (logits.empty() || logits.size() > maxLogits)
    return absl::InvalidArgumentError(absl::StrFormat(
        "sampler: expects from 1 to %d logits, but got %d", maxLogits, logits.size()));
  size_t highest = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (std::isnan(logits[id]) || logits[id] == std::numeric_limits<float>::infinity())
      return absl::InvalidArgumentError(absl::StrFormat(
          "sampler: expects a number as the logit of token %d, but got %f", id, logits[id]));
    if (logits[id] > logits[highest])
      highest = id;
  }
  if (std::isinf(logits[highest]))
    return absl::InvalidArgumentError(
        "sampler: expects a logit above -inf, but all tokens are excluded");
  return int32_t(highest);
}

/// Weights of all tokens that can be drawn, in order of ids.
std::vector<Weighted> weigh(std::span<const float> logits, float highest, float temperature) {
  std::vector<Weighted> tokens;
  for (size_t id = 0; id < logits.size(); ++id) {
    const double exponent = (double(logits[id]) - double(highest)) / double(temperature);
    const uint64_t weight = uint64_t(internal::portableExp(exponent) * 0x1p40);
    if (weight > 0)
      tokens.push_back({weight, int32_t(id)});
  }
  return tokens;
}

uint64_t sumWeights(const std::vector<Weighted>& tokens) {
  uint64_t sum = 0;
  for (const Weighted& token : tokens)
    sum += token.weight;
  return sum;
}

/// Moves the likeliest `count` tokens to the front and drops the others.
void keepTopK(std::vector<Weighted>& tokens, size_t count) {
  if (count >= tokens.size())
    return;
  std::nth_element(tokens.begin(), tokens.begin() + ptrdiff_t(count), tokens.end(), isLikelier);
  tokens.resize(count);
}

/// Keeps the fewest tokens with at least `share` of the sum of weights, likeliest first.
void keepTopP(std::vector<Weighted>& tokens, float share) {
  const double enough = double(share) * double(sumWeights(tokens));
  const auto after = [](const Weighted& a, const Weighted& b) { return isLikelier(b, a); };
  // A heap: the set is mostly small, and the rest need not be sorted.
  std::make_heap(tokens.begin(), tokens.end(), after);
  auto end = tokens.end();
  for (uint64_t sum = 0; end != tokens.begin() && double(sum) < enough;) {
    std::pop_heap(tokens.begin(), end, after);
    sum += (--end)->weight;
  }
  tokens.erase(tokens.begin(), end);
}

/// Drops tokens with less than `share` of the highest weight.
void keepMinP(std::vector<Weighted>& tokens, float share) {
  const uint64_t highest = std::ranges::max(tokens, {}, &Weighted::weight).weight;
  const double enough = double(share) * double(highest);
  std::erase_if(tokens, [&](const Weighted& token) { return double(token.weight) < enough; });
}

/// `logits`, with those of tokens in `text` made lower by the penalty, once each.
std::vector<float> penalize(std::span<const float> logits, std::span<const int32_t> text,
                            float penalty) {
  std::vector<float> penalized(logits.begin(), logits.end());
  std::vector<bool> isDone(logits.size());
  for (int32_t id : text) {
    if (id < 0 || size_t(id) >= logits.size() || isDone[size_t(id)])
      continue;
    isDone[size_t(id)] = true;
    float& logit = penalized[size_t(id)];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
  return penalized;
}

} // namespace

absl::StatusOr<Sampler> Sampler::create(const SamplerOptions& options) {
  if (!std::isfinite(options.temperature) || options.temperature < 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "sampler: expects a finite temperature of at least 0, but got %g", options.temperature));
  if (options.topK < 0)
    return absl::InvalidArgumentError(
        absl::StrFormat("sampler: expects top-k of at least 0, but got %d", options.topK));
  if (!(options.topP > 0 && options.topP <= 1))
    return absl::InvalidArgumentError(
        absl::StrFormat("sampler: expects top-p above 0 and at most 1, but got %g", options.topP));
  if (!(options.minP >= 0 && options.minP <= 1))
    return absl::InvalidArgumentError(
        absl::StrFormat("sampler: expects min-p from 0 to 1, but got %g", options.minP));
  if (!(std::isfinite(options.repetitionPenalty) && options.repetitionPenalty > 0))
    return absl::InvalidArgumentError(
        absl::StrFormat("sampler: expects a finite repetition penalty above 0, but got %g",
                        options.repetitionPenalty));
  return Sampler(options);
}

absl::StatusOr<int32_t> Sampler::sample(std::span<const float> logits,
                                        std::span<const int32_t> text, uint32_t sequence) const {
  if (options.repetitionPenalty == 1)
    return draw(logits, text.size(), sequence);
  return draw(penalize(logits, text, options.repetitionPenalty), text.size(), sequence);
}

absl::StatusOr<int32_t> Sampler::draw(std::span<const float> logits, uint64_t position,
                                      uint32_t sequence) const {
  TENON_ASSIGN_OR_RETURN(const int32_t highest, findHighest(logits));
  if (options.temperature == 0)
    return highest;
  std::vector<Weighted> tokens = weigh(logits, logits[size_t(highest)], options.temperature);
  if (options.topK > 0)
    keepTopK(tokens, size_t(options.topK));
  if (options.topP < 1)
    keepTopP(tokens, options.topP);
  if (options.minP > 0)
    keepMinP(tokens, options.minP);
  std::sort(tokens.begin(), tokens.end(),
            [](const Weighted& a, const Weighted& b) { return a.id < b.id; });

  const std::array<uint32_t, 4> random =
      internal::philox4x32({uint32_t(position), uint32_t(position >> 32), sequence, 0},
                           {uint32_t(options.seed), uint32_t(options.seed >> 32)});
  const uint64_t uniform = uint64_t(random[1]) << 32 | random[0];
  uint64_t rest = uint64_t((unsigned __int128)(uniform)*sumWeights(tokens) >> 64);
  size_t chosen = 0;
  while (rest >= tokens[chosen].weight)
    rest -= tokens[chosen++].weight;
  return tokens[chosen].id;
}

} // namespace tenon::runtime
