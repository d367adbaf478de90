#ifndef TENON_PASSES_SIMPLIFY_SIMPLIFY_H
#define TENON_PASSES_SIMPLIFY_SIMPLIFY_H

#include <memory>
#include <string>
#include <vector>

#include "mlir/IR/Location.h"
#include "mlir/Pass/Pass.h"

namespace tenon::passes {

/// An operation that was recognised where a graph had it in primitives, or a weight where it had
/// its transpose.
struct RaisedOperation {
  std::string function;
  std::string operation; ///< the name without its dialect, as `layer_norm`; of a weight
                         ///< `transposed_weight`
  mlir::Location location;
};

struct SimplifyOptions {
  std::vector<std::string> disabledRaises = {};   ///< by name (passes/simplify/raise/Raise.h)
  std::vector<RaisedOperation>* raised = nullptr; ///< if set, receives every one
};

/// The pass `tenon-simplify` with options that no text can hold.
std::unique_ptr<mlir::Pass> createSimplifyPass(const SimplifyOptions& options);

} // namespace tenon::passes

#endif // TENON_PASSES_SIMPLIFY_SIMPLIFY_H
