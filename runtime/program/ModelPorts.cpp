#include "runtime/program/ModelPorts.h"

#include <algorithm>

namespace tenon::runtime {

/// A port of elements of 4 bytes.
static Port makePort(const char* name, const char* encoding, std::vector<int64_t> shape,
                     PortRole role) {
  uint64_t bytes = 4;
  for (int64_t extent : shape)
    bytes *= static_cast<uint64_t>(extent);
  return {name, encoding, std::move(shape), bytes, role};
}

const char* roleName(Role role) {
  switch (role) {
  case Role::Decode:
    return "decode";
  case Role::Prefill:
    return "prefill";
  case Role::Mixed:
    return "mixed";
  case Role::Other:
    return "other";
  }
  return "other";
}

ModelPorts modelPorts(Role role, int64_t rows, const ModelInfo& model) {
  const bool isPrefill = role == Role::Prefill;
  const bool isMixed = role == Role::Mixed;
  const int64_t logitsRows = isPrefill ? 1 : isMixed ? std::min(rows, model.sequences) : rows;
  ModelPorts ports{{makePort("ids", "i32", {rows}, PortRole::Ids),
                    makePort("sequences", "i32", {isPrefill ? 1 : rows}, PortRole::Sequences),
                    makePort("positions", "i32", {rows}, PortRole::Positions)},
                   makePort("logits", "f32", {logitsRows, model.vocabulary}, PortRole::Logits),
                   makePort("next_ids", "i32", {logitsRows}, PortRole::NextIds),
                   {}};
  if (role == Role::Decode)
    ports.guesses = {makePort("accepted_ids", "i32", {rows}, PortRole::AcceptedIds),
                     makePort("draft_ids", "i32", {rows}, PortRole::DraftIds),
                     makePort("step_ids", "i32", {rows}, PortRole::StepIds),
                     makePort("step_positions", "i32", {rows}, PortRole::StepPositions)};
  if (isPrefill || isMixed)
    ports.inputs.push_back(makePort("output_rows", "i32", {logitsRows}, PortRole::OutputRows));
  if (model.isPaged())
    ports.inputs.push_back(
        makePort("block_table", "i32", {model.sequences, model.blocks()}, PortRole::BlockTable));
  return ports;
}

std::optional<size_t> findPort(const std::vector<Port>& ports, PortRole role) {
  auto found = std::ranges::find(ports, role, &Port::role);
  return found == ports.end() ? std::nullopt : std::optional<size_t>(found - ports.begin());
}

bool holdsTheSame(const Port& a, const Port& b) {
  return a.encoding == b.encoding && a.shape == b.shape && a.bytes == b.bytes;
}

} // namespace tenon::runtime
