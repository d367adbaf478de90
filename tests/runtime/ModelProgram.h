#ifndef TENON_TESTS_RUNTIME_MODELPROGRAM_H
#define TENON_TESTS_RUNTIME_MODELPROGRAM_H

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/program/ModelPorts.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

/// A function without steps, with the ports of its role.
inline Function makeModelFunction(Role role, int64_t rows, int64_t vocabulary,
                                  bool hasNextIds = false) {
  const bool isPrefill = role == Role::Prefill;
  Function function;
  function.name = absl::StrFormat("%s_%d", isPrefill ? "prefill" : "decode", rows);
  function.role = role;
  function.rows = rows;
  ModelPorts ports = modelPorts(role, rows, vocabulary);
  function.inputs = std::move(ports.inputs);
  function.outputs = {std::move(ports.logits)};
  if (hasNextIds)
    function.outputs.push_back(std::move(ports.nextIds));
  return function;
}

inline Program makeModelProgram(std::vector<Function> functions, const ModelInfo& model) {
  Program program;
  program.functions = std::move(functions);
  program.model = model;
  return program;
}

} // namespace tenon::runtime

#endif // TENON_TESTS_RUNTIME_MODELPROGRAM_H
