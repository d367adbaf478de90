#include "tools/driver/PredictCall.h"

#include <numeric>

#include "absl/strings/str_format.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tenon::tools {

int64_t PredictedCall::totalNs() const {
  return std::reduce(stepsNs.begin(), stepsNs.end(), beyondNs);
}

absl::StatusOr<PredictedCall> predictCall(ModuleOp planned, const std::string& name,
                                          TargetAttr target, passes::cost::LaunchMode mode,
                                          std::optional<int64_t> newest) {
  auto function = planned.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return absl::NotFoundError(absl::StrFormat("expects a function '%s' in the module", name));
  // A target without a property of the model can be measured all the same.
  ScopedDiagnosticHandler silence(planned.getContext(), [](Diagnostic&) { return success(); });
  auto model =
      passes::cost::CostModel::create(planned.getLoc(), target, mode, /*times=*/nullptr, newest);
  PredictedCall call;
  if (failed(model))
    return call;
  function.walk([&](KernelOp kernel) { call.stepsNs.push_back(model->estimate(kernel).ns); });
  call.beyondNs = model->beyondKernelsNs();
  return call;
}

} // namespace tenon::tools
