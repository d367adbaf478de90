#ifndef TENON_TOOLS_RUN_RUNGRAPH_H
#define TENON_TOOLS_RUN_RUNGRAPH_H

#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/Executor.h"
#include "tools/cli/FlagRules.h"

namespace tenon::tools {

/// One call of a function on arrays in files.
struct GraphRunOptions {
  std::string function; ///< empty: the only one that there is
  std::string inputs;   ///< .npz with one array an input, by name; may be empty for no inputs
  std::string output;   ///< .npz to write, one array a result, by name; `-`: standard output

  /// Whether a function is called, instead of text generated.
  bool isGiven() const { return !function.empty() || !output.empty(); }
};

/// Adds `--function` and `-o` to `command`; the inputs are the file that `addGenerateOptions` asks for.
void addGraphRunOptions(CLI::App& command, GraphRunOptions& options);

/// Denies to `rules` what `options` leave without use, and checks what they say, before anything is
/// loaded.
absl::Status readGraphRunOptions(const GraphRunOptions& options, FlagRules& rules);

/// Where the function `name` is in `program`; with an empty name, the only one. A usage error lists
/// those that there are.
absl::StatusOr<size_t> findFunction(const runtime::Program& program, const std::string& name);

/// Calls the function once, with states as after loading. Arrays have the port's shape and the
/// element type of its encoding: f32, f16 and i32 as NumPy has them, bf16 as uint16, block-
/// quantised ones as uint8 [bytes]. InvalidArgument names the array that is missing, that no
/// input is for, or of another type or shape than the function says, and, of a language model, the
/// token, sequence or position that it does not have.
absl::Status runGraph(runtime::Executor& executor, const GraphRunOptions& options);

} // namespace tenon::tools

#endif // TENON_TOOLS_RUN_RUNGRAPH_H
