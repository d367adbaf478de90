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
inline Function makeModelFunction(Role role, int64_t rows, const ModelInfo& model,
                                  bool hasNextIds = false) {
  Function function;
  function.name = absl::StrFormat("%s_%d", roleName(role), rows);
  function.role = role;
  function.rows = rows;
  ModelPorts ports = modelPorts(role, rows, model);
  function.inputs = std::move(ports.inputs);
  function.outputs = {std::move(ports.logits)};
  if (hasNextIds)
    function.outputs.push_back(std::move(ports.nextIds));
  return function;
}

/// Decode that also says which of its rows are right guesses; with `drafts`, also what its own head
/// guesses, and what the next call's rows are.
inline Function makeGuessingFunction(int64_t rows, int64_t vocabulary, bool drafts) {
  ModelInfo model;
  model.vocabulary = vocabulary;
  model.sequences = 1;
  Function function = makeModelFunction(Role::Decode, rows, model, /*hasNextIds=*/true);
  ModelPorts ports = modelPorts(Role::Decode, rows, model);
  ports.guesses.resize(drafts ? ports.guesses.size() : 1);
  for (Port& port : ports.guesses)
    function.outputs.push_back(std::move(port));
  return function;
}

/// The same for a model of that vocabulary whose caches are not paged, and hold so many sequences.
inline Function makeModelFunction(Role role, int64_t rows, int64_t vocabulary,
                                  bool hasNextIds = false, int64_t sequences = 1) {
  ModelInfo model;
  model.vocabulary = vocabulary;
  model.sequences = sequences;
  return makeModelFunction(role, rows, model, hasNextIds);
}

inline Program makeModelProgram(std::vector<Function> functions, const ModelInfo& model) {
  Program program;
  program.functions = std::move(functions);
  program.model = model;
  return program;
}

} // namespace tenon::runtime

#endif // TENON_TESTS_RUNTIME_MODELPROGRAM_H
