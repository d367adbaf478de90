#include "runtime/ModelFunction.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "runtime/program/ModelPorts.h"
#include "support/Status.h"

namespace tenon::runtime {
namespace {

/// Bounds on what is allocated for a function: more rows or tokens than any model has.
constexpr int64_t maxRows = int64_t(1) << 16;
constexpr int64_t maxLogits = int64_t(1) << 28;

std::string describe(const Port& port) {
  return absl::StrFormat("%s %s [%s] of %d bytes", port.name, port.encoding,
                         absl::StrJoin(port.shape, ", "), port.bytes);
}

/// The port of `expected`'s role must hold the same.
absl::Status checkPort(const Function& function, std::string_view direction,
                       const std::vector<Port>& ports, const Port& expected) {
  std::optional<size_t> found = findPort(ports, expected.role);
  if (found && holdsTheSame(ports[*found], expected))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat("function '%s': expects the %s %s, but got %s",
                                                    function.name, direction, describe(expected),
                                                    found ? describe(ports[*found]) : "none"));
}

absl::Status checkFunction(const Function& function, const ModelInfo& model) {
  const int64_t rows = function.rows, vocabulary = model.vocabulary;
  if (rows < 1 || rows > maxRows || vocabulary < 1 || vocabulary > maxLogits / rows)
    return absl::InvalidArgumentError(absl::StrFormat(
        "function '%s': expects from 1 to %d rows and at most %d logits, but got %d rows of %d",
        function.name, maxRows, maxLogits, rows, vocabulary));
  const ModelPorts ports = modelPorts(function.role, rows, model);
  for (const Port& port : ports.inputs)
    TENON_RETURN_IF_ERROR(checkPort(function, "input", function.inputs, port));
  if (function.inputs.size() != ports.inputs.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("function '%s': expects %d inputs, but got %d", function.name,
                        ports.inputs.size(), function.inputs.size()));
  TENON_RETURN_IF_ERROR(checkPort(function, "output", function.outputs, ports.logits));
  if (findPort(function.outputs, PortRole::NextIds))
    TENON_RETURN_IF_ERROR(checkPort(function, "output", function.outputs, ports.nextIds));
  for (const Port& port : ports.guesses)
    if (findPort(function.outputs, port.role))
      TENON_RETURN_IF_ERROR(checkPort(function, "output", function.outputs, port));
  return absl::OkStatus();
}

std::span<const std::byte> bytesOf(const std::vector<int32_t>& values) {
  return std::as_bytes(std::span(values));
}

/// The last row of each sequence, whose rows lie beside each other; row 0 where there are fewer
/// sequences than `outputRows`.
void findOutputRows(std::span<const TokenRow> tokens, std::span<int32_t> outputRows) {
  std::ranges::fill(outputRows, 0);
  size_t chunk = 0;
  for (size_t row = 0; row < tokens.size(); ++row) {
    if (row + 1 < tokens.size() && tokens[row + 1].sequence == tokens[row].sequence)
      continue;
    assert(chunk < outputRows.size() && "each sequence has one chunk");
    outputRows[chunk++] = int32_t(row);
  }
}

} // namespace

absl::StatusOr<ModelFunction> ModelFunction::create(Executor& executor, size_t index,
                                                    const std::vector<int32_t>& blockTable) {
  const Program& program = executor.program();
  TENON_RETURN_IF_ERROR(checkFunction(program.functions[index], *program.model));
  return ModelFunction(executor, index, blockTable);
}

ModelFunction::ModelFunction(Executor& executor, size_t index,
                             const std::vector<int32_t>& blockTable)
    : executor(&executor), blockTable(&blockTable), index(index),
      vocabulary(size_t(executor.program().model->vocabulary)) {
  const Function& function = executor.program().functions[index];
  const size_t rowCount = size_t(function.rows);
  isPrefill = function.role == Role::Prefill;
  ids.resize(rowCount);
  sequences.resize(isPrefill ? 1 : rowCount);
  positions.resize(rowCount);
  logitsPort = *findPort(function.outputs, PortRole::Logits);
  logitsRows = size_t(function.outputs[logitsPort].shape.front());
  outputRows.resize(function.role == Role::Decode ? 0 : logitsRows);
  for (PortRole role : {PortRole::NextIds, PortRole::AcceptedIds, PortRole::DraftIds})
    if (std::optional<size_t> port = findPort(function.outputs, role))
      tokenOutputs.push_back(
          {role, *port, std::vector<int32_t>(size_t(function.outputs[*port].shape.front()))});
}

std::span<const int32_t> ModelFunction::tokensOf(PortRole role) const {
  auto found = std::ranges::find(tokenOutputs, role, &TokenOutput::role);
  return found == tokenOutputs.end() ? std::span<const int32_t>() : found->values;
}

const std::vector<int32_t>& ModelFunction::valuesOf(PortRole role) const {
  switch (role) {
  case PortRole::Ids:
    return ids;
  case PortRole::Sequences:
    return sequences;
  case PortRole::Positions:
    return positions;
  case PortRole::BlockTable:
    return *blockTable;
  default:
    return outputRows;
  }
}

void ModelFunction::take(std::span<const TokenRow> tokens) {
  std::fill(ids.begin(), ids.end(), 0);
  std::fill(sequences.begin(), sequences.end(), 0);
  std::fill(positions.begin(), positions.end(), -1);
  for (size_t row = 0; row < tokens.size(); ++row) {
    ids[row] = tokens[row].id;
    sequences[isPrefill ? 0 : row] = tokens[row].sequence;
    positions[row] = tokens[row].position;
  }
  if (!outputRows.empty())
    findOutputRows(tokens, outputRows);
}

absl::Status ModelFunction::run(std::span<const TokenRow> tokens, bool wantsLogits) {
  take(tokens);
  const Function& function = executor->program().functions[index];
  std::vector<std::span<const std::byte>> inputs;
  for (const Port& port : function.inputs)
    inputs.push_back(bytesOf(valuesOf(port.role)));
  std::vector<std::span<std::byte>> outputs(function.outputs.size()); // none but those of a role
  if (wantsLogits || !hasNextIds()) {
    allLogits.resize(logitsRows * vocabulary);
    outputs[logitsPort] = std::as_writable_bytes(std::span(allLogits));
  }
  for (TokenOutput& output : tokenOutputs)
    outputs[output.port] = std::as_writable_bytes(std::span(output.values));
  return executor->run(index, inputs, outputs);
}

std::span<const float> ModelFunction::logits(size_t row) const {
  return std::span<const float>(allLogits).subspan(row * vocabulary, vocabulary);
}

absl::StatusOr<std::unique_ptr<TokenStream>> ModelFunction::stream(std::span<const TokenRow> tokens,
                                                                   int64_t steps) {
  take(tokens);
  return executor->streamTokens(index, {ids, sequences, positions, *blockTable}, steps);
}

} // namespace tenon::runtime
