#ifndef TENON_RUNTIME_TEXT_DRAFTER_H
#define TENON_RUNTIME_TEXT_DRAFTER_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace tenon::runtime {

/// Guesses the next tokens of a text, so that a model verifies several in one call (speculative
/// decoding: Leviathan et al. 2023). A wrong guess costs time, never a token.
class Drafter {
public:
  virtual ~Drafter() = default;

  /// Takes the tokens that the text begins with, instead of all before.
  virtual void begin(std::span<const int32_t> ids) = 0;
  /// Takes the next token.
  virtual void push(int32_t id) = 0;
  /// What may follow, at most `most` tokens; none where there is no guess. Valid until the next call.
  virtual absl::StatusOr<std::span<const int32_t>> draft(int64_t most) = 0;

  /// Whether the guesses are those of the model's own head.
  virtual bool usesHead() const { return false; }
  /// Takes what that head guesses behind the tokens chosen by the last call, of which those that are right
  /// are pushed after it.
  virtual void suggest(int32_t id) {}
};

/// Guesses what the model's own head said in the last call (multi-token prediction: Gloeckle et al. 2024,
/// arXiv 2404.19737): one token, and none behind a prompt.
class HeadDrafter : public Drafter {
public:
  void begin(std::span<const int32_t>) override { guess.clear(); }
  void push(int32_t) override {}
  absl::StatusOr<std::span<const int32_t>> draft(int64_t most) override {
    return std::span<const int32_t>(guess).first(std::min(guess.size(), size_t(most)));
  }
  bool usesHead() const override { return true; }
  void suggest(int32_t id) override { guess = {id}; }

private:
  std::vector<int32_t> guess; ///< one at most
};

/// Guesses that the text goes on as it did after the same last words before (prompt lookup decoding,
/// Saxena 2023). It needs no second model, and is good where a text repeats itself or its prompt.
class NgramDrafter : public Drafter {
public:
  /// Guesses at most `mostGuesses` tokens. The words are `longest` tokens, or fewer, down to 2, where
  /// those have not been there before.
  explicit NgramDrafter(int64_t mostGuesses, int64_t longest = 4);

  void begin(std::span<const int32_t> ids) override;
  void push(int32_t id) override;
  absl::StatusOr<std::span<const int32_t>> draft(int64_t most) override;

private:
  /// The places after the last occurrences of the words of some length, by their hash; the text's end
  /// itself is none.
  struct Places {
    size_t length;
    absl::flat_hash_map<uint64_t, size_t> behind;
  };

  int64_t mostGuesses;
  std::vector<int32_t> text;
  std::vector<int32_t> guess;
  std::vector<Places> places; ///< the longest words first
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_DRAFTER_H
