#include "tools/driver/PredictSteps.h"

#include "absl/strings/str_format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tenon::tools {

absl::StatusOr<std::vector<int64_t>> predictSteps(ModuleOp planned, const std::string& name,
                                                  TargetAttr target,
                                                  passes::cost::LaunchMode mode) {
  auto function = planned.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return absl::NotFoundError(absl::StrFormat("expects a function '%s' in the module", name));
  // A target without a property of the model can be measured all the same.
  ScopedDiagnosticHandler silence(planned.getContext(), [](Diagnostic&) { return success(); });
  auto model = passes::cost::CostModel::create(planned.getLoc(), target, mode);
  std::vector<int64_t> steps;
  if (succeeded(model))
    function.walk([&](KernelOp kernel) { steps.push_back(model->estimate(kernel).ns); });
  return steps;
}

} // namespace tenon::tools
