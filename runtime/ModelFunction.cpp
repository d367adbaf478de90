#include "runtime/ModelFunction.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"

#include "support/Status.h"

namespace tenon::runtime {
namespace {

/// Bounds on what is allocated for a function: more rows or tokens than any model has.
constexpr int64_t maxRows = int64_t(1) << 16;
constexpr int64_t maxLogits = int64_t(1) << 28;

struct ExpectedPort {
  std::string_view name;
  std::string_view encoding;
  std::vector<int64_t> shape;
};

std::string describe(std::string_view name, std::string_view encoding,
                     const std::vector<int64_t>& shape) {
  std::string text = absl::StrFormat("%s %s [", name, encoding);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    text += absl::StrFormat("%s%d", axis == 0 ? "" : ", ", shape[axis]);
  return text + "]";
}

absl::Status checkPorts(const Function& function, std::string_view direction,
                        const std::vector<Port>& ports, const std::vector<ExpectedPort>& expected) {
  if (ports.size() != expected.size())
    return absl::InvalidArgumentError(absl::StrFormat("function '%s': expects %d %ss, but got %d",
                                                      function.name, expected.size(), direction,
                                                      ports.size()));
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    int64_t elements = 1;
    for (int64_t length : expected[i].shape)
      elements *= length;
    const uint64_t bytes = uint64_t(elements) * 4;
    if (port.name != expected[i].name || port.encoding != expected[i].encoding ||
        port.shape != expected[i].shape || port.bytes != bytes)
      return absl::InvalidArgumentError(absl::StrFormat(
          "function '%s': expects %s %d to be %s of %d bytes, but got %s of %d bytes",
          function.name, direction, i,
          describe(expected[i].name, expected[i].encoding, expected[i].shape), bytes,
          describe(port.name, port.encoding, port.shape), port.bytes));
  }
  return absl::OkStatus();
}

absl::Status checkFunction(const Function& function, int64_t vocabulary) {
  const int64_t rows = function.rows;
  if (rows < 1 || rows > maxRows || vocabulary < 1 || vocabulary > maxLogits / rows)
    return absl::InvalidArgumentError(absl::StrFormat(
        "function '%s': expects from 1 to %d rows and at most %d logits, but got %d rows of %d",
        function.name, maxRows, maxLogits, rows, vocabulary));
  const bool isPrefill = function.role == Role::Prefill;
  std::vector<ExpectedPort> inputs = {{"ids", "i32", {rows}},
                                      {"sequences", "i32", {isPrefill ? 1 : rows}},
                                      {"positions", "i32", {rows}}};
  if (isPrefill)
    inputs.push_back({"output_rows", "i32", {1}});
  TENON_RETURN_IF_ERROR(checkPorts(function, "input", function.inputs, inputs));
  const int64_t logitsRows = isPrefill ? 1 : rows;
  std::vector<ExpectedPort> outputs = {{"logits", "f32", {logitsRows, vocabulary}}};
  if (function.outputs.size() > 1)
    outputs.push_back({"next_ids", "i32", {logitsRows}});
  return checkPorts(function, "output", function.outputs, outputs);
}

std::span<const std::byte> bytesOf(const std::vector<int32_t>& values) {
  return std::as_bytes(std::span(values));
}

} // namespace

absl::StatusOr<ModelFunction> ModelFunction::create(Executor& executor, size_t index,
                                                    int64_t vocabulary) {
  TENON_RETURN_IF_ERROR(checkFunction(executor.program().functions[index], vocabulary));
  return ModelFunction(executor, index, vocabulary);
}

ModelFunction::ModelFunction(Executor& executor, size_t index, int64_t vocabulary)
    : executor(&executor), index(index), vocabulary(size_t(vocabulary)) {
  const Function& function = executor.program().functions[index];
  const size_t rowCount = size_t(function.rows);
  isPrefill = function.role == Role::Prefill;
  ids.resize(rowCount);
  sequences.resize(isPrefill ? 1 : rowCount);
  positions.resize(rowCount);
  outputRow.resize(isPrefill ? 1 : 0);
  if (function.outputs.size() > 1)
    chosenIds.resize(isPrefill ? 1 : rowCount);
}

absl::Status ModelFunction::run(std::span<const TokenRow> tokens, bool wantsLogits) {
  std::fill(ids.begin(), ids.end(), 0);
  std::fill(sequences.begin(), sequences.end(), 0);
  std::fill(positions.begin(), positions.end(), -1);
  for (size_t row = 0; row < tokens.size(); ++row) {
    ids[row] = tokens[row].id;
    sequences[isPrefill ? 0 : row] = tokens[row].sequence;
    positions[row] = tokens[row].position;
  }
  std::vector<std::span<const std::byte>> inputs = {bytesOf(ids), bytesOf(sequences),
                                                    bytesOf(positions)};
  if (isPrefill) {
    outputRow[0] = int32_t(tokens.size()) - 1;
    inputs.push_back(bytesOf(outputRow));
  }
  std::vector<std::span<std::byte>> outputs(1);
  if (wantsLogits || !hasNextIds()) {
    allLogits.resize((isPrefill ? 1 : ids.size()) * vocabulary);
    outputs[0] = std::as_writable_bytes(std::span(allLogits));
  }
  if (hasNextIds())
    outputs.push_back(std::as_writable_bytes(std::span(chosenIds)));
  return executor->run(index, inputs, outputs);
}

std::span<const float> ModelFunction::logits(size_t row) const {
  return std::span<const float>(allLogits).subspan(row * vocabulary, vocabulary);
}

absl::StatusOr<std::unique_ptr<TokenStream>> ModelFunction::stream(const TokenRow& token,
                                                                   int64_t steps) {
  return executor->streamTokens(index, {&token.id, 1}, {&token.sequence, 1}, {&token.position, 1},
                                steps);
}

} // namespace tenon::runtime
