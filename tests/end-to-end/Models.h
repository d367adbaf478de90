#ifndef TENON_TESTS_END_TO_END_MODELS_H
#define TENON_TESTS_END_TO_END_MODELS_H

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/Executor.h"
#include "tools/common/ModelInput.h"

namespace tenon::tests {

/// A model on the CPU and on the interpreter.
struct Model {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<runtime::Executor> cpu;
  std::unique_ptr<runtime::Executor> reference;
};

/// Reads the model and makes both executors; the CPU's compiles for this machine.
absl::StatusOr<Model> loadModel(const tools::ModelInputOptions& options);

/// The outputs of a call, by port, all of f32.
using Outputs = std::vector<std::vector<float>>;

/// Calls function `index` with `ids` at the positions from `firstPosition` on; the last row's
/// logits where the function selects one.
absl::StatusOr<Outputs> runRows(runtime::Executor& executor, size_t index,
                                const std::vector<int32_t>& ids, int32_t firstPosition);

/// max |a − b| / max |b|; infinity where a value is not finite.
double relativeDifference(const std::vector<float>& a, const std::vector<float>& b);

} // namespace tenon::tests

#endif // TENON_TESTS_END_TO_END_MODELS_H
