#ifndef TENON_TOOLS_DRIVER_REFERENCEEXECUTOR_H
#define TENON_TOOLS_DRIVER_REFERENCEEXECUTOR_H

#include <memory>

#include "absl/status/statusor.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/Executor.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// Runs a module by the reference interpreter after the interface of a device, so that whatever
/// drives a device can drive the reference.
class ReferenceExecutor final : public runtime::Executor {
public:
  /// `module`, of any phase, must outlive the executor. Fails as `Interpreter::create` and
  /// `describeModel` do.
  static absl::StatusOr<std::unique_ptr<ReferenceExecutor>> create(mlir::ModuleOp module);

  const runtime::Program& program() const override { return description; }
  absl::Status run(size_t function, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) override;
  absl::Status resetStates() override;

private:
  ReferenceExecutor(mlir::ModuleOp module, runtime::Program description,
                    std::unique_ptr<Interpreter> interpreter);

  mlir::ModuleOp module;
  runtime::Program description;
  std::unique_ptr<Interpreter> interpreter;
};

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_REFERENCEEXECUTOR_H
