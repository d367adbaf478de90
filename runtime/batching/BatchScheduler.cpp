#include "runtime/batching/BatchScheduler.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "runtime/LanguageModel.h"
#include "runtime/batching/internal/PagePool.h"
#include "runtime/batching/internal/SlotTable.h"
#include "runtime/text/Drafter.h"
#include "support/Status.h"

namespace tenon::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Of a sequence in a call: few are right in a row.
constexpr int64_t mostGuesses = 7;

int64_t elapsedNs(Clock::time_point since) {
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
  internal::PagePool::Holding pages = {}; ///< where caches are paged
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

} // namespace

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
  bool place(Sequence& sequence);
  /// Gives each sequence that decodes next, `most` of them at most, a page for its next token, the
  /// youngest sequences' where none is free.
  void growPages(int64_t most);
  /// Takes the sequence's slot and pages, and puts it in front of those that wait.
  void preempt(Sequences::iterator sequence);
  /// Notes that the states hold the sequence's tokens up to `fed`.
  void advance(Sequence& sequence, size_t count);
  /// Takes the slot and pages of a sequence, whose tokens are needed no more where caches are dense.
  void freeSlot(Sequence& sequence);
  bool decodesNext(const Sequence& sequence) const {
    return !model.hasPrefill() || !sequence.needsPrefill();
  }
  /// Whether the caches have a place for the sequence's next token.
  bool hasPlace(const Sequence& sequence) const {
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
  absl::Status runChunks(std::span<const ChunkOfSequence> chunks, ModelFunction& function);
  absl::Status runPrefill(Sequences::iterator sequence);
  absl::Status runDecode();
  /// Adds guesses of the sequences' next tokens to the rows, up to `mostRows` in all.
  absl::Status addGuesses(std::vector<RowsOfSequence>& chosen, std::vector<TokenRow>& rows,
                          int64_t mostRows);
  /// What the last call of decode chose for a sequence, whose own token was in `row`.
  void takeTokens(const RowsOfSequence& of, const ModelFunction& function, size_t row,
                  std::span<const TokenRow> rows);
  /// The next token of a sequence whose tokens the states all hold, the last one of them since `row` of
  /// the function's last call.
  /// Whether the sequence goes on; it is gone otherwise.
  bool choose(Sequences::iterator sequence, const ModelFunction& function, size_t row);
  /// Takes the sequence out of the running ones, frees its slot and hands out its result.
  void end(Sequences::iterator sequence, absl::Status status, StopReason reason);
  void finish(Sequence& sequence, absl::Status status, StopReason reason);
  void endAll(const absl::Status& status);

  LanguageModel model;
  BatchOptions options;

  std::mutex mutex; ///< guards what other threads touch: up to `failure`
  std::deque<Sequence> inbox;
  absl::flat_hash_set<RequestId> cancelled;
  RequestId lastId = 0;
  int64_t waitingCount = 0;
  absl::Status failure;

  std::deque<Sequence> waiting;
  Sequences running; ///< by their turn: who waited longest for a call is first
  internal::SlotTable slots;
  std::optional<internal::PagePool> pages; ///< where caches are paged
  bool prefilledLast = false;
  BatchStatistics counts;
};

absl::StatusOr<RequestId> BatchScheduler::Impl::submit(Request request) {
  TENON_RETURN_IF_ERROR(model.checkIds(request.prompt));
  if (request.maxTokens < 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "scheduler: expects at least 0 tokens to make, but got %d", request.maxTokens));
  TENON_ASSIGN_OR_RETURN(Sampler sampler, Sampler::create(request.sampling));
  Sequence sequence{std::move(request), std::move(sampler), Clock::now(),
                    NgramDrafter(mostGuesses)};
  sequence.tokens = sequence.request.prompt;
  if (options.isBatchInvariant && model.hasPrefill())
    sequence.prefilled = sequence.tokens.size();
  sequence.drafter.begin(sequence.tokens);
  std::scoped_lock lock(mutex);
  TENON_RETURN_IF_ERROR(failure);
  if (waitingCount >= options.mostWaiting)
    return absl::ResourceExhaustedError(
        absl::StrFormat("scheduler: expects at most %d waiting requests", options.mostWaiting));
  ++waitingCount;
  sequence.result.id = ++lastId;
  inbox.push_back(std::move(sequence));
  return lastId;
}

