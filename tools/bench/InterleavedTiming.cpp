#include "tools/bench/InterleavedTiming.h"

#include <cstring>

#include "runtime/program/RandomValues.h"
#include "support/Status.h"

namespace tenon::tools {

namespace {

/// A function with its arguments in host memory.
class TimedCall {
public:
  TimedCall(runtime::Executor& executor, int32_t position) : executor(executor) {
    const runtime::Function& function = executor.program().functions.front();
    for (const runtime::Port& port : function.inputs) {
      inputs.emplace_back(port.bytes);
      fill(port, position, inputs.back());
    }
    for (const runtime::Port& port : function.outputs)
      outputs.emplace_back(port.bytes);
  }

  /// Brings the inputs to the device, which keeps them.
  absl::Status run() {
    std::vector<std::span<const std::byte>> arguments(inputs.begin(), inputs.end());
    std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
    return executor.run(0, arguments, results);
  }
  absl::Status time() {
    constexpr int64_t repetitions = 2; // the first finds an idle device
    TENON_RETURN_IF_ERROR(executor.repeatSteps(0, repetitions));
    samples.push_back(executor.lastStepsNs());
    return absl::OkStatus();
  }
  Distribution summary() const { return summarize(samples); }

private:
  static void fill(const runtime::Port& port, int32_t position, std::vector<std::byte>& bytes) {
    if (runtime::randomUnitBytes(port.encoding) > 0)
      return runtime::fillRandomValues({port.bytes, 1, 0, 1}, port.encoding, bytes);
    bool isPosition = port.role == runtime::PortRole::Positions;
    for (size_t i = 0; i + sizeof(int32_t) <= bytes.size(); i += sizeof(int32_t)) {
      int32_t value = isPosition ? position : static_cast<int32_t>(i / sizeof(int32_t));
      std::memcpy(&bytes[i], &value, sizeof(value));
    }
  }

  runtime::Executor& executor;
  std::vector<std::vector<std::byte>> inputs, outputs;
  std::vector<uint64_t> samples;
};

} // namespace

absl::StatusOr<std::vector<Distribution>>
timeInTurn(const std::vector<runtime::Executor*>& executors, int64_t calls, int32_t position) {
  std::vector<TimedCall> timed;
  timed.reserve(executors.size());
  for (runtime::Executor* executor : executors)
    timed.emplace_back(*executor, position);
  for (TimedCall& one : timed)
    TENON_RETURN_IF_ERROR(one.run());
  for (int64_t call = 0; call < calls; ++call)
    for (TimedCall& one : timed)
      TENON_RETURN_IF_ERROR(one.time());
  std::vector<Distribution> all;
  for (const TimedCall& one : timed)
    all.push_back(one.summary());
  return all;
}

} // namespace tenon::tools
