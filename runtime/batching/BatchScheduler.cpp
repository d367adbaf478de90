#include "runtime/batching/BatchScheduler.h"

#include "runtime/batching/internal/SchedulerImpl.h"
#include "support/Status.h"

namespace tenon::runtime {

using internal::elapsedNs;
using internal::Sequence;
using internal::Sequences;

absl::StatusOr<RequestId> BatchScheduler::Impl::submit(Request request) {
  TENON_RETURN_IF_ERROR(model.checkIds(request.prompt));
  if (request.maxTokens < 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "scheduler: expects at least 0 tokens to make, but got %d", request.maxTokens));
  TENON_ASSIGN_OR_RETURN(Sampler sampler, Sampler::create(request.sampling));
  Sequence sequence{std::move(request), std::move(sampler), internal::Clock::now(),
                    NgramDrafter(internal::mostGuesses)};
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
