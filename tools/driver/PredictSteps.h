#ifndef TENON_TOOLS_DRIVER_PREDICTSTEPS_H
#define TENON_TOOLS_DRIVER_PREDICTSTEPS_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/CostModel.h"

namespace tenon::tools {

/// What the cost model alone, without measured points, says that each `tenon.kernel` of `function` of
/// a planned module takes, in ns, in the order of the program's steps. Decode attention is priced at
/// the whole cache, whatever the position. Nothing where the target lacks what the model needs.
/// NotFound where there is no such function.
absl::StatusOr<std::vector<int64_t>> predictSteps(mlir::ModuleOp planned,
                                                  const std::string& function, TargetAttr target,
                                                  passes::cost::LaunchMode mode);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_PREDICTSTEPS_H
