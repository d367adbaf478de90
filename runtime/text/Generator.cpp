#include "runtime/text/Generator.h"

#include <algorithm>
#include <chrono>
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

/// Greedy tokens that a device chooses by itself.
class DeviceTokens {
public:
  explicit DeviceTokens(std::unique_ptr<TokenStream> stream) : stream(std::move(stream)) {}

  /// The token behind the last one.
  absl::StatusOr<int32_t> next() {
    TENON_ASSIGN_OR_RETURN(const std::span<const int32_t> ids, stream->next());
    ++collected;
    if (ids[0] < 0)
      return absl::InvalidArgumentError(absl::StrFormat(
          "device: expects numbers as the logits behind token %d of the answer, but found NaN",
          collected));
    return ids[0];
  }

private:
  std::unique_ptr<TokenStream> stream;
  int64_t collected = 0;
};

} // namespace

class Generator::Impl {
public:
  explicit Impl(LanguageModel model) : model(std::move(model)) {}

  /// Checks ids that are to be fed from position 0 on, then empties the states.
  absl::Status begin(std::span<const int32_t> ids) {
    TENON_RETURN_IF_ERROR(model.checkIds(ids));
    return model.resetStates();
  }

  /// Feeds a prompt from position 0 on; returns the logits behind its last id.
  absl::StatusOr<std::span<const float>> feedPrompt(std::span<const int32_t> prompt) {
    std::span<const float> logits;
    std::vector<TokenRow> rows;
    for (size_t at = 0; at < prompt.size(); at += rows.size()) {
      const size_t left = prompt.size() - at;
      ModelFunction& function = model.hasPrefill() ? model.prefill(int64_t(left)) : model.decode(1);
      rows.resize(std::min(size_t(function.rows()), left));
      for (size_t row = 0; row < rows.size(); ++row)
        rows[row] = {.id = prompt[at + row], .position = int32_t(at + row)};
      TENON_RETURN_IF_ERROR(function.run(rows));
      logits = function.logits();
    }
    return logits;
  }

  /// Feeds one token; returns the logits behind it.
  absl::StatusOr<std::span<const float>> feed(int32_t id, int64_t position) {
    ModelFunction& decode = model.decode(1);
    const TokenRow row = {.id = id, .position = int32_t(position)};
    TENON_RETURN_IF_ERROR(decode.run({&row, 1}));
    return decode.logits();
  }

  /// Greedy decode by the device from `first` at `position` on, for up to `count` steps, where it
  /// can.
  absl::StatusOr<std::optional<DeviceTokens>> streamTokens(int32_t first, int64_t position,
                                                           int64_t count) {
    TENON_ASSIGN_OR_RETURN(
        std::unique_ptr<TokenStream> stream,
        model.decode(1).stream({.id = first, .position = int32_t(position)},
                               std::min(count, model.info().context - position)));
    if (!stream)
      return std::nullopt;
    return DeviceTokens(std::move(stream));
  }

  LanguageModel model;
};

std::string_view stopReasonName(StopReason reason) {
  switch (reason) {
  case StopReason::TokenLimit:
    return "token limit";
  case StopReason::EndOfSequence:
    return "end of sequence";
  case StopReason::ContextEnd:
    return "context end";
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

absl::StatusOr<Generation> Generator::generate(std::span<const int32_t> prompt, int64_t count,
                                               const Sampler& sampler,
                                               const TokenCallback& onToken) {
  if (count < 0)
    return absl::InvalidArgumentError(
        absl::StrFormat("generator: expects a count of at least 0, but got %d", count));
  TENON_RETURN_IF_ERROR(impl->begin(prompt));
  Generation result;
  Stopwatch watch;
  TENON_ASSIGN_OR_RETURN(std::span<const float> logits, impl->feedPrompt(prompt));
  std::optional<DeviceTokens> device;
  int32_t id = 0;
  // `position` is that of the token to choose; it is fed only if the context has room for it.
  for (int64_t position = int64_t(prompt.size());; ++position) {
    if (int64_t(result.ids.size()) == count) {
      result.reason = StopReason::TokenLimit;
      return result;
    }
    if (device) {
      TENON_ASSIGN_OR_RETURN(id, device->next());
    } else {
      TENON_ASSIGN_OR_RETURN(id, sampler.sample(logits, uint64_t(position)));
    }
    if (result.ids.empty())
      result.promptNs = watch.elapsedNs();
    else
      result.tokenNs.push_back(watch.elapsedNs());
    if (impl->model.endsAt(id)) {
      result.reason = StopReason::EndOfSequence;
      return result;
    }
    result.ids.push_back(id);
    if (onToken && !onToken(id)) {
      result.reason = StopReason::Callback;
      return result;
    }
    if (int64_t(result.ids.size()) < count) {
      if (position >= impl->model.info().context) {
        result.reason = StopReason::ContextEnd;
        return result;
      }
      watch.restart();
      if (sampler.isGreedy() && !device) {
        TENON_ASSIGN_OR_RETURN(device, impl->streamTokens(id, position, count - 1));
      }
      if (!device) {
        TENON_ASSIGN_OR_RETURN(logits, impl->feed(id, position));
      }
    }
  }
}

absl::StatusOr<std::vector<float>> Generator::computeLogits(std::span<const int32_t> ids) {
  TENON_RETURN_IF_ERROR(impl->begin(ids));
  std::vector<float> all;
  all.reserve(ids.size() * size_t(impl->model.info().vocabulary));
  for (size_t position = 0; position < ids.size(); ++position) {
    TENON_ASSIGN_OR_RETURN(const std::span<const float> logits,
                           impl->feed(ids[position], int64_t(position)));
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

} // namespace tenon::runtime
