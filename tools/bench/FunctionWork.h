#ifndef TENON_TOOLS_BENCH_FUNCTIONWORK_H
#define TENON_TOOLS_BENCH_FUNCTIONWORK_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"

namespace tenon::tools {

/// What one step of a function has to do, as its operations state it.
struct StepWork {
  int64_t flops = 0;       ///< a fused multiply-add counts two
  int64_t weightBytes = 0; ///< read of weights and constants
  int64_t otherBytes = 0;  ///< read and written of everything else, each argument once

  int64_t bytes() const { return weightBytes + otherBytes; }
};

/// The work of each `tenon.kernel` of `function` of a planned module, in the order of the program's
/// steps. Attention reads the keys of positions up to `position`, not the whole cache; flops of
/// attention are scaled alike. NotFound where there is no such function.
absl::StatusOr<std::vector<StepWork>> computeWork(mlir::ModuleOp module,
                                                  const std::string& function, int64_t position);

} // namespace tenon::tools

#endif // TENON_TOOLS_BENCH_FUNCTIONWORK_H
