#include "tools/bench/BenchModel.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_format.h"
#include "runtime/program/ModelPorts.h"
#include "support/Status.h"
#include "tools/driver/UsageError.h"

namespace tenon::tools {

using runtime::Function;
using runtime::Port;
using runtime::PortRole;
using runtime::Role;

ModelBench::ModelBench(runtime::Executor& executor, size_t index, const BenchOptions& options)
    : executor(&executor), index(index), options(options) {
  for (const Port& port : function().inputs)
    inputs.emplace_back(port.bytes);
  for (const Port& port : function().outputs)
    outputs.emplace_back(port.bytes);
}

/// What the rows of a function are where nothing else is said.
static std::vector<TokenChunk> defaultChunks(Role role, int64_t rows, int64_t position,
                                             const runtime::ModelInfo& model) {
  if (role == Role::Prefill)
    return {{0, rows}};
  // Of Mixed all rows but one of each other sequence.
  int64_t first = role == Role::Decode ? 1 : std::max<int64_t>(rows - (model.sequences - 1), 1);
  std::vector<TokenChunk> chunks(rows - first + 1, {position, 1});
  chunks.front().rows = first;
  return chunks;
}

/// A usage error where chunks are not those of `rows` rows of the model's sequences.
static absl::Status checkChunks(std::span<const TokenChunk> chunks, int64_t rows,
                                const runtime::ModelInfo& model) {
  int64_t all = 0;
  for (const TokenChunk& chunk : chunks)
    all += chunk.rows;
  if (all > rows || static_cast<int64_t>(chunks.size()) > model.sequences)
    return usageError(absl::StrFormat(
        "--position: expects at most %d rows of %d sequences, but got %d rows of %d", rows,
        model.sequences, all, chunks.size()));
  return absl::OkStatus();
}

absl::StatusOr<ModelBench> ModelBench::create(runtime::Executor& executor, Role role, int64_t rows,
                                              const BenchOptions& options) {
  const runtime::Program& program = executor.program();
  auto matches = [&](const Function& function) {
    return function.role == role && function.rows == rows;
  };
  auto found = std::ranges::find_if(program.functions, matches);
  if (found == program.functions.end() || !program.model)
    return absl::NotFoundError(
        absl::StrFormat("bench: expects a language model with a %s function of %d rows, but there "
                        "is none",
                        runtime::roleName(role), rows));
  ModelBench bench(executor, found - program.functions.begin(), options);
  std::vector<TokenChunk>& chunks = bench.options.chunks;
  TENON_RETURN_IF_ERROR(checkChunks(chunks, rows, *program.model));
  if (chunks.empty())
    chunks = defaultChunks(role, rows, options.position, *program.model);
  int64_t fed = options.generatedTokens > 0 ? options.generatedTokens + warmupTokens : 0;
  int64_t first = 0, last = 0;
  for (const TokenChunk& chunk : chunks) {
    first = std::min(first, chunk.position);
    last = std::max(last, chunk.position + chunk.rows - 1 + fed);
  }
  if (first < 0 || last >= program.model->context)
    return usageError(absl::StrFormat(
        "--position: expects positions from 0 up to %d, the last that the context of "
        "the program holds, but got %d",
        program.model->context - 1, first < 0 ? first : last));
  return bench;
}

ModelBench ModelBench::ofGraph(runtime::Executor& executor, size_t index,
                               std::vector<std::vector<std::byte>> inputs,
                               const BenchOptions& options) {
  ModelBench bench(executor, index, options);
  bench.inputs = std::move(inputs);
  return bench;
}

std::span<int32_t> ModelBench::integers(PortRole role) {
  return integers(*runtime::findPort(function().inputs, role));
}

/// An allocation of bytes is aligned for integers.
std::span<int32_t> ModelBench::integers(size_t input) {
  return {reinterpret_cast<int32_t*>(inputs[input].data()), inputs[input].size() / sizeof(int32_t)};
}

void ModelBench::setRows(std::span<const TokenChunk> chunks) {
  const runtime::ModelInfo& model = *executor->program().model;
  std::vector<int32_t> sequences, positions, lastRows; // of the last the row of each chunk
  for (size_t sequence = 0; sequence < chunks.size(); ++sequence) {
    for (int64_t row = 0; row < chunks[sequence].rows; ++row) {
      sequences.push_back(static_cast<int32_t>(sequence));
      positions.push_back(static_cast<int32_t>(chunks[sequence].position + row));
    }
    if (chunks[sequence].rows > 0)
      lastRows.push_back(static_cast<int32_t>(positions.size()) - 1);
  }
  auto valueOr = [](const std::vector<int32_t>& values, size_t at, int32_t otherwise) {
    return at < values.size() ? values[at] : otherwise;
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    PortRole role = function().inputs[i].role;
    for (size_t at = 0; at < integers(i).size(); ++at) {
      int64_t token = std::max(valueOr(positions, at, 0), 0) * int64_t(7919) + int64_t(at) * 104729;
      integers(i)[at] = role == PortRole::Ids
                            ? static_cast<int32_t>((token + 17) % model.vocabulary)
                        : role == PortRole::Positions  ? valueOr(positions, at, -1)
                        : role == PortRole::OutputRows ? valueOr(lastRows, at, 0)
                        : role == PortRole::BlockTable ? static_cast<int32_t>(at) % model.pages
                                                       : valueOr(sequences, at, 0);
    }
  }
}

void ModelBench::setMeasuredRows() {
  if (isModel())
    setRows(options.chunks);
}

static std::vector<std::span<const std::byte>>
viewInputs(const std::vector<std::vector<std::byte>>& inputs) {
  return {inputs.begin(), inputs.end()};
}

std::vector<std::span<std::byte>> ModelBench::places(Results results) {
  if (results == Results::Unwanted)
    return std::vector<std::span<std::byte>>(outputs.size());
  return {outputs.begin(), outputs.end()};
}

absl::Status ModelBench::runInputs(Results results) {
  return executor->run(index, viewInputs(inputs), places(results));
}

absl::Status ModelBench::runMeasured(Results results) {
  setMeasuredRows();
  return runInputs(results);
}

absl::Status ModelBench::repeatSteps(size_t function) {
  absl::Status status = executor->repeatSteps(function, /*times=*/1);
  return absl::IsUnimplemented(status)
             ? executor->run(function, viewInputs(inputs), places(Results::Unwanted))
             : status;
}

absl::Status ModelBench::runAndRepeat(int64_t calls) {
  for (int64_t i = 0; i < calls; ++i) {
    const bool isLast = i + 1 == calls;
    TENON_RETURN_IF_ERROR(i == 0 || isLast
                              ? runMeasured(isLast ? Results::Wanted : Results::Unwanted)
                              : repeatSteps(index));
  }
  return absl::OkStatus();
}

absl::Status ModelBench::observe(runtime::StepObserver& observer) {
  setMeasuredRows();
  return executor->runObserved(index, viewInputs(inputs), places(Results::Wanted), observer);
}

/// In calls of one token of each sequence.
absl::Status ModelBench::feedDecode() {
  int64_t last = 0;
  for (const TokenChunk& chunk : options.chunks)
    last = std::max(last, chunk.position);
  for (int64_t position = 0; position < last; ++position) {
    std::vector<TokenChunk> next;
    for (const TokenChunk& chunk : options.chunks)
      next.push_back({position, position < chunk.position ? 1 : 0});
    setRows(next);
    TENON_RETURN_IF_ERROR(runInputs());
  }
  return absl::OkStatus();
}

/// In calls of one sequence, whose tokens fill the rows.
absl::Status ModelBench::feedMixed() {
  int64_t rows = function().rows;
  for (size_t sequence = 0; sequence < options.chunks.size(); ++sequence)
    for (int64_t fed = 0; fed < options.chunks[sequence].position; fed += rows) {
      std::vector<TokenChunk> next(sequence + 1, {0, 0});
      next.back() = {fed, std::min(rows, options.chunks[sequence].position - fed)};
      setRows(next);
      TENON_RETURN_IF_ERROR(runInputs());
    }
  return absl::OkStatus();
}

absl::Status ModelBench::prepare() {
  TENON_RETURN_IF_ERROR(executor->resetStates());
  if (function().role == Role::Decode)
    TENON_RETURN_IF_ERROR(feedDecode());
  if (function().role == Role::Mixed)
    TENON_RETURN_IF_ERROR(feedMixed());
  return runAndRepeat(options.warmupCalls);
}

absl::Status ModelBench::call() {
  auto start = std::chrono::steady_clock::now();
  TENON_RETURN_IF_ERROR(runMeasured());
  times.callNs.push_back(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  times.stepsNs.push_back(executor->lastStepsNs());
  return absl::OkStatus();
}

using Clock = std::chrono::steady_clock;

static uint64_t nsBetween(Clock::time_point from, Clock::time_point to) {
  return std::chrono::nanoseconds(to - from).count();
}

absl::Status ModelBench::generate() {
  int64_t count = options.generatedTokens + warmupTokens;
  setMeasuredRows();
  const bool isPaged = executor->program().model->isPaged();
  TENON_ASSIGN_OR_RETURN(
      auto stream,
      executor->streamTokens(index,
                             {integers(PortRole::Ids), integers(PortRole::Sequences),
                              integers(PortRole::Positions),
                              isPaged ? integers(PortRole::BlockTable) : std::span<int32_t>()},
                             count));
  TENON_ASSIGN_OR_RETURN(std::vector<int32_t> ids,
                         stream ? generateOnDevice(*stream, count) : generateOnHost(count));
  if (times.tokenIds.empty())
    times.tokenIds = ids;
  auto [now, before] = std::ranges::mismatch(ids, times.tokenIds);
  if (now == ids.end())
    return absl::OkStatus();
  return absl::InternalError(absl::StrFormat(
      "generation: expects the tokens of the generation before, but token %d is %d, not %d",
      (now - ids.begin()) / static_cast<int64_t>(integers(PortRole::Ids).size()), *now, *before));
}

absl::StatusOr<std::vector<int32_t>> ModelBench::generateOnDevice(runtime::TokenStream& stream,
                                                                  int64_t count) {
  std::vector<int32_t> ids;
  ids.reserve(count * integers(PortRole::Ids).size());
  Clock::time_point before = Clock::now();
  for (int64_t token = 0; token < count; ++token) {
    TENON_ASSIGN_OR_RETURN(std::span<const int32_t> chosen, stream.next());
    Clock::time_point now = Clock::now();
    if (token >= warmupTokens)
      times.tokenNs.push_back(nsBetween(before, now));
    before = now;
    ids.insert(ids.end(), chosen.begin(), chosen.end());
  }
  return ids;
}

void ModelBench::feedBack() {
  size_t rows = integers(PortRole::Ids).size();
  const std::vector<std::byte>& bytes =
      outputs[*runtime::findPort(function().outputs, PortRole::Logits)];
  size_t vocabulary = bytes.size() / rows / sizeof(float);
  const auto* logits = reinterpret_cast<const float*>(bytes.data());
  for (size_t row = 0; row < rows; ++row) {
    const float* first = logits + row * vocabulary;
    integers(PortRole::Ids)[row] =
        static_cast<int32_t>(std::max_element(first, first + vocabulary) - first);
    ++integers(PortRole::Positions)[row];
  }
}

absl::StatusOr<std::vector<int32_t>> ModelBench::generateOnHost(int64_t count) {
  std::vector<int32_t> ids;
  std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
  for (int64_t token = 0; token < count; ++token) {
    Clock::time_point before = Clock::now();
    TENON_RETURN_IF_ERROR(executor->run(index, viewInputs(inputs), results));
    feedBack();
    if (token >= warmupTokens)
      times.tokenNs.push_back(nsBetween(before, Clock::now()));
    ids.insert(ids.end(), integers(PortRole::Ids).begin(), integers(PortRole::Ids).end());
  }
  return ids;
}

absl::Status ModelBench::callGroups(std::span<const GroupFunction> groups, int64_t calls) {
  setMeasuredRows();
  times.groupNs.resize(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    size_t function = groups[i].function;
    TENON_RETURN_IF_ERROR(executor->run(function, viewInputs(inputs), places(Results::Unwanted)));
    for (int64_t call = 0; call < calls; ++call) {
      TENON_RETURN_IF_ERROR(repeatSteps(function));
      times.groupNs[i].push_back(executor->lastStepsNs());
    }
  }
  return absl::OkStatus();
}

absl::Status ModelBench::countTraffic(std::span<const GroupFunction> groups) {
  TENON_RETURN_IF_ERROR(runMeasured(Results::Unwanted));
  TENON_ASSIGN_OR_RETURN(runtime::MemoryTraffic traffic, executor->countTraffic(index));
  std::vector<runtime::MemoryTraffic> ofGroups;
  for (const GroupFunction& group : groups) {
    TENON_RETURN_IF_ERROR(
        executor->run(group.function, viewInputs(inputs), places(Results::Unwanted)));
    TENON_ASSIGN_OR_RETURN(ofGroups.emplace_back(), executor->countTraffic(group.function));
  }
  times.traffic = traffic;
  times.groupTraffic = std::move(ofGroups);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<runtime::StepTimeline>> ModelBench::timelines() {
  std::vector<runtime::StepTimeline> found;
  for (int64_t i = 0; i < options.profiledCalls; ++i) {
    TENON_RETURN_IF_ERROR(call());
    TENON_ASSIGN_OR_RETURN(auto stamps, executor->readStamps(index));
    TENON_ASSIGN_OR_RETURN(runtime::StepTimeline timeline, runtime::readTimeline(stamps));
    found.push_back(std::move(timeline));
  }
  return found;
}

absl::Status ModelBench::profile() {
  executor->setProfiling(true);
  TENON_RETURN_IF_ERROR(runAndRepeat(options.profiledCalls));
  times.profileNs.clear();
  for (const runtime::StepProfile& step : executor->profile(index))
    times.profileNs.push_back(step.calls == 0 ? 0 : step.totalNs / step.calls);
  executor->setProfiling(false);
  return absl::OkStatus();
}

} // namespace tenon::tools
