#ifndef TENON_TESTS_END_TO_END_MIXEDCALLS_H
#define TENON_TESTS_END_TO_END_MIXEDCALLS_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "runtime/ModelFunction.h"
#include "runtime/program/ModelPorts.h"
#include "support/Status.h"

namespace tenon::tests {

/// A call of a Mixed function of `mixedRows` rows over caches of `mixedSequences` sequences.
struct MixedCall {
  std::vector<runtime::TokenRow> rows = {}; ///< those of sequence -1 are idle
  std::vector<int32_t> outputRows = {};     ///< the last row of each sequence
};

inline constexpr int64_t mixedRows = 24, mixedSequences = 4;

/// Adds `count` rows of a sequence from a position on.
inline void addChunk(MixedCall& call, int32_t sequence, int32_t position, int32_t count) {
  for (int32_t row = 0; row < count; ++row) {
    const int32_t at = position + row;
    call.rows.push_back({3 + (97 * (sequence + 1) + at * at + 5 * at) % 499, sequence, at});
  }
  if (sequence >= 0)
    call.outputRows.push_back(static_cast<int32_t>(call.rows.size()) - 1);
}

/// Chunks that begin sequences, one that goes on, rows of decode before them, one after the other, and
/// idle rows between and after them, at positions that others have.
inline std::vector<MixedCall> raggedCalls() {
  std::vector<MixedCall> calls(3);
  addChunk(calls[0], 0, 0, 9);
  addChunk(calls[0], 2, 0, 7);
  addChunk(calls[1], 0, 9, 1);
  addChunk(calls[1], 2, 7, 1);
  addChunk(calls[1], 1, 0, 5);
  addChunk(calls[1], -1, 3, 1);
  addChunk(calls[1], 3, 0, 13);
  for (int32_t sequence : {0, 1, 2})
    addChunk(calls[2], sequence, std::vector{10, 5, 8}[static_cast<size_t>(sequence)], 1);
  addChunk(calls[2], 3, 13, 18);
  for (MixedCall& call : calls) {
    addChunk(call, -1, 2, static_cast<int32_t>(mixedRows) - static_cast<int32_t>(call.rows.size()));
    call.outputRows.resize(mixedSequences, call.outputRows.back());
  }
  return calls;
}

/// The logits of the call's output rows by function `index`; where caches are paged, sequence s has
/// the pages s · blocks to (s + 1) · blocks − 1.
inline absl::StatusOr<std::vector<float>> runMixed(runtime::Executor& executor, size_t index,
                                                   const MixedCall& call) {
  const runtime::Function& function = executor.program().functions[index];
  std::vector<std::vector<int32_t>> values;
  for (const runtime::Port& port : function.inputs) {
    std::vector<int32_t>& input = values.emplace_back(port.bytes / sizeof(int32_t));
    for (size_t i = 0; i < input.size(); ++i)
      input[i] = port.role == runtime::PortRole::BlockTable   ? static_cast<int32_t>(i)
                 : port.role == runtime::PortRole::OutputRows ? call.outputRows[i]
                 : port.role == runtime::PortRole::Ids        ? call.rows[i].id
                 : port.role == runtime::PortRole::Sequences  ? call.rows[i].sequence
                                                              : call.rows[i].position;
  }
  std::vector<std::span<const std::byte>> inputs;
  for (const std::vector<int32_t>& input : values)
    inputs.push_back(std::as_bytes(std::span(input)));
  std::vector<float> logits(function.outputs[0].bytes / sizeof(float));
  std::vector<std::span<std::byte>> outputs(function.outputs.size());
  outputs[0] = std::as_writable_bytes(std::span(logits));
  TENON_RETURN_IF_ERROR(executor.run(index, inputs, outputs));
  return logits;
}

} // namespace tenon::tests

#endif // TENON_TESTS_END_TO_END_MIXEDCALLS_H
