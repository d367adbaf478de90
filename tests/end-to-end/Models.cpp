#include "tests/end-to-end/Models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/program/Program.h"
#include "support/Status.h"

namespace tenon::tests {

absl::StatusOr<Outputs> runRows(runtime::Executor& executor, size_t index,
                                const std::vector<int32_t>& ids, int32_t firstPosition) {
  const runtime::Function& function = executor.program().functions[index];
  std::vector<int32_t> sequences(function.inputs[1].bytes / sizeof(int32_t));
  std::vector<int32_t> positions(ids.size());
  std::iota(positions.begin(), positions.end(), firstPosition);
  std::vector<int32_t> lastRow = {static_cast<int32_t>(ids.size()) - 1};
  std::vector<std::span<const std::byte>> inputs = {
      std::as_bytes(std::span(ids)), std::as_bytes(std::span(sequences)),
      std::as_bytes(std::span(positions)), std::as_bytes(std::span(lastRow))};
  inputs.resize(function.inputs.size());
  Outputs outputs;
  for (const runtime::Port& port : function.outputs)
    outputs.emplace_back(port.bytes / sizeof(float));
  std::vector<std::span<std::byte>> views;
  for (std::vector<float>& output : outputs)
    views.push_back(std::as_writable_bytes(std::span(output)));
  TENON_RETURN_IF_ERROR(executor.run(index, inputs, views));
  return outputs;
}

double relativeDifference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, scale = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
      return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - b[i]));
    scale = std::max(scale, std::abs(static_cast<double>(b[i])));
  }
  return difference / scale;
}

} // namespace tenon::tests
