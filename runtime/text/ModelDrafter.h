#ifndef TENON_RUNTIME_TEXT_MODELDRAFTER_H
#define TENON_RUNTIME_TEXT_MODELDRAFTER_H

#include <memory>
#include <vector>

#include "runtime/Executor.h"
#include "runtime/LanguageModel.h"
#include "runtime/text/Drafter.h"

namespace tenon::runtime {

/// Guesses what a smaller model of the same vocabulary says (speculative decoding: Leviathan et al. 2023,
/// with greedy guesses).
class ModelDrafter : public Drafter {
public:
  /// Guesses at most `mostGuesses` tokens with the model of `executor`'s program, for a model of
  /// `vocabulary` tokens; InvalidArgument where it has another number of them, or no decode function of
  /// one row. `executor` must outlive this object, and runs nothing else meanwhile.
  static absl::StatusOr<std::unique_ptr<ModelDrafter>>
  create(Executor& executor, int64_t vocabulary, int64_t mostGuesses);

  void begin(std::span<const int32_t> ids) override { text.assign(ids.begin(), ids.end()); }
  void push(int32_t id) override { text.push_back(id); }
  /// None where the model's context ends.
  absl::StatusOr<std::span<const int32_t>> draft(int64_t most) override;

private:
  ModelDrafter(LanguageModel model, int64_t mostGuesses)
      : model(std::move(model)), mostGuesses(mostGuesses) {}

  LanguageModel model;
  int64_t mostGuesses;
  std::vector<int32_t> text;
  std::vector<int32_t> fed; ///< the tokens whose keys and values the states hold, wrong guesses too
  std::vector<int32_t> guess;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_MODELDRAFTER_H
