#include "runtime/text/ModelDrafter.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/text/Sampler.h"
#include "support/Status.h"

namespace tenon::runtime {

absl::StatusOr<std::unique_ptr<ModelDrafter>>
ModelDrafter::create(Executor& executor, int64_t vocabulary, int64_t mostGuesses) {
  TENON_ASSIGN_OR_RETURN(LanguageModel model, LanguageModel::create(executor, "drafter"));
  if (model.mostDecodeRows() == 0 || model.decode(1).rows() != 1)
    return absl::InvalidArgumentError("drafter: expects a decode function of one row (--shapes "
                                      "decode:1), but the program has none");
  if (model.info().vocabulary != vocabulary)
    return absl::InvalidArgumentError(absl::StrFormat(
        "drafter: expects a model of %d tokens, as the one that it guesses for, but "
        "got %d",
        vocabulary, model.info().vocabulary));
  TENON_RETURN_IF_ERROR(model.resetStates());
  return std::unique_ptr<ModelDrafter>(new ModelDrafter(std::move(model), mostGuesses));
}

absl::StatusOr<std::span<const int32_t>> ModelDrafter::draft(int64_t most) {
  guess.clear();
  most = std::min({most, mostGuesses, model.info().context - int64_t(text.size())});
  if (most <= 0 || text.empty())
    return std::span<const int32_t>(guess);
  // Guesses that were right are fed already; the last token's logits are wanted.
  const auto common = size_t(std::ranges::mismatch(fed, text).in1 - fed.begin());
  const size_t kept = std::min(common, text.size() - 1);
  TENON_ASSIGN_OR_RETURN(std::span<const float> logits,
                         model.feed(std::span(text).subspan(kept), int64_t(kept)));
  fed = text;
  TENON_ASSIGN_OR_RETURN(const Sampler greedy, Sampler::create({}));
  while (true) {
    TENON_ASSIGN_OR_RETURN(const int32_t id, greedy.sample(logits, fed));
    guess.push_back(id);
    if (int64_t(guess.size()) == most)
      return std::span<const int32_t>(guess);
    TENON_ASSIGN_OR_RETURN(logits, model.feed({&id, 1}, int64_t(fed.size())));
    fed.push_back(id);
  }
}

} // namespace tenon::runtime