void BatchScheduler::Impl::cancel(RequestId id) {
  std::scoped_lock lock(mutex);
  cancelled.insert(id);
}

void BatchScheduler::Impl::takeInbox() {
  absl::flat_hash_set<RequestId> toCancel;
  {
    std::scoped_lock lock(mutex);
    std::ranges::move(inbox, std::back_inserter(waiting));
    inbox.clear();
    toCancel = std::exchange(cancelled, {});
  }
  if (toCancel.empty())
    return;
  const absl::Status status = absl::CancelledError("the request was cancelled");
  std::deque<Sequence> kept, dropped;
  for (Sequence& sequence : waiting)
    (toCancel.contains(sequence.result.id) ? dropped : kept).push_back(std::move(sequence));
  waiting = std::move(kept);
  for (auto next = running.begin(); next != running.end();) {
    auto sequence = next++;
    if (toCancel.contains(sequence->result.id))
      end(sequence, status, StopReason::Callback);
  }
  {
    std::scoped_lock lock(mutex);
    waitingCount -= int64_t(dropped.size());
  }
  for (Sequence& sequence : dropped)
    finish(sequence, status, StopReason::Callback);
}

bool BatchScheduler::Impl::place(Sequence& sequence) {
  int64_t held = 0;
  if (pages) {
    if (slots.taken() == slots.size())
      return false;
    const auto reused =
        pages->begin(sequence.pages, sequence.prefillTokens(), options.reusesPrefixes);
    if (!reused)
      return false;
    held = *reused;
  }
  auto lease = slots.acquire(sequence.tokens);
  if (!lease)
    return false;
  sequence.slot = lease->slot;
  if (pages)
    model.setPages(sequence.slot, sequence.pages.pages);
  else if (options.reusesPrefixes && !model.info().isStream())
    // The tokens that a ring holds after a prefix have taken the places of some before its end.
    held = lease->cachedTokens;
  sequence.fed = size_t(held);
  return true;
}

void BatchScheduler::Impl::admit() {
  while (!waiting.empty() && place(waiting.front())) {
    Sequence& sequence = running.emplace_back(std::move(waiting.front()));
    waiting.pop_front();
    {
      std::scoped_lock lock(mutex);
      --waitingCount;
    }
    counts.reusedTokens += int64_t(sequence.fed);
    if (std::exchange(sequence.wasAdmitted, true))
      continue;
    sequence.result.reusedTokens = int64_t(sequence.fed);
    sequence.result.queueNs = elapsedNs(sequence.submitted);
  }
}

void BatchScheduler::Impl::freeSlot(Sequence& sequence) {
  if (pages) {
    pages->release(sequence.pages);
    model.setPages(sequence.slot, {});
    slots.release(sequence.slot, {});
  } else {
    sequence.tokens.resize(sequence.reusableTokens().size());
    slots.release(sequence.slot, std::move(sequence.tokens));
  }
  sequence.slot = -1;
}

void BatchScheduler::Impl::preempt(Sequences::iterator sequence) {
  freeSlot(*sequence);
  sequence->fed = 0;
  waiting.push_front(std::move(*sequence));
  running.erase(sequence);
  ++counts.preemptions;
  std::scoped_lock lock(mutex);
  ++waitingCount;
}

void BatchScheduler::Impl::growPages(int64_t most) {
  for (auto next = running.begin(); next != running.end() && most > 0;) {
    auto sequence = next++;
    if (!decodesNext(*sequence))
      continue;
    --most;
    while (!hasPlace(*sequence)) {
      if (pages->grow(sequence->pages)) {
        model.setPages(sequence->slot, sequence->pages.pages);
        continue;
      }
      // A sequence alone finds a page: the pool has those of a whole context.
      auto youngest = std::ranges::max_element(
          running, {}, [](const Sequence& other) { return other.result.id; });
      const bool isItself = youngest == sequence;
      if (youngest == next)
        ++next;
      preempt(youngest);
      if (isItself)
        break;
    }
  }
}

