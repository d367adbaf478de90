#include "runtime/text/Generator.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/LanguageModel.h"
#include "support/Status.h"

namespace tenon::runtime {
namespace {

class Stopwatch {
public:
  /// Nanoseconds since the construction or the last `restart`.
  int64_t elapsedNs() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  }
  void restart() { start = Clock::now(); }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// Where the tokens after the first new one come from.
class TokenSource {
public:
  virtual ~TokenSource() = default;
  /// The token after `text`, of which the model was not fed the last one yet.
  virtual absl::StatusOr<int32_t> next(std::span<const int32_t> text) = 0;
  /// Whether the model may have been fed tokens that nobody asked for.
  virtual bool startsAhead() const { return false; }
};

/// Tokens that the host chooses from the logits of one call each.
class HostTokens : public TokenSource {
public:
  HostTokens(LanguageModel& model, const Sampler& sampler) : model(model), sampler(sampler) {}

  absl::StatusOr<int32_t> next(std::span<const int32_t> text) override {
    ModelFunction& decode = model.decode(1);
    const TokenRow row = {.id = text.back(), .position = int32_t(text.size() - 1)};
    TENON_RETURN_IF_ERROR(decode.run({&row, 1}));
    return sampler.sample(decode.logits(), text);
  }

private:
  LanguageModel& model;
  const Sampler& sampler;
};

/// Greedy tokens that a device chooses by itself.
class DeviceTokens : public TokenSource {
public:
  explicit DeviceTokens(std::unique_ptr<TokenStream> stream) : stream(std::move(stream)) {}

  absl::StatusOr<int32_t> next(std::span<const int32_t>) override {
    TENON_ASSIGN_OR_RETURN(const std::span<const int32_t> ids, stream->next());
    ++collected;
    if (ids[0] < 0)
      return absl::InvalidArgumentError(absl::StrFormat(
          "device: expects numbers as the logits after token %d of the answer, but found NaN",
          collected));
    return ids[0];
  }
  bool startsAhead() const override { return true; }

private:
  std::unique_ptr<TokenStream> stream;
  int64_t collected = 0;
};

/// Adds the tokens that a device found right, up to a row that is not, to `ready`: one or more behind a
/// text of `length` tokens.
absl::Status takeAccepted(std::span<const int32_t> ids, size_t length, std::deque<int32_t>& ready) {
  constexpr int32_t none = -1; // behind logits that are NaN
  for (int32_t id : ids) {
    if (id == none)
      return absl::InvalidArgumentError(
          absl::StrFormat("device: expects numbers as the logits behind token %d, but found NaN",
                          length + ready.size()));
    if (id < 0)
      break;
    ready.push_back(id);
  }
  return absl::OkStatus();
}

/// Greedy tokens of steps that a device makes of its own choices and guesses.
class DeviceGuesses : public TokenSource {
public:
  DeviceGuesses(std::unique_ptr<TokenStream> stream, Generation& result)
      : stream(std::move(stream)), result(result) {}

  absl::StatusOr<int32_t> next(std::span<const int32_t> text) override {
    if (ready.empty()) {
      TENON_ASSIGN_OR_RETURN(const std::span<const int32_t> ids, stream->next());
      TENON_RETURN_IF_ERROR(takeAccepted(ids, text.size(), ready));
      // There is no guess behind the prompt.
      result.draftedTokens += isFirst ? 0 : int64_t(ids.size()) - 1;
      result.acceptedTokens += int64_t(ready.size()) - 1;
      isFirst = false;
    }
    const int32_t id = ready.front();
    ready.pop_front();
    return id;
  }
  bool startsAhead() const override { return true; }

private:
  std::unique_ptr<TokenStream> stream;
  Generation& result;
  std::deque<int32_t> ready;
  bool isFirst = true;
};

/// Tokens of which a drafter guesses some: the last one and its guesses are rows of one call, and as
/// many guesses as are what is chosen anyway come for free.
class DraftedTokens : public TokenSource {
public:
  DraftedTokens(LanguageModel& model, const Sampler& sampler, Drafter& drafter, Generation& result)
      : model(model), sampler(sampler), drafter(drafter), result(result) {}

