#ifndef TENON_PASSES_QUANTIZE_PRICEOPERATION_H
#define TENON_PASSES_QUANTIZE_PRICEOPERATION_H

#include "passes/cost/CostModel.h"
#include "passes/schedule/Scheduler.h"

namespace tenon::passes {

/// Prices operations that do not stand in the module.
struct OperationPricer {
  using BuildOp = llvm::function_ref<mlir::Operation*(mlir::OpBuilder&, mlir::ValueRange)>;

  /// The predicted time in ns of a kernel of the one operation that `build` makes of operands of
  /// these types; nullopt where no emitter computes it.
  std::optional<int64_t> price(mlir::Location location, mlir::TypeRange operands, mlir::Type result,
                               BuildOp build) const;
  /// The same of `op` with factors of other types.
  std::optional<int64_t> priceMatmul(MatmulOp op, mlir::Type input, mlir::Type weight) const;

  const schedule::Scheduler& scheduler;
  const cost::CostModel& model;
};

} // namespace tenon::passes

#endif // TENON_PASSES_QUANTIZE_PRICEOPERATION_H
