#ifndef TENON_RUNTIME_LANGUAGEMODEL_H
#define TENON_RUNTIME_LANGUAGEMODEL_H

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "runtime/ModelFunction.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

/// A language model's program as what feeds it sees it: its functions by rows, its limits.
class LanguageModel {
public:
  /// Checks that the executor's program describes a model whose functions have the ports that their
  /// roles ask for; InvalidArgument says what is missing, with `caller` in front. `executor` must
  /// outlive this object.
  static absl::StatusOr<LanguageModel> create(Executor& executor, std::string_view caller);

  const ModelInfo& info() const { return *executor->program().model; }
  absl::Status resetStates() { return executor->resetStates(); }

  /// Of paged caches: `pages` hold the positions of the sequence in their order, and nothing holds
  /// those after them. Until then a sequence has pages of its own, as far as the pool goes.
  void setPages(int32_t sequence, std::span<const int32_t> pages);

  /// Whether a generation ends with that token.
  bool endsAt(int32_t id) const;

  /// InvalidArgument where there are no ids, more than the context holds, or one outside the
  /// vocabulary.
  absl::Status checkIds(std::span<const int32_t> ids) const;

  /// Whether a function feeds chunks of a prompt: Prefill, or Mixed, for which one sequence will do.
  bool hasPrefill() const { return !prefills.empty() || !mixes.empty(); }
  /// Rows of the largest Decode function; 0 where there is none.
  int64_t mostDecodeRows() const { return decodes.empty() ? 0 : decodes.back().rows(); }
  /// The Decode function of fewest rows that takes `rows`, at most `mostDecodeRows()`.
  ModelFunction& decode(int64_t rows);

  /// What feeds the next of `count` tokens of a prompt: the Prefill function of most rows that they
  /// fill, or the next larger one, padded, where that takes less time than the former for all of
  /// them, by what the compiler predicts (`Function::predictedNs`), or by rows where it could not; a
  /// Mixed one where there is no Prefill. With `hasPrefill()`.
  ModelFunction& prefill(int64_t count);
  /// The one of these of most rows. With `hasPrefill()`.
  ModelFunction& largestPrefill() { return chunkFunctions().back(); }

  /// Rows of the largest Mixed function; 0 where there is none.
  int64_t mostMixedRows() const { return mixes.empty() ? 0 : mixes.back().rows(); }
  /// What feeds `count` tokens of several sequences, or as many of them as it holds, but at least
  /// `least`, up to `mostMixedRows()`: chosen among Mixed functions as `prefill` does.
  ModelFunction& mixed(int64_t least, int64_t count);

  /// Feeds tokens of sequence 0 from position `first` on, by Prefill where there is such a function, else
  /// one by one; returns the logits after the last, valid until the next call.
  absl::StatusOr<std::span<const float>> feed(std::span<const int32_t> ids, int64_t first);

private:
  LanguageModel(Executor& executor, std::string_view caller);
  std::vector<ModelFunction>& chunkFunctions() { return prefills.empty() ? mixes : prefills; }
  std::vector<ModelFunction>& functionsOf(Role role);

  Executor* executor;
  std::string_view caller;
  /// What the functions refer to: i32 [sequences, blocks], -1 where there is no page.
  std::unique_ptr<std::vector<int32_t>> blockTable;
  std::vector<ModelFunction> decodes;  ///< by rows, ascending
  std::vector<ModelFunction> prefills; ///< by rows, ascending
  std::vector<ModelFunction> mixes;    ///< by rows, ascending
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_LANGUAGEMODEL_H
