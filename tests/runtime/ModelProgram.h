#ifndef TENON_TESTS_RUNTIME_MODELPROGRAM_H
#define TENON_TESTS_RUNTIME_MODELPROGRAM_H

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

/// A port of 4-byte elements.
inline Port makePort(std::string name, std::string encoding, std::vector<int64_t> shape) {
  uint64_t bytes = 4;
  for (int64_t length : shape)
    bytes *= uint64_t(length);
  return {std::move(name), std::move(encoding), std::move(shape), bytes};
}

/// A function without steps, with the ports of its role.
inline Function makeModelFunction(Role role, int64_t rows, int64_t vocabulary,
                                  bool hasNextIds = false) {
  const bool isPrefill = role == Role::Prefill;
  Function function;
  function.name = absl::StrFormat("%s_%d", isPrefill ? "prefill" : "decode", rows);
  function.role = role;
  function.rows = rows;
  function.inputs = {makePort("ids", "i32", {rows}),
                     makePort("sequences", "i32", {isPrefill ? 1 : rows}),
                     makePort("positions", "i32", {rows})};
  if (isPrefill)
    function.inputs.push_back(makePort("output_rows", "i32", {1}));
  function.outputs = {makePort("logits", "f32", {isPrefill ? 1 : rows, vocabulary})};
  if (hasNextIds)
    function.outputs.push_back(makePort("next_ids", "i32", {isPrefill ? 1 : rows}));
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
