#ifndef TENON_TOOLS_DRIVER_PREDICTCALL_H
#define TENON_TOOLS_DRIVER_PREDICTCALL_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/CostModel.h"

namespace tenon::tools {

/// What a call of a function takes by the cost model alone, without measured points.
struct PredictedCall {
  std::vector<int64_t> stepsNs; ///< in the program's order; empty where the target lacks a property
  int64_t beyondNs = 0;         ///< of the call beyond its steps

  /// ns of the whole call; 0 where it could not be predicted.
  int64_t totalNs() const;
};

/// Prices each `tenon.kernel` of `function` of a planned module, attention on the keys of positions
/// up to `newest` of its caches, or without one on full caches. NotFound where there is no such
/// function.
absl::StatusOr<PredictedCall> predictCall(mlir::ModuleOp planned, const std::string& function,
                                          TargetAttr target, passes::cost::LaunchMode mode,
                                          std::optional<int64_t> newest = std::nullopt);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_PREDICTCALL_H