  absl::StatusOr<int32_t> next(std::span<const int32_t> text) override {
    if (ready.empty())
      TENON_RETURN_IF_ERROR(verify(text));
    const int32_t id = ready.front();
    ready.pop_front();
    return id;
  }

private:
  absl::Status verify(std::span<const int32_t> text) {
    const int64_t position = int64_t(text.size()) - 1;
    std::vector<TokenRow> rows = {{.id = text.back(), .position = int32_t(position)}};
    const int64_t mostRows = std::min(model.mostDecodeRows(), model.info().context - position);
    TENON_ASSIGN_OR_RETURN(const std::span<const int32_t> guesses, drafter.draft(mostRows - 1));
    for (int32_t guess : guesses)
      rows.push_back({.id = guess, .position = int32_t(position + int64_t(rows.size()))});
    std::vector<int32_t> guessed(text.begin(), text.end());
    guessed.insert(guessed.end(), guesses.begin(), guesses.end());
    ModelFunction& decode = model.decode(int64_t(rows.size()));
    const bool wantsLogits = !decode.hasNextIds() || !sampler.isGreedy();
    TENON_RETURN_IF_ERROR(decode.run(rows, wantsLogits));
    result.draftedTokens += int64_t(rows.size()) - 1;
    if (!wantsLogits && decode.hasAcceptedIds()) {
      TENON_RETURN_IF_ERROR(takeAccepted(decode.acceptedIds(), text.size(), ready));
      suggest(decode);
      return absl::OkStatus();
    }
    for (size_t row = 0; row < rows.size(); ++row) {
      const auto before = std::span(guessed).first(text.size() + row);
      TENON_ASSIGN_OR_RETURN(const int32_t id, choose(decode, row, before, wantsLogits));
      ready.push_back(id);
      if (row + 1 == rows.size() || rows[row + 1].id != id)
        break;
    }
    suggest(decode);
    return absl::OkStatus();
  }

  /// Counts the guesses of the last call that were right, and hands the drafter what the model itself guesses
  /// behind them.
  void suggest(const ModelFunction& decode) {
    result.acceptedTokens += int64_t(ready.size()) - 1;
    if (decode.hasDraftIds())
      drafter.suggest(decode.draftIds()[ready.size() - 1]);
  }

  /// The token after `row` of the last call: greedy ones the device has chosen.
  absl::StatusOr<int32_t> choose(const ModelFunction& decode, size_t row,
                                 std::span<const int32_t> before, bool hasLogits) const {
    if (hasLogits)
      return sampler.sample(decode.logits(row), before);
    const int32_t id = decode.nextIds()[row];
    if (id < 0)
      return absl::InvalidArgumentError(absl::StrFormat(
          "device: expects numbers as the logits behind token %d, but found NaN", before.size()));
    return id;
  }

  LanguageModel& model;
  const Sampler& sampler;
  Drafter& drafter;
  Generation& result;
  std::deque<int32_t> ready;
};

} // namespace

class Generator::Impl {
public:
  explicit Impl(LanguageModel model) : model(std::move(model)) {}

  /// Checks ids that are to be fed from position 0 on, then empties the states.
  absl::Status begin(std::span<const int32_t> ids) {
    held.clear();
    TENON_RETURN_IF_ERROR(model.checkIds(ids));
    return model.resetStates();
  }

  /// The same, but for the first ids that the states may hold already: their number. The last id's
  /// logits are wanted, so that it is fed in any case. The last tokens that a ring holds have taken the
  /// places of others, so that it holds all of them or none.
  absl::StatusOr<size_t> beginWithHeld(std::span<const int32_t> ids) {
    const auto common = size_t(std::ranges::mismatch(held, ids).in1 - held.begin());
    const bool mayKeep = keepsStates && (!model.info().isStream() || common == held.size());
    if (!mayKeep || common == 0 || ids.size() < 2) {
      TENON_RETURN_IF_ERROR(begin(ids));
      return 0;
    }
    held.clear();
    TENON_RETURN_IF_ERROR(model.checkIds(ids));
    return std::min(common, ids.size() - 1);
  }

  /// What continues `first` at `position` by up to `count` tokens.
  absl::StatusOr<std::unique_ptr<TokenSource>> makeSource(int32_t first, int64_t position,
                                                          int64_t count, const Sampler& sampler,
                                                          Drafter* drafter, Generation& result) {
    const TokenRow row = {.id = first, .position = int32_t(position)};
    const int64_t steps = std::min(count, model.info().context - position);
    constexpr int64_t rowsOfGuess = 2;
    if (drafter && drafter->usesHead() && sampler.isGreedy() &&
        model.mostDecodeRows() >= rowsOfGuess && model.decode(rowsOfGuess).hasStepIds()) {
      TENON_ASSIGN_OR_RETURN(std::unique_ptr<TokenStream> stream,
                             model.decode(rowsOfGuess).stream({&row, 1}, steps));
      if (stream)
        return std::make_unique<DeviceGuesses>(std::move(stream), result);
    }
    if (drafter)
      return std::make_unique<DraftedTokens>(model, sampler, *drafter, result);
    if (sampler.isGreedy()) {
      TENON_ASSIGN_OR_RETURN(std::unique_ptr<TokenStream> stream,
                             model.decode(1).stream({&row, 1}, steps));
      if (stream)
        return std::make_unique<DeviceTokens>(std::move(stream));
    }
    return std::make_unique<HostTokens>(model, sampler);
  }

