#include "tools/common/BenchModel.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::tools {

using runtime::Function;
using runtime::Port;
using runtime::Role;

ModelBench::ModelBench(runtime::Executor& executor, size_t index, const BenchOptions& options)
    : executor(&executor), index(index), options(options) {
  for (const Port& port : function().inputs)
    inputs.emplace_back(port.bytes / sizeof(int32_t));
  for (const Port& port : function().outputs)
    outputs.emplace_back(port.bytes);
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
                        role == Role::Decode ? "decode" : "prefill", rows));
  int64_t last = role == Role::Decode ? options.position : rows - 1;
  if (options.position < 0 || last >= program.model->context)
    return absl::InvalidArgumentError(
        absl::StrFormat("bench: expects positions from 0 up to %d, the last that the context of "
                        "the program holds, but got %d",
                        program.model->context - 1, std::max(last, options.position)));
  return ModelBench(executor, found - program.functions.begin(), options);
}

void ModelBench::setPosition(int64_t position) {
  bool isDecode = function().role == Role::Decode;
  int64_t vocabulary = executor->program().model->vocabulary;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = function().inputs[i].name;
    for (size_t row = 0; row < inputs[i].size(); ++row) {
      auto at = static_cast<int64_t>(row);
      inputs[i][row] =
          static_cast<int32_t>(name == "ids" ? (position * 7919 + at * 104729 + 17) % vocabulary
                               : name == "positions"   ? (isDecode ? position : position + at)
                               : name == "output_rows" ? function().rows - 1
                                                       : at);
    }
  }
}

int64_t ModelBench::measuredPosition() const {
  return function().role == Role::Decode ? options.position : 0;
}

static std::vector<std::span<const std::byte>>
viewInputs(const std::vector<std::vector<int32_t>>& inputs) {
  std::vector<std::span<const std::byte>> views;
  for (const std::vector<int32_t>& input : inputs)
    views.push_back(std::as_bytes(std::span(input)));
  return views;
}

absl::Status ModelBench::runAt(int64_t position) {
  setPosition(position);
  std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
  return executor->run(index, viewInputs(inputs), results);
}

absl::Status ModelBench::observe(runtime::StepObserver& observer) {
  setPosition(measuredPosition());
  std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
  return executor->runObserved(index, viewInputs(inputs), results, observer);
}

absl::Status ModelBench::prepare() {
  TENON_RETURN_IF_ERROR(executor->resetStates());
  if (function().role == Role::Decode)
    for (int64_t position = 0; position < options.position; ++position)
      TENON_RETURN_IF_ERROR(runAt(position));
  for (int64_t i = 0; i < options.warmupCalls; ++i)
    TENON_RETURN_IF_ERROR(runAt(measuredPosition()));
  return absl::OkStatus();
}

absl::Status ModelBench::call() {
  auto start = std::chrono::steady_clock::now();
  TENON_RETURN_IF_ERROR(runAt(measuredPosition()));
  times.callNs.push_back(
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  times.stepsNs.push_back(executor->lastStepsNs());
  return absl::OkStatus();
}

absl::Status ModelBench::profile() {
  executor->setProfiling(true);
  for (int64_t i = 0; i < options.profiledCalls; ++i)
    TENON_RETURN_IF_ERROR(runAt(measuredPosition()));
  times.profileNs.clear();
  for (const runtime::StepProfile& step : executor->profile(index))
    times.profileNs.push_back(step.calls == 0 ? 0 : step.totalNs / step.calls);
  executor->setProfiling(false);
  return absl::OkStatus();
}

} // namespace tenon::tools
