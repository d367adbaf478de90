#ifndef TENON_RUNTIME_BATCHING_BATCHSCHEDULER_H
#define TENON_RUNTIME_BATCHING_BATCHSCHEDULER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "runtime/text/Generator.h"
#include "runtime/text/Sampler.h"

namespace tenon::runtime {

/// Names a request of one scheduler.
using RequestId = uint64_t;

/// How a request ended.
struct RequestResult {
  RequestId id = 0;
  /// OK where it ended as asked for; Cancelled; what the sampler said of its logits; or the status
  /// of the call of the model that failed, which ends all requests.
  absl::Status status;
  /// The new ids, without the token that ended the sequence.
  std::vector<int32_t> ids;
  StopReason reason = StopReason::TokenLimit; ///< where `status` is OK
  int64_t reusedTokens = 0; ///< of the prompt: a slot of the states held them already
  int64_t queueNs = 0;      ///< from `submit` to its slot
  int64_t firstTokenNs = 0; ///< from `submit` to its first new token; 0 where there was none
  int64_t totalNs = 0;      ///< from `submit` to its end
};

/// A continuation of a prompt by up to `maxTokens` tokens.
struct Request {
  std::vector<int32_t> prompt;
  int64_t maxTokens = 0;
  SamplerOptions sampling = {};
  /// Takes each new id, within `BatchScheduler::step`; false ends the request. May be empty.
  std::function<bool(int32_t)> onToken = {};
  /// Takes the result, within `step`, exactly once for a request that was accepted. May be empty.
  std::function<void(RequestResult)> onEnd = {};
};

/// What a scheduler allows.
struct BatchOptions {
  int64_t mostWaiting = 65'536;  ///< requests without a slot; more are refused
  bool reusesPrefixes = true;    ///< keys and values of an earlier prompt's begin are taken over
  bool guessesInIdleRows = true; ///< rows of decode that no sequence needs verify guesses
  /// A request's tokens have the same bits whatever runs beside it: every call is of the Decode or
  /// the Prefill function of most rows, none of Mixed with several sequences, and each token of a
  /// sequence always goes through the same of the two, also where the sequence is fed anew or takes over
  /// what another has left.
  bool isBatchInvariant = false;
};

/// What a scheduler has done so far, and what it holds.
struct BatchStatistics {
  int64_t waiting = 0;      ///< requests without a slot
  int64_t running = 0;      ///< requests with a slot
  int64_t mostRunning = 0;  ///< at once, so far
  int64_t slots = 0;        ///< sequences that the states hold
  int64_t cachedTokens = 0; ///< of the running requests, whose keys and values the states hold
  int64_t pages = 0;        ///< of paged caches; 0 of others
  int64_t freePages = 0;    ///< of those, that no request has
  int64_t preemptions = 0;  ///< requests that gave their pages to older ones and began anew
  int64_t prefillCalls = 0;
  int64_t decodeCalls = 0;
  int64_t mixedCalls = 0; ///< of several sequences, chunks of prompts among them
  int64_t prefillTokens = 0;
  int64_t decodeTokens = 0; ///< rows of decode, guesses aside
  int64_t mixedTokens = 0;
  int64_t reusedTokens = 0;
  int64_t draftedTokens = 0;  ///< guesses that idle rows verified
  int64_t acceptedTokens = 0; ///< those that were right
};

/// Runs many requests on the functions of one program, as sequences come and go (continuous batching:
/// Yu et al. 2022, Orca): static shapes, in which rows without a sequence are idle.
///
/// A request waits, first come, first served, for a slot: one of the sequences that the program's
/// states hold (`--cache=sequences=N`), with the whole context, so that a request that runs never lacks memory.
/// Its slot may hold the begin of its prompt already. Where caches are paged (`--cache=page=P`), it also waits
/// for free pages for its prompt, of which it shares those that hold whole blocks of its begin
/// (internal/PagePool.h), and takes one more whenever it has filled the last. Where none is free, the
/// youngest running request gives up its pages, waits in front of all others, and is fed anew, with what
/// it has answered so far: so the oldest always goes on. The prompt goes through the Prefill functions in
/// the chunks that `Generator` takes, the oldest request's first, one chunk between two steps of
/// decode; without such functions, token by token through Decode, beside the others, as a single last
/// token does. Decode takes the
/// function of fewest rows that holds all sequences; where none does, they take turns. Rows that are
/// left over verify guesses of what the sequences say next (`NgramDrafter`).
///
/// Where the program has Mixed functions, prompts do not take turns with decode: a call has the next
/// token of every sequence that decodes, and chunks of prompts, the oldest request's first, in the other
/// rows. A prompt that nothing runs beside goes through Prefill as before, and so do all calls where more
/// sequences decode than the largest Mixed function has rows, but one.
///
/// Each request is sampled as if it were alone. Its tokens are those of `Generator` where the program's
/// kernels give a row the same bits whatever the number of rows, and within their rounding elsewhere:
/// kernels of few and of many rows may add in another order (`#tenon.order`). With
/// `BatchOptions::isBatchInvariant` they are in every bit those of a scheduler of that kind that has
/// nothing else to do.
class BatchScheduler {
public:
  /// Sets the states to zero. `executor`'s program must have a Decode function; InvalidArgument says
  /// what is missing. `executor` must outlive this object, and runs nothing else meanwhile.
  static absl::StatusOr<std::unique_ptr<BatchScheduler>> create(Executor& executor,
                                                                const BatchOptions& options = {});
  ~BatchScheduler();

  /// Accepts a request; may be called by any thread, a callback too. InvalidArgument where the prompt
  /// does not fit the model, `maxTokens` is negative or the sampling is out of range;
  /// ResourceExhausted where `mostWaiting` requests wait; the status of a call that failed.
  absl::StatusOr<RequestId> submit(Request request);
  /// Ends a request before the next call of the model; nothing where it has ended. May be called by any
  /// thread.
  void cancel(RequestId id);

  /// One call of the model, or none where nothing is to do: then false. A call that fails ends all
  /// requests with its status, which every later call returns. One thread at a time.
  absl::StatusOr<bool> step();

  /// As of the last `step`; for the thread that calls it.
  BatchStatistics statistics() const;

private:
  class Impl;
  explicit BatchScheduler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_BATCHING_BATCHSCHEDULER_H