  LanguageModel model;
  bool keepsStates = false;
  std::vector<int32_t> held; ///< tokens that the states hold, from position 0 on
};

std::string_view stopReasonName(StopReason reason) {
  switch (reason) {
  case StopReason::TokenLimit:
    return "token limit";
  case StopReason::EndOfSequence:
    return "end of sequence";
  case StopReason::ContextEnd:
    return "context end";
  case StopReason::StopText:
    return "stop text";
  case StopReason::Callback:
    break;
  }
  return "callback";
}

Generator::Generator(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Generator::~Generator() = default;
Generator::Generator(Generator&& other) = default;
Generator& Generator::operator=(Generator&& other) = default;

absl::StatusOr<Generator> Generator::create(Executor& executor) {
  TENON_ASSIGN_OR_RETURN(LanguageModel model, LanguageModel::create(executor, "generator"));
  if (model.mostDecodeRows() == 0 || model.decode(1).rows() != 1)
    return absl::InvalidArgumentError("generator: expects a decode function of one row (--shapes "
                                      "decode:1), but the program has none");
  return Generator(std::make_unique<Impl>(std::move(model)));
}

void Generator::keepStates() { impl->keepsStates = true; }

absl::StatusOr<Generation> Generator::generate(std::span<const int32_t> prompt, int64_t count,
                                               const Sampler& sampler, const TokenCallback& onToken,
                                               Drafter* drafter) {
  if (count < 0)
    return absl::InvalidArgumentError(
        absl::StrFormat("generator: expects a count of at least 0, but got %d", count));
  TENON_ASSIGN_OR_RETURN(const size_t kept, impl->beginWithHeld(prompt));
  if (drafter)
    drafter->begin(prompt);
  Generation result;
  Stopwatch watch;
  TENON_ASSIGN_OR_RETURN(std::span<const float> logits,
                         impl->model.feed(prompt.subspan(kept), int64_t(kept)));
  std::unique_ptr<TokenSource> source;
  std::vector<int32_t> text(prompt.begin(), prompt.end());
  const auto finish = [&](StopReason reason) {
    text.pop_back(); // may not be fed
    // What was fed beyond the end has taken places in a ring that the end still looks at.
    if (!impl->model.info().isStream() || !source || !source->startsAhead())
      impl->held = std::move(text);
    result.reason = reason;
    return std::move(result);
  };
  int32_t id = 0;
  // `position` is that of the token to choose; it is fed only if the context has room for it.
  for (int64_t position = int64_t(prompt.size());; ++position) {
    if (int64_t(result.ids.size()) == count)
      return finish(StopReason::TokenLimit);
    if (source) {
      TENON_ASSIGN_OR_RETURN(id, source->next(text));
      result.tokenNs.push_back(watch.elapsedNs());
    } else {
      TENON_ASSIGN_OR_RETURN(id, sampler.sample(logits, text));
      result.promptNs = watch.elapsedNs();
    }
    if (impl->model.endsAt(id))
      return finish(StopReason::EndOfSequence);
    result.ids.push_back(id);
    text.push_back(id);
    if (drafter)
      drafter->push(id);
    if (onToken && !onToken(id))
      return finish(StopReason::Callback);
    if (int64_t(result.ids.size()) < count && position >= impl->model.info().context)
      return finish(StopReason::ContextEnd);
    watch.restart();
    if (!source && count > 1) {
      TENON_ASSIGN_OR_RETURN(source,
                             impl->makeSource(id, position, count - 1, sampler, drafter, result));
    }
  }
}

absl::StatusOr<std::vector<float>> Generator::computeLogits(std::span<const int32_t> ids) {
  TENON_RETURN_IF_ERROR(impl->begin(ids));
  std::vector<float> all;
  all.reserve(ids.size() * size_t(impl->model.info().vocabulary));
  ModelFunction& decode = impl->model.decode(1);
  for (size_t position = 0; position < ids.size(); ++position) {
    const TokenRow row = {.id = ids[position], .position = int32_t(position)};
    TENON_RETURN_IF_ERROR(decode.run({&row, 1}));
    const std::span<const float> logits = decode.logits();
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

} // namespace tenon::runtime
