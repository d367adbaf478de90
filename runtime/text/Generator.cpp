#include "runtime/text/Generator.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"

#include "runtime/program/Program.h"
#include "runtime/text/internal/ModelFunction.h"
#include "support/Status.h"

namespace tenon::runtime {
namespace {

using internal::ModelFunction;

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

absl::Status checkModel(const Program& program) {
  if (!program.model)
    return absl::InvalidArgumentError(
        "generator: expects the program of a language model, but it describes no model");
  const int64_t context = program.model->context;
  if (context < 1 || context > std::numeric_limits<int32_t>::max())
    return absl::InvalidArgumentError(
        absl::StrFormat("generator: expects a context of 1 to 2147483647, but got %d", context));
  return absl::OkStatus();
}

/// The Decode function of one row.
std::optional<size_t> findDecode(const Program& program) {
  for (size_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].role == Role::Decode && program.functions[i].rows == 1)
      return i;
  return std::nullopt;
}

/// The Prefill functions, those with fewer rows first.
std::vector<size_t> findPrefills(const Program& program) {
  std::vector<size_t> found;
  for (size_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].role == Role::Prefill)
      found.push_back(i);
  std::ranges::sort(found, {}, [&](size_t i) { return program.functions[i].rows; });
  return found;
}

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
  Impl(Executor& executor, ModelFunction decode, std::vector<ModelFunction> prefills)
      : executor(executor), decode(std::move(decode)), prefills(std::move(prefills)) {}

  const ModelInfo& model() const { return *executor.program().model; }

  bool endsAt(int32_t id) const {
    const std::optional<TokenizerSpec>& tokenizer = executor.program().tokenizer;
    return tokenizer && tokenizer->endsGeneration(id);
  }

  /// Checks ids that are to be fed from position 0 on, then empties the states.
  absl::Status begin(std::span<const int32_t> ids) {
    if (ids.empty() || int64_t(ids.size()) > model().context)
      return absl::InvalidArgumentError(
          absl::StrFormat("generator: expects from 1 to %d ids (the context), but got %d",
                          model().context, ids.size()));
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] < 0 || ids[i] >= model().vocabulary)
        return absl::InvalidArgumentError(
            absl::StrFormat("generator: expects ids from 0 to %d, but got %d at position %d",
                            model().vocabulary - 1, ids[i], i));
    return executor.resetStates();
  }

  /// Feeds a prompt from position 0 on; returns the logits behind its last id.
  absl::StatusOr<std::span<const float>> feedPrompt(std::span<const int32_t> prompt) {
    std::span<const float> logits;
    for (size_t at = 0; at < prompt.size();) {
      ModelFunction& function = functionFor(int64_t(prompt.size() - at));
      const size_t count = std::min(size_t(function.rows()), prompt.size() - at);
      TENON_ASSIGN_OR_RETURN(logits, function.run(prompt.subspan(at, count), int64_t(at)));
      at += count;
    }
    return logits;
  }

  /// Greedy decode by the device from `first` at `position` on, for up to `count` steps, where it
  /// can.
  absl::StatusOr<std::optional<DeviceTokens>> streamTokens(int32_t first, int64_t position,
                                                           int64_t count) {
    TENON_ASSIGN_OR_RETURN(
        std::unique_ptr<TokenStream> stream,
        decode.stream(first, position, std::min(count, model().context - position)));
    if (!stream)
      return std::nullopt;
    return DeviceTokens(std::move(stream));
  }

  Executor& executor;
  ModelFunction decode;
  std::vector<ModelFunction> prefills; ///< by rows, ascending

private:
  /// What feeds the next of `count` tokens: the Prefill function of most rows that they fill, or the
  /// next larger one, padded, where that takes less time than the former for all of them.
  ModelFunction& functionFor(int64_t count) {
    if (prefills.empty())
      return decode;
    auto larger = std::ranges::lower_bound(prefills, count, {}, &ModelFunction::rows);
    if (larger == prefills.begin())
      return *larger;
    ModelFunction& filled = *std::prev(larger);
    const int64_t calls = (count + filled.rows() - 1) / filled.rows();
    const bool isWorthPadding =
        larger != prefills.end() && costOf(*larger) <= calls * costOf(filled);
    return isWorthPadding ? *larger : filled;
  }

  /// The time of a call in rows: a GPU reads the weights in about the time in which it multiplies 150
  /// rows by them (H200: 2 bytes at 4.7 TB/s, 2 operations a row at 700 TFLOP/s).
  static int64_t costOf(const ModelFunction& function) {
    constexpr int64_t rowsOfWeights = 150;
    return std::max(function.rows(), rowsOfWeights);
  }
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
  const Program& program = executor.program();
  TENON_RETURN_IF_ERROR(checkModel(program));
  const std::optional<size_t> decodeIndex = findDecode(program);
  if (!decodeIndex)
    return absl::InvalidArgumentError("generator: expects a decode function of one row (--shapes "
                                      "decode:1), but the program has none");
  const int64_t vocabulary = program.model->vocabulary;
  TENON_ASSIGN_OR_RETURN(ModelFunction decode,
                         ModelFunction::create(executor, *decodeIndex, vocabulary));
  std::vector<ModelFunction> prefills;
  for (size_t index : findPrefills(program)) {
    TENON_ASSIGN_OR_RETURN(ModelFunction prefill,
                           ModelFunction::create(executor, index, vocabulary));
    prefills.push_back(std::move(prefill));
  }
  return Generator(std::make_unique<Impl>(executor, std::move(decode), std::move(prefills)));
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
    if (impl->endsAt(id)) {
      result.reason = StopReason::EndOfSequence;
      return result;
    }
    result.ids.push_back(id);
    if (onToken && !onToken(id)) {
      result.reason = StopReason::Callback;
      return result;
    }
    if (int64_t(result.ids.size()) < count) {
      if (position >= impl->model().context) {
        result.reason = StopReason::ContextEnd;
        return result;
      }
      watch.restart();
      if (sampler.isGreedy() && !device) {
        TENON_ASSIGN_OR_RETURN(device, impl->streamTokens(id, position, count - 1));
      }
      if (!device) {
        TENON_ASSIGN_OR_RETURN(logits, impl->decode.run({&id, 1}, position));
      }
    }
  }
}

absl::StatusOr<std::vector<float>> Generator::computeLogits(std::span<const int32_t> ids) {
  TENON_RETURN_IF_ERROR(impl->begin(ids));
  std::vector<float> all;
  all.reserve(ids.size() * size_t(impl->model().vocabulary));
  for (size_t position = 0; position < ids.size(); ++position) {
    TENON_ASSIGN_OR_RETURN(const std::span<const float> logits,
                           impl->decode.run(ids.subspan(position, 1), int64_t(position)));
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

} // namespace tenon::runtime
