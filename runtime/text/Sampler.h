#ifndef TENON_RUNTIME_TEXT_SAMPLER_H
#define TENON_RUNTIME_TEXT_SAMPLER_H

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace tenon::runtime {

/// How the next token is chosen.
struct SamplerOptions {
  /// What logits are divided by; 0 chooses the most likely token (greedy).
  float temperature = 0;
  /// Only the `topK` most likely tokens are drawn from; 0 for all.
  int64_t topK = 0;
  /// Only the smallest set of most likely tokens with at least this probability is drawn from
  /// (Holtzman et al. 2020, nucleus sampling); 1 for all.
  float topP = 1;
  /// Only tokens with at least this share of the likeliest one's probability are drawn from
  /// (Nguyen et al. 2024, min-p sampling); 0 for all.
  float minP = 0;
  /// What the logits of tokens that the text holds already are divided by where they are above 0,
  /// and multiplied by where they are below (Keskar et al. 2019, CTRL); 1 leaves them as they are.
  float repetitionPenalty = 1;
  uint64_t seed = 0;
};

/// Chooses tokens from logits:
///   0. the penalty on tokens of the text;
///   1. greedy: the highest logit, of equals the lowest id;
///   2. else a weight for each token, exp((logit − highest) / temperature), as an integer multiple
///      of 2^-40;
///   3. the topK highest, then of these the fewest with a sum of at least topP of theirs; equals by
///      id; of these, those with at least minP of the highest weight;
///   4. r = floor(u · sum / 2^64) with u 64 bits from Philox4x32-10 under key `seed` and counter
///      (position, sequence); the first token in order of ids whose running sum exceeds r.
/// The position is the number of tokens of the text. The result depends on the logits, the options, the
/// position, the sequence and, with a penalty, the text alone: sums are of
/// integers, exact in every order, and the exponential uses only additions and multiplications, so
/// every machine draws the same.
class Sampler {
public:
  /// InvalidArgument unless temperature is finite and at least 0, topK at least 0, topP above 0 and at
  /// most 1, minP from 0 to 1, and repetitionPenalty finite and above 0.
  static absl::StatusOr<Sampler> create(const SamplerOptions& options);

  /// Whether the highest of the model's logits is taken, whatever the text.
  bool isGreedy() const { return options.temperature == 0 && options.repetitionPenalty == 1; }

  /// The id for the token after `text`, the tokens of `sequence` so far, given the logits of all
  /// tokens (at most 2^23). A logit may be −infinity: never chosen. InvalidArgument names the first that
  /// is NaN or +infinity, and where there is nothing to choose from.
  absl::StatusOr<int32_t> sample(std::span<const float> logits, std::span<const int32_t> text,
                                 uint32_t sequence = 0) const;

private:
  absl::StatusOr<int32_t> draw(std::span<const float> logits, uint64_t position,
                               uint32_t sequence) const;

  explicit Sampler(const SamplerOptions& options) : options(options) {}

  SamplerOptions options;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_SAMPLER_H
