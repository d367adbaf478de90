#ifndef TENON_TOOLS_COMMON_RUNGRAPH_H
#define TENON_TOOLS_COMMON_RUNGRAPH_H

#include <string>

#include "absl/status/status.h"
#include "runtime/Executor.h"

namespace tenon::tools {

/// One call of a function on arrays in files.
struct GraphRunOptions {
  std::string function; ///< empty: the only one that there is
  std::string inputs;   ///< .npz with one array an input, by name; may be empty for no inputs
  std::string outputs;  ///< .npz to write, one array a result, by name; `-`: standard output
};

/// Refuses results without a file, and a file for them that is the inputs'.
absl::Status checkGraphRun(const GraphRunOptions& options);

/// Calls the function once, with states as after loading. Arrays have the port's shape and the
/// element type of its encoding: f32, f16 and i32 as NumPy has them, bf16 as uint16, block-
/// quantised ones as uint8 [bytes]. InvalidArgument names the array that is missing, that no
/// input is for, or of another type or shape than the function says, and, of a language model, the
/// token, sequence or position that it does not have.
absl::Status runGraph(runtime::Executor& executor, const GraphRunOptions& options);

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_RUNGRAPH_H