void BatchScheduler::Impl::advance(Sequence& sequence, size_t count) {
  sequence.fed += count;
  if (pages)
    pages->keep(sequence.pages, sequence.reusableTokens());
}

absl::StatusOr<bool> BatchScheduler::Impl::step() {
  {
    std::scoped_lock lock(mutex);
    TENON_RETURN_IF_ERROR(failure);
  }
  takeInbox();
  admit();
  if (running.empty())
    return false;
  counts.mostRunning = std::max(counts.mostRunning, int64_t(running.size()));
  const absl::Status status = runNext();
  if (!status.ok()) {
    endAll(status);
    return status;
  }
  return true;
}

absl::Status BatchScheduler::Impl::runNext() {
  if (mixesNext()) {
    prefilledLast = false;
    return runMixed();
  }
  // Those that began first are first among the prompts: turns move sequences of decode alone.
  auto prompt =
      model.hasPrefill() ? std::ranges::find_if(running, &Sequence::needsPrefill) : running.end();
  const bool hasDecode =
      !model.hasPrefill() || !std::ranges::all_of(running, &Sequence::needsPrefill);
  const bool isPrefill = prompt != running.end() && !(prefilledLast && hasDecode);
  prefilledLast = isPrefill;
  return isPrefill ? runPrefill(prompt) : runDecode();
}

bool BatchScheduler::Impl::mixesNext() const {
  if (options.isBatchInvariant || model.mostMixedRows() == 0)
    return false;
  auto prompt = std::ranges::find_if(running, &Sequence::needsPrefill);
  if (prompt == running.end())
    return false;
  const int64_t prompts = std::ranges::count_if(running, &Sequence::needsPrefill);
  const int64_t decoding = int64_t(running.size()) - prompts;
  if (decoding > 0)
    return decoding < model.mostMixedRows();
  // One that fills the call by itself goes through Prefill.
  return prompts > 1 && int64_t(prompt->unfedPrefill()) < model.mostMixedRows();
}

absl::Status BatchScheduler::Impl::runMixed() {
  if (pages)
    growPages(model.mostMixedRows() - 1);
  std::vector<ChunkOfSequence> chunks;
  int64_t promptTokens = 0;
  for (auto sequence = running.begin(); sequence != running.end(); ++sequence) {
    if (!decodesNext(*sequence))
      promptTokens += int64_t(sequence->unfedPrefill());
    else if (hasPlace(*sequence))
      chunks.push_back({sequence});
  }
  // The prompts may all have given up their pages for tokens of older requests.
  if (promptTokens == 0)
    return runDecode();
  const auto decoding = int64_t(chunks.size());
  ModelFunction& function = model.mixed(decoding + 1, decoding + promptTokens);
  auto left = size_t(function.rows() - decoding);
  for (auto sequence = running.begin(); sequence != running.end() && left > 0; ++sequence)
    if (!decodesNext(*sequence)) {
      chunks.push_back({sequence, std::min(left, sequence->unfedPrefill())});
      left -= chunks.back().rows;
    }
  return runChunks(chunks, function);
}

absl::Status BatchScheduler::Impl::runChunks(std::span<const ChunkOfSequence> chunks,
                                             ModelFunction& function) {
  std::vector<TokenRow> rows;
  bool wantsLogits = false;
  for (const auto& [sequence, count] : chunks) {
    for (size_t row = 0; row < count; ++row)
      rows.push_back(sequence->row(sequence->fed + row));
    wantsLogits |=
        sequence->fed + count == sequence->tokens.size() && sequence->wantsLogits(function);
  }
  TENON_RETURN_IF_ERROR(function.run(rows, wantsLogits));
  ++counts.mixedCalls;
  counts.mixedTokens += int64_t(rows.size());
  for (size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const auto& [sequence, count] = chunks[chunk];
    advance(*sequence, count);
    if (sequence->fed == sequence->tokens.size())
      choose(sequence, function, chunk);
  }
  return absl::OkStatus();
}

