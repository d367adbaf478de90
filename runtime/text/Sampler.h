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
  uint64_t seed = 0;
};

/// Chooses tokens from logits:
///   1. greedy: the highest logit, of equals the lowest id;
///   2. else a weight for each token, exp((logit − highest) / temperature), as an integer multiple
///      of 2^-40;
///   3. the topK highest, then of these the fewest with a sum of at least topP of theirs; equals by
///      id;
///   4. r = floor(u · sum / 2^64) with u 64 bits from Philox4x32-10 under key `seed` and counter
///      (position, sequence); the first token in order of ids whose running sum exceeds r.
/// The result depends on the logits, the options, the position and the sequence alone: sums are of
/// integers, exact in every order, and the exponential uses only additions and multiplications, so
/// every machine draws the same.
class Sampler {
public:
  /// InvalidArgument unless temperature is finite and at least 0, topK at least 0, and topP above 0
  /// and at most 1.
  static absl::StatusOr<Sampler> create(const SamplerOptions& options);

  /// Whether the highest logit is taken.
  bool isGreedy() const { return options.temperature == 0; }

  /// The id for the token at `position` of `sequence`, given the logits of all tokens (at most
  /// 2^23). A logit may be −infinity: never chosen. InvalidArgument names the first that is NaN or
  /// +infinity, and where there is nothing to choose from.
  absl::StatusOr<int32_t> sample(std::span<const float> logits, uint64_t position,
                                 uint32_t sequence = 0) const;

private:
  explicit Sampler(const SamplerOptions& options) : options(options) {}

  SamplerOptions options;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_SAMPLER_H
