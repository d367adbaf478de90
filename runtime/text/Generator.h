#ifndef TENON_RUNTIME_TEXT_GENERATOR_H
#define TENON_RUNTIME_TEXT_GENERATOR_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "runtime/Executor.h"
#include "runtime/text/Drafter.h"
#include "runtime/text/Sampler.h"

namespace tenon::runtime {

/// Why a generation ended.
enum class StopReason : uint8_t {
  TokenLimit,    ///< as many tokens as were asked for
  EndOfSequence, ///< the model chose its EOS token or another that ends a generation
  ContextEnd,    ///< the states hold no further position
  StopText, ///< the text holds a stop text: said by who reads it, the generator knows ids alone
  Callback, ///< the callback asked for it
};

/// `token limit`, `end of sequence`, `context end`, `stop text` or `callback`.
std::string_view stopReasonName(StopReason reason);

/// What a generation gave.
struct Generation {
  /// The new ids, without the token that ended the sequence.
  std::vector<int32_t> ids;
  StopReason reason = StopReason::TokenLimit;
  /// Time from the start until the first new token was chosen.
  int64_t promptNs = 0;
  /// Time of each further token: one run of the model and the choice, without the callback. A guess
  /// that was right takes none: the token before it has the time of both.
  std::vector<int64_t> tokenNs;
  int64_t draftedTokens = 0;  ///< guesses that the model verified
  int64_t acceptedTokens = 0; ///< those that were right
};

/// Runs a language model: feeds a prompt, chooses tokens one by one and feeds them back, in
/// sequence 0 of the program's states, which each call sets to zero first unless told to keep them.
class Generator {
public:
  /// Takes each new id; false ends the generation.
  using TokenCallback = std::function<bool(int32_t)>;

  /// Checks that the executor's program describes a model and has a Decode function of one row;
  /// InvalidArgument says what is missing. It may have Prefill
  /// functions of several sizes. `executor` must outlive this object.
  static absl::StatusOr<Generator> create(Executor& executor);

  ~Generator();
  Generator(Generator&& other);
  Generator& operator=(Generator&& other);

  /// From now on `generate` keeps of the states what they hold of the begin of its prompt, and feeds the
  /// rest alone: the turns of a chat so far are not computed again.
  void keepStates();

  /// Continues `prompt` by up to `count` tokens. The prompt goes through the Prefill functions
  /// in chunks, large ones first, the last padded with inactive rows, or token by token through
  /// Decode, as a single last one does. Stops at a token that ends a generation (`TokenizerSpec::endsGeneration`) and at the end of the context.
  /// InvalidArgument where the prompt is empty or longer than the context, where it has an id
  /// outside the vocabulary, or where `count` is negative; else what the executor or sampler says.
  ///
  /// With a drafter, each call of the model takes its guesses as further rows of the sequence, as many
  /// as the Decode function of most rows has room for. Each token is what the sampler chooses from the
  /// logits after the one before, so that guesses change how many calls there are, and nothing else
  /// where the kernels give a row the same bits whatever the number of rows.
  absl::StatusOr<Generation> generate(std::span<const int32_t> prompt, int64_t count,
                                      const Sampler& sampler, const TokenCallback& onToken = {},
                                      Drafter* drafter = nullptr);

  /// Feeds `ids` through Decode, one by one from position 0, and returns the logits after each:
  /// [ids, vocabulary], row-major. Fails as `generate` does.
  absl::StatusOr<std::vector<float>> computeLogits(std::span<const int32_t> ids);

private:
  class Impl;
  explicit Generator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_GENERATOR_H