absl::Status BatchScheduler::Impl::runPrefill(Sequences::iterator sequence) {
  const size_t left = sequence->unfedPrefill();
  ModelFunction& function = prefillFor(int64_t(left));
  std::vector<TokenRow> rows(std::min(size_t(function.rows()), left));
  for (size_t row = 0; row < rows.size(); ++row)
    rows[row] = sequence->row(sequence->fed + row);
  const bool wantsLogits = sequence->wantsLogits(function);
  TENON_RETURN_IF_ERROR(function.run(rows, wantsLogits));
  ++counts.prefillCalls;
  counts.prefillTokens += int64_t(rows.size());
  advance(*sequence, rows.size());
  if (sequence->fed == sequence->tokens.size())
    choose(sequence, function, /*row=*/0);
  return absl::OkStatus();
}

absl::Status BatchScheduler::Impl::addGuesses(std::vector<RowsOfSequence>& chosen,
                                              std::vector<TokenRow>& rows, int64_t mostRows) {
  for (RowsOfSequence& of : chosen) {
    const Sequence& sequence = *of.sequence;
    of.firstGuess = rows.size();
    // A token of a prompt has its successor.
    if (sequence.fed + 1 < sequence.tokens.size())
      continue;
    const auto known = int64_t(sequence.tokens.size());
    int64_t room = std::min(mostRows - int64_t(rows.size()), model.info().context - known);
    if (pages)
      room = std::min(room, pages->room(sequence.pages) - known);
    TENON_ASSIGN_OR_RETURN(const std::span<const int32_t> guesses,
                           of.sequence->drafter.draft(room));
    for (size_t i = 0; i < guesses.size(); ++i)
      rows.push_back({guesses[i], sequence.slot, int32_t(known + int64_t(i))});
    of.guesses = guesses.size();
  }
  return absl::OkStatus();
}

absl::Status BatchScheduler::Impl::runDecode() {
  if (pages)
    growPages(model.mostDecodeRows());
  std::vector<RowsOfSequence> chosen;
  std::vector<TokenRow> rows;
  for (auto sequence = running.begin();
       sequence != running.end() && int64_t(chosen.size()) < model.mostDecodeRows(); ++sequence)
    if (decodesNext(*sequence) && hasPlace(*sequence)) {
      chosen.push_back({sequence});
      rows.push_back(sequence->row(sequence->fed));
    }
  // Those that decoded may all have given up their pages for prompts of older requests.
  if (rows.empty())
    return absl::OkStatus();
  ModelFunction& function = decodeFor(int64_t(rows.size()));
  if (options.guessesInIdleRows)
    TENON_RETURN_IF_ERROR(addGuesses(chosen, rows, function.rows()));
  const bool wantsLogits = std::ranges::any_of(
      chosen, [&](const RowsOfSequence& of) { return of.sequence->wantsLogits(function); });
  TENON_RETURN_IF_ERROR(function.run(rows, wantsLogits));
  ++counts.decodeCalls;
  counts.decodeTokens += int64_t(chosen.size());
  counts.draftedTokens += int64_t(rows.size() - chosen.size());
  for (size_t row = 0; row < chosen.size(); ++row) {
    running.splice(running.end(), running, chosen[row].sequence);
    takeTokens(chosen[row], function, row, rows);
  }
  return absl::OkStatus();
}

void BatchScheduler::Impl::takeTokens(const RowsOfSequence& of, const ModelFunction& function,
                                      size_t row, std::span<const TokenRow> rows) {
  Sequence& sequence = *of.sequence;
  advance(sequence, 1);
  if (sequence.fed < sequence.tokens.size() || !choose(of.sequence, function, row))
    return;
  for (size_t guess = of.firstGuess; guess < of.firstGuess + of.guesses; ++guess) {
    if (rows[guess].id != sequence.tokens.back())
      return;
    // The states hold the guess already, and its row says what follows.
    advance(sequence, 1);
    ++counts.acceptedTokens;
    if (!choose(of.sequence, function, guess))
      return;
  }
}

