#ifndef TENON_RUNTIME_BATCHING_INTERNAL_SCHEDULERIMPL_H
#define TENON_RUNTIME_BATCHING_INTERNAL_SCHEDULERIMPL_H

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "runtime/LanguageModel.h"
#include "runtime/batching/BatchScheduler.h"
#include "runtime/batching/internal/PagePool.h"
#include "runtime/batching/internal/SlotTable.h"
#include "runtime/text/Drafter.h"

namespace tenon::runtime {

namespace internal {

using Clock = std::chrono::steady_clock;

/// Of a sequence in a call: few are right in a row.
inline constexpr int64_t mostGuesses = 7;

inline int64_t elapsedNs(Clock::time_point since) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since).count();
}

/// A request from its acceptance to its end. `tokens` are the prompt and the new ids; the states hold
/// the first `fed` of them.
struct Sequence {
  Request request;
  Sampler sampler;
  Clock::time_point submitted;
  NgramDrafter drafter;
  RequestResult result = {};
  int32_t slot = -1;
  std::vector<int32_t> tokens = {};
  size_t fed = 0;
  PagePool::Holding pages = {}; ///< where caches are paged
  bool wasAdmitted = false;
  /// The first tokens, which Prefill feeds and no other function; nothing where any may.
  std::optional<size_t> prefilled = {};

  /// Whether Prefill feeds its next token: several of those that are known are still to be fed, of its
  /// prompt, and of its answer where it has lost its pages; or as `prefilled` says.
  bool needsPrefill() const { return prefilled ? fed < *prefilled : fed + 1 < tokens.size(); }
  /// The tokens that Prefill may feed.
  std::span<const int32_t> prefillTokens() const {
    return std::span(tokens).first(prefilled.value_or(tokens.size()));
  }
  /// How many of them are still to be fed.
  size_t unfedPrefill() const { return prefillTokens().size() - fed; }
  /// Those of them that the states hold: other sequences that begin with them may take them over.
  std::span<const int32_t> reusableTokens() const {
    return prefillTokens().first(std::min(fed, prefillTokens().size()));
  }
  TokenRow row(size_t position) const {
    return {.id = tokens[position], .sequence = slot, .position = int32_t(position)};
  }
  /// Whether its next token is the host's choice.
  bool wantsLogits(const ModelFunction& function) const {
    return !function.hasNextIds() || !sampler.isGreedy();
  }
  /// The token after `row` of the function's last call.
  absl::StatusOr<int32_t> next(const ModelFunction& function, size_t row) const {
    if (wantsLogits(function))
      return sampler.sample(function.logits(row), tokens);
    const int32_t id = function.nextIds()[row];
    if (id < 0)
      return absl::InvalidArgumentError(absl::StrFormat(
          "device: expects numbers as the logits behind token %d, but found NaN", tokens.size()));
    return id;
  }
};

using Sequences = std::list<Sequence>;

/// The rows of a sequence in a call of decode: its next token, then guesses of what follows.
struct RowsOfSequence {
  Sequences::iterator sequence;
  size_t firstGuess = 0; ///< where the guesses' rows begin
  size_t guesses = 0;
};

/// The rows of a sequence in a mixed call: its next tokens.
struct ChunkOfSequence {
  Sequences::iterator sequence;
  size_t rows = 1;
};

} // namespace internal

/// Requests come, wait, get slots and end in BatchScheduler.cpp; the calls of the model, and what they
/// choose, are in SchedulerCalls.cpp.
class BatchScheduler::Impl {
public:
  Impl(LanguageModel model, const BatchOptions& options)
      : model(std::move(model)), options(options), slots(this->model.info().sequences) {
    if (const ModelInfo& info = this->model.info(); info.isPaged())
      pages.emplace(info.pages, info.pagePositions);
  }

  absl::StatusOr<RequestId> submit(Request request);
  void cancel(RequestId id);
  absl::StatusOr<bool> step();
  BatchStatistics statistics() const;

private:
  void takeInbox();
  void admit();
  /// Gives the request a slot, and pages for all of its tokens; false where it has to wait.
  bool place(internal::Sequence& sequence);
  /// Gives each sequence that decodes next, `most` of them at most, a page for its next token, the
  /// youngest sequences' where none is free.
  void growPages(int64_t most);
  /// Takes the sequence's slot and pages, and puts it in front of those that wait.
  void preempt(internal::Sequences::iterator sequence);
  /// Notes that the states hold the sequence's tokens up to `fed`.
  void advance(internal::Sequence& sequence, size_t count);
  /// Takes the slot and pages of a sequence, whose tokens are needed no more where caches are dense.
  void freeSlot(internal::Sequence& sequence);
  bool decodesNext(const internal::Sequence& sequence) const {
    return !model.hasPrefill() || !sequence.needsPrefill();
  }
  /// Whether the caches have a place for the sequence's next token.
  bool hasPlace(const internal::Sequence& sequence) const {
    return !pages || pages->room(sequence.pages) > int64_t(sequence.fed);
  }
  ModelFunction& decodeFor(int64_t rows) {
    return model.decode(options.isBatchInvariant ? model.mostDecodeRows() : rows);
  }
  ModelFunction& prefillFor(int64_t count) {
    return options.isBatchInvariant ? model.largestPrefill() : model.prefill(count);
  }
  /// Whether the next call has chunks of prompts beside tokens of other sequences.
  bool mixesNext() const;
  absl::Status runNext();
  absl::Status runMixed();
  /// One call of Mixed with the chunks' rows.
  absl::Status runChunks(std::span<const internal::ChunkOfSequence> chunks,
                         ModelFunction& function);
  absl::Status runPrefill(internal::Sequences::iterator sequence);
  absl::Status runDecode();
  /// Adds guesses of the sequences' next tokens to the rows, up to `mostRows` in all.
  absl::Status addGuesses(std::vector<internal::RowsOfSequence>& chosen,
                          std::vector<TokenRow>& rows, int64_t mostRows);
  /// What the last call of decode chose for a sequence, whose own token was in `row`.
  void takeTokens(const internal::RowsOfSequence& of, const ModelFunction& function, size_t row,
                  std::span<const TokenRow> rows);
  /// Chooses the next token of a sequence whose tokens the states all hold, the last one of them since
  /// `row` of the function's last call. Says whether the sequence goes on; it is gone otherwise.
  bool choose(internal::Sequences::iterator sequence, const ModelFunction& function, size_t row);
  /// Takes the sequence out of the running ones, frees its slot and hands out its result.
  void end(internal::Sequences::iterator sequence, absl::Status status, StopReason reason);
  void finish(internal::Sequence& sequence, absl::Status status, StopReason reason);
  void endAll(const absl::Status& status);

  LanguageModel model;
  BatchOptions options;

  std::mutex mutex; ///< guards what other threads touch: up to `failure`
  std::deque<internal::Sequence> inbox;
  absl::flat_hash_set<RequestId> cancelled;
  RequestId lastId = 0;
  int64_t waitingCount = 0;
  absl::Status failure;

  std::deque<internal::Sequence> waiting;
  internal::Sequences running; ///< by their turn: who waited longest for a call is first
  internal::SlotTable slots;
  std::optional<internal::PagePool> pages; ///< where caches are paged
  bool prefilledLast = false;
  BatchStatistics counts;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_BATCHING_INTERNAL_SCHEDULERIMPL_H
