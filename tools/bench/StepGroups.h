#ifndef TENON_TOOLS_BENCH_STEPGROUPS_H
#define TENON_TOOLS_BENCH_STEPGROUPS_H

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// The parts of a model that are timed by themselves.
///
///   attention   attention, softmax, products with a batch axis, rotary embedding, cache writes, and
///               the products of their inputs and outputs (by name: `attn`)
///   ffn         the other products of a layer, gated units, the choice of experts
///   norm        norms and residual sums in kernels of their own
///   other       embedding, head, choice of the token, what else there is
///
/// A kernel is of the first group that one of its operations is of; one with products of attention
/// and of the FFN is of `attention+ffn`.
///
/// By step of `function` in a planned module. NotFound where there is no such function.
absl::StatusOr<std::vector<std::string>> groupSteps(mlir::ModuleOp planned,
                                                    const std::string& function);

/// A function of the steps of one group.
struct GroupFunction {
  std::string group;
  size_t function = 0;       ///< in the program
  std::vector<size_t> steps; ///< of the function that was grouped
};

/// Adds to `program` a function for each group of the steps of `function`, with its ports and the
/// steps of the group in their order: run by itself, it takes the time of the group, on whatever
/// values lie in the workspace. `groups` by step.
std::vector<GroupFunction> addGroupFunctions(runtime::Program& program, size_t function,
                                             const std::vector<std::string>& groups);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_STEPGROUPS_H