bool BatchScheduler::Impl::choose(Sequences::iterator sequence, const ModelFunction& function,
                                  size_t row) {
  auto stop = [&](absl::Status status, StopReason reason) {
    end(sequence, std::move(status), reason);
    return false;
  };
  RequestResult& result = sequence->result;
  const int64_t limit = sequence->request.maxTokens;
  if (limit == 0)
    return stop(absl::OkStatus(), StopReason::TokenLimit);
  const absl::StatusOr<int32_t> id = sequence->next(function, row);
  if (!id.ok())
    return stop(id.status(), StopReason::Callback);
  if (result.firstTokenNs == 0)
    result.firstTokenNs = elapsedNs(sequence->submitted);
  if (model.endsAt(*id))
    return stop(absl::OkStatus(), StopReason::EndOfSequence);
  result.ids.push_back(*id);
  sequence->tokens.push_back(*id);
  sequence->drafter.push(*id);
  if (sequence->request.onToken && !sequence->request.onToken(*id))
    return stop(absl::OkStatus(), StopReason::Callback);
  if (int64_t(result.ids.size()) == limit)
    return stop(absl::OkStatus(), StopReason::TokenLimit);
  if (int64_t(sequence->tokens.size()) > model.info().context)
    return stop(absl::OkStatus(), StopReason::ContextEnd);
  return true;
}

void BatchScheduler::Impl::end(Sequences::iterator sequence, absl::Status status,
                               StopReason reason) {
  Sequences ended;
  ended.splice(ended.end(), running, sequence);
  freeSlot(*sequence);
  finish(*sequence, std::move(status), reason);
}

void BatchScheduler::Impl::finish(Sequence& sequence, absl::Status status, StopReason reason) {
  sequence.result.status = std::move(status);
  sequence.result.reason = reason;
  sequence.result.totalNs = elapsedNs(sequence.submitted);
  if (sequence.request.onEnd)
    sequence.request.onEnd(std::move(sequence.result));
}

void BatchScheduler::Impl::endAll(const absl::Status& status) {
  {
    std::scoped_lock lock(mutex);
    failure = status;
    std::ranges::move(inbox, std::back_inserter(waiting));
    inbox.clear();
    waitingCount = 0;
  }
  while (!running.empty())
    end(running.begin(), status, StopReason::Callback);
  for (std::deque<Sequence> rest = std::exchange(waiting, {}); Sequence& sequence : rest)
    finish(sequence, status, StopReason::Callback);
}

BatchStatistics BatchScheduler::Impl::statistics() const {
  BatchStatistics now = counts;
  now.waiting = int64_t(waiting.size());
  now.running = int64_t(running.size());
  now.slots = slots.size();
  now.pages = pages ? pages->size() : 0;
  now.freePages = pages ? pages->free() : 0;
  for (const Sequence& sequence : running)
    now.cachedTokens += int64_t(sequence.fed);
  return now;
}

BatchScheduler::BatchScheduler(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
BatchScheduler::~BatchScheduler() = default;

absl::StatusOr<std::unique_ptr<BatchScheduler>>
BatchScheduler::create(Executor& executor, const BatchOptions& options) {
  TENON_ASSIGN_OR_RETURN(LanguageModel model, LanguageModel::create(executor, "scheduler"));
  if (model.mostDecodeRows() == 0)
    return absl::InvalidArgumentError(
        "scheduler: expects a decode function (--shapes decode:N), but the program has none");
  if (model.info().sequences < 1)
    return absl::InvalidArgumentError(absl::StrFormat(
        "scheduler: expects states of at least one sequence, but got %d", model.info().sequences));
  TENON_RETURN_IF_ERROR(model.resetStates());
  return std::unique_ptr<BatchScheduler>(
      new BatchScheduler(std::make_unique<Impl>(std::move(model), options)));
}

absl::StatusOr<RequestId> BatchScheduler::submit(Request request) {
  return impl->submit(std::move(request));
}
void BatchScheduler::cancel(RequestId id) { impl->cancel(id); }
absl::StatusOr<bool> BatchScheduler::step() { return impl->step(); }
BatchStatistics BatchScheduler::statistics() const { return impl->statistics(); }

} // namespace tenon::runtime
