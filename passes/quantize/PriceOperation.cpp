#include "passes/quantize/PriceOperation.h"

#include "mlir/IR/OwningOpRef.h"

using namespace mlir;

namespace tenon::passes {

std::optional<int64_t> OperationPricer::price(Location location, TypeRange operands, Type result,
                                              BuildOp build) const {
  OpBuilder builder(location.getContext());
  OwningOpRef<KernelOp> kernel = KernelOp::create(builder, location, result, ValueRange());
  for (Type type : operands)
    kernel->getBlock().addArgument(type, location);
  builder.setInsertionPointToEnd(&kernel->getBlock());
  Operation* op = build(builder, kernel->getBlock().getArguments());
  YieldOp::create(builder, location, op->getResults());
  ScheduleAttr schedule = scheduler.best(*kernel);
  if (!schedule)
    return std::nullopt;
  kernel->setScheduleAttr(schedule);
  return model.estimate(*kernel).ns;
}

std::optional<int64_t> OperationPricer::priceMatmul(MatmulOp op, Type input, Type weight) const {
  return price(op.getLoc(), {input, weight}, op.getType(),
               [&](OpBuilder& builder, ValueRange operands) {
                 return MatmulOp::create(builder, op.getLoc(), op.getType(), operands[0],
                                         operands[1], OrderAttr());
               });
}

} // namespace tenon::passes
